/* A run that was made is taken into the tree: see tree.h. It is walked along the path of nodes that
 * it was to follow, and makes new ones after those. */
#include "base/memory.h"
#include "explore/tree_parts.h"
#include "run/store_state.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- taking a run ----------------------------------------------------------------------------- */

static enum error_code read_entries(struct tree *tree, const char *folder, struct error *error)
{
    for (int i = 0;; i++) {
        char path[PATH_MAX];
        size_t room = 0;
        snprintf(path, sizeof path, "%s/%s.%d", folder, TRANSITION_FILE, i);
        if (access(path, F_OK) != 0)
            return i > 0 ? OK
                         : error_set(error, ERROR_LAUNCH, "%s: the run wrote down no transitions",
                                     folder);
        if (i == MOST_INCARNATIONS)
            return error_set(error, ERROR_LIMIT, "a run has more than %d incarnations", i);
        FILE *file = tree_file(folder, TRANSITION_FILE, i, "re", error);
        if (file == NULL)
            return ERROR_IO;
        struct entry entry;
        tree->entry[i] = NULL;
        tree->entries[i] = 0;
        tree->incarnations = i + 1;
        while (fread(&entry, sizeof entry, 1, file) == 1) {
            if (entry.kind == ENTRY_POLLS)
                continue;
            tree->entry[i] = memory_room(tree->entry[i], tree->entries[i], &room, sizeof entry);
            tree->entry[i][tree->entries[i]++] = entry;
        }
        fclose(file);
    }
}

static bool deed_conflicts(const struct deed *deed, const struct step *step)
{
    for (size_t i = 0; i < deed->count; i++)
        for (size_t k = 0; k < step->touches; k++)
            if (deed->touch[i].value == step->touch[k].value &&
                touches_may_conflict((enum touch)deed->touch[i].flag,
                                     (enum touch)step->touch[k].flag))
                return true;
    return false;
}

/* Where the run is while it is walked along. */
struct walk {
    struct tree *tree;
    int incarnation;
    bool closed;   /* the incarnation is explored elsewhere */
    uint64_t last; /* the process that ran last, + 1 */
    uint32_t preempted;
    size_t at;           /* node */
    uint32_t turns;      /* in the incarnation */
    struct step *step;   /* its transitions; owned */
    size_t *node_of;     /* of each: its node; owned */
    struct deeds asleep; /* now */
};

static enum error_code strayed(const struct walk *walk, struct error *error)
{
    return error_set(error, ERROR_FORMAT,
                     "the program is not deterministic: with the same decisions it did something "
                     "else at turn %u of incarnation %d",
                     walk->turns, walk->incarnation);
}

static bool same_turn(const struct node *node, const struct entry *turn)
{
    if (node->turn == NOT_A_TURN || node->count != turn->extra ||
        node->actor[node->chosen] != turn->value)
        return false;
    for (uint32_t i = 0; i < turn->extra; i++)
        if (turn[1 + i].value != node->actor[i])
            return false;
    return true;
}

static struct node *new_node(const struct walk *walk)
{
    struct tree *tree = walk->tree;
    tree->node = memory_room(tree->node, tree->count, &tree->room, sizeof *tree->node);
    struct node *node = &tree->node[tree->count++];
    *node =
        (struct node){.incarnation = walk->incarnation, .closed = walk->closed, .turn = NOT_A_TURN};
    return node;
}

/* A turn for this actor takes it from the process that ran last and could go on. */
static bool preempts(const struct node *node, uint64_t actor)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->actor[i] + 1 == node->last)
            return actor != node->actor[i];
    return false;
}

/* Without the reduction all are wanted, but for those that the limit leaves out. */
static void want_in_all_orders(struct tree *tree, struct node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        uint32_t preempted = node->preempted + preempts(node, node->actor[i]);
        bool too_many = tree->limits.preempts && preempted > tree->limits.preemptions;
        node->branch[i] = too_many ? BRANCH_NO : BRANCH_WANTED;
        tree->counts.left_out += too_many;
    }
}

static void make_turn(struct walk *walk, const struct entry *turn)
{
    struct node *node = new_node(walk);
    node->kind = DECIDE_NEXT;
    node->turn = walk->turns;
    node->count = turn->extra;
    node->actor = memory_new(turn->extra, sizeof *node->actor);
    node->branch = memory_new(turn->extra, sizeof *node->branch);
    node->last = walk->last;
    node->preempted = walk->preempted;
    for (uint32_t i = 0; i < turn->extra; i++) {
        node->actor[i] = turn[1 + i].value;
        if (node->actor[i] == turn->value)
            node->chosen = i;
    }
    if (!walk->tree->limits.reduce && !walk->closed)
        want_in_all_orders(walk->tree, node);
    node->branch[node->chosen] = BRANCH_WANTED;
    for (size_t i = 0; walk->tree->limits.reduce && i < walk->asleep.count; i++)
        deed_copy(&node->asleep, &walk->asleep.deed[i]);
}

static void make_decision(struct walk *walk, const struct entry *decision)
{
    struct node *node = new_node(walk);
    node->kind = (enum decision)decision->flag;
    node->count = decision->extra;
    node->chosen = (uint32_t)decision->value;
}

/* After the transition: who sleeps goes on sleeping where it commutes with it. */
static void move_on(struct walk *walk, size_t at, const struct step *step)
{
    struct deeds still = {0};
    const struct node *node = &walk->tree->node[at];
    for (size_t i = 0; i < node->asleep.count; i++)
        if (!deed_conflicts(&node->asleep.deed[i], step))
            deed_copy(&still, &node->asleep.deed[i]);
    for (size_t i = 0; i < node->done.count; i++)
        if (node->done.deed[i].actor != step->actor && !deed_conflicts(&node->done.deed[i], step))
            deed_copy(&still, &node->done.deed[i]);
    deeds_release(&walk->asleep);
    walk->asleep = still;
}

static enum error_code take_turn(struct walk *walk, const struct entry *turn, struct error *error)
{
    struct tree *tree = walk->tree;
    if (walk->at < tree->count && !same_turn(&tree->node[walk->at], turn))
        return strayed(walk, error);
    if (walk->at == tree->count)
        make_turn(walk, turn);
    walk->preempted += preempts(&tree->node[walk->at], turn->value);
    if (transition_is_process(turn->value))
        walk->last = turn->value + 1;
    walk->node_of[walk->turns++] = walk->at++;
    return OK;
}

static enum error_code take_decision(struct walk *walk, const struct entry *decision,
                                     struct error *error)
{
    const struct tree *tree = walk->tree;
    if (walk->at == tree->count)
        make_decision(walk, decision);
    const struct node *node = &tree->node[walk->at++];
    bool same = node->turn == NOT_A_TURN && node->kind == decision->flag &&
                node->count == decision->extra && node->chosen == decision->value;
    return same ? OK : strayed(walk, error);
}

/* The transition that begins at the entry, to its end; *next: the entry after it. */
static enum error_code take_transition(struct walk *walk, size_t *next, struct error *error)
{
    const struct entry *entry = walk->tree->entry[walk->incarnation];
    size_t count = walk->tree->entries[walk->incarnation], at = walk->at, i = *next;
    enum error_code code = take_turn(walk, &entry[i], error);
    for (i += 1 + entry[i].extra; code == OK && i < count && entry[i].kind != ENTRY_TURN; i++) {
        if (entry[i].kind == ENTRY_ASLEEP)
            walk->tree->redundant = true;
        else if (entry[i].kind == ENTRY_DECIDE)
            code = take_decision(walk, &entry[i], error);
    }
    *next = i;
    if (code != OK)
        return code;
    const struct step *step = &walk->step[walk->turns - 1];
    struct deed *deed = deed_make(&walk->tree->node[at].done, step->actor);
    for (size_t t = 0; t < step->touches; t++)
        deed_add(deed, &step->touch[t]);
    move_on(walk, at, step);
    return OK;
}

/* --- races ------------------------------------------------------------------------------------ */

/* NULL: the actor could not have been chosen there. */
static enum branch *branch_of(const struct node *node, uint64_t actor)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->actor[i] == actor)
            return &node->branch[i];
    return NULL;
}

static void want_all(struct node *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->branch[i] == BRANCH_NO)
            node->branch[i] = BRANCH_WANTED;
}

/* What ends the job cuts off what others would have done, so that no race is seen with it: they are
 * let go before it. */
static void let_others_before_ends(struct walk *walk)
{
    uint64_t job = object_name(OBJECT_JOB, 0, 0, 0);
    for (size_t i = 0; i < walk->turns; i++)
        for (size_t t = 0; t < walk->step[i].touches; t++)
            if (walk->step[i].touch[t].value == job && walk->step[i].touch[t].flag == TOUCH_WRITE)
                want_all(&walk->tree->node[walk->node_of[i]]);
}

/* Sees to it that a run is made in which `later` comes before `earlier`. Such a run begins, at the
 * node of `earlier`, with a transition between the two that need not come after `earlier` and has
 * no other such one before it. Where one of these is already wanted there, nothing is added. */
static void exchange(struct walk *walk, const struct races *races, size_t earlier, size_t later)
{
    struct node *node = &walk->tree->node[walk->node_of[earlier]];
    size_t *free_ones = memory_new(later - earlier + 1, sizeof *free_ones), count = 0;
    enum branch *begins = NULL;
    bool wanted = false;
    for (size_t k = earlier + 1; k <= later && !wanted; k++) {
        bool first = true;
        if (k != later && races_before(races, earlier, k))
            continue;
        for (size_t i = 0; i < count && first; i++)
            first = !races_before(races, free_ones[i], k);
        free_ones[count++] = k;
        enum branch *branch = first ? branch_of(node, walk->step[k].actor) : NULL;
        if (branch != NULL && (begins == NULL || k == later))
            begins = branch;
        wanted = branch != NULL && *branch != BRANCH_NO;
    }
    if (!wanted && begins != NULL)
        *begins = BRANCH_WANTED;
    else if (!wanted)
        want_all(node);
    free(free_ones);
}

static void exchange_all(struct walk *walk)
{
    struct races *races = races_find(walk->step, walk->turns);
    for (size_t later = 0; later < walk->turns; later++) {
        const size_t *with;
        size_t count = races_with(races, later, &with);
        walk->tree->counts.races += count;
        for (size_t i = 0; i < count; i++)
            exchange(walk, races, with[i], later);
    }
    races_release(races);
}

/* --- the whole run ---------------------------------------------------------------------------- */

/* Which transition touched what the entry says, `now` being the newest. */
static size_t toucher(const struct entry *entry, size_t now)
{
    return entry->extra > 0 && entry->extra <= now ? entry->extra - 1 : now - 1;
}

/* The transitions of the incarnation, each with its touches one after the other: where they were
 * written down decisions stand between them, and some follow later. The touches are the caller's.
 */
static struct entry *split(struct walk *walk)
{
    const struct entry *entry = walk->tree->entry[walk->incarnation];
    size_t count = walk->tree->entries[walk->incarnation], used = 0, steps = 0, now = 0;
    struct entry *touch = memory_new(count + 1, sizeof *touch);
    walk->step = memory_resized(walk->step, count + 1, sizeof *walk->step);
    walk->node_of = memory_resized(walk->node_of, count + 1, sizeof *walk->node_of);
    for (size_t i = 0; i < count; i++) {
        if (entry[i].kind == ENTRY_TURN)
            walk->step[steps++] = (struct step){.actor = entry[i].value};
        else if (entry[i].kind == ENTRY_TOUCH && steps > 0)
            walk->step[toucher(&entry[i], steps)].touches++;
    }
    for (size_t i = 0; i < steps; i++) {
        walk->step[i].touch = touch + used;
        used += walk->step[i].touches;
        walk->step[i].touches = 0;
    }
    for (size_t i = 0; i < count; i++) {
        now += entry[i].kind == ENTRY_TURN;
        if (entry[i].kind != ENTRY_TOUCH || now == 0)
            continue;
        struct step *step = &walk->step[toucher(&entry[i], now)];
        ((struct entry *)(uintptr_t)step->touch)[step->touches++] = entry[i];
    }
    return touch;
}

static bool is_known(const struct store_states *states, uint64_t state)
{
    for (size_t i = 0; i < states->count; i++)
        if (states->state[i] == state)
            return true;
    return false;
}

/* What a life does that begins after all of the plan depends on the store alone: it is explored
 * where a store is seen first, and made once everywhere else. */
static bool is_explored_elsewhere(struct walk *walk, const char *folder)
{
    struct tree *tree = walk->tree;
    struct store_states *states = tree->limits.states;
    uint64_t state;
    if (walk->at < tree->count)
        return tree->node[walk->at].closed;
    if (walk->incarnation == 0 || states == NULL)
        return false;
    FILE *file = tree_file(folder, STORE_STATE_FILE, walk->incarnation, "re", &(struct error){0});
    bool is_read = file != NULL && fscanf(file, "%" SCNx64, &state) == 1;
    if (file != NULL)
        fclose(file);
    if (!is_read)
        return false;
    if (is_known(states, state)) {
        tree->counts.known++;
        return true;
    }
    states->state = memory_room(states->state, states->count, &states->room, sizeof *states->state);
    states->state[states->count++] = state;
    return false;
}

static enum error_code take_incarnation(struct walk *walk, const char *folder, struct error *error)
{
    struct tree *tree = walk->tree;
    size_t next = 0;
    enum error_code code = OK;
    struct entry *touch = split(walk);
    walk->turns = 0;
    walk->last = 0;
    walk->closed = is_explored_elsewhere(walk, folder);
    while (code == OK && next < tree->entries[walk->incarnation])
        code = take_transition(walk, &next, error);
    if (code == OK && tree->limits.reduce && !walk->closed) {
        let_others_before_ends(walk);
        exchange_all(walk);
    }
    free(touch);
    return code;
}

static void release_walk(struct walk *walk)
{
    free(walk->step);
    free(walk->node_of);
    deeds_release(&walk->asleep);
}

enum error_code tree_take(struct tree *tree, const char *folder, struct error *error)
{
    struct walk walk = {.tree = tree};
    uint64_t turns = 0;
    tree->redundant = false;
    tree_forget_run(tree);
    enum error_code code = read_entries(tree, folder, error);
    /* What was cut short says nothing of the lives after it: they are of another run. */
    for (int i = 0; code == OK && i < tree->incarnations && !tree->redundant; i++) {
        walk.incarnation = i;
        deeds_release(&walk.asleep);
        walk.asleep = (struct deeds){0};
        code = take_incarnation(&walk, folder, error);
        turns += walk.turns;
    }
    if (code == OK && walk.at < tree->count)
        code = strayed(&walk, error);
    release_walk(&walk);
    if (code != OK)
        return code;
    tree->asked = false;
    tree->counts.runs++;
    tree->counts.redundant += tree->redundant;
    tree->counts.turns = turns > tree->counts.turns ? turns : tree->counts.turns;
    return OK;
}

bool tree_was_redundant(const struct tree *tree)
{
    return tree->redundant;
}
