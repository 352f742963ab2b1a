/* See tree.h. The path of nodes from the root is the newest run: each is a choice of who is next,
 * or a decision inside a transition. */
#include "explore/tree.h"

#include "base/memory.h"
#include "engine/core/core.h"
#include "engine/zygote/zygote.h"
#include "explore/races.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_INCARNATIONS 64
#define NOT_A_TURN UINT32_MAX

/* What an actor's next transition touches, as far as it is known. */
struct deed {
    uint64_t actor;
    size_t count, room;
    struct entry *touch; /* owned */
};

struct deeds {
    size_t count, room;
    struct deed *deed; /* owned */
};

enum branch { BRANCH_NO, BRANCH_WANTED, BRANCH_DONE };

struct node {
    int incarnation;
    enum decision kind;
    uint32_t turn;   /* of DECIDE_NEXT: turns before it in the incarnation; else NOT_A_TURN */
    uint32_t count;  /* possibilities */
    uint32_t chosen; /* of them, in the newest run */
    /* Of DECIDE_NEXT: */
    uint64_t *actor;     /* of each possibility; owned */
    enum branch *branch; /* of each; owned */
    struct deeds done;   /* of those that are done here, and of the chosen one as it is known */
    struct deeds asleep; /* when the run came here */
};

struct tree {
    bool reduce;
    size_t count, room;
    struct node *node;
    bool over, redundant;
    struct tree_counts counts;
    int incarnations;                       /* of the newest run */
    struct entry *entry[MOST_INCARNATIONS]; /* owned */
    size_t entries[MOST_INCARNATIONS];
};

/* --- deeds ------------------------------------------------------------------------------------ */

static struct deed *deed_of(const struct deeds *deeds, uint64_t actor)
{
    for (size_t i = 0; i < deeds->count; i++)
        if (deeds->deed[i].actor == actor)
            return &deeds->deed[i];
    return NULL;
}

static void add_touch(struct deed *deed, const struct entry *touch)
{
    for (size_t i = 0; i < deed->count; i++)
        if (deed->touch[i].value == touch->value && deed->touch[i].flag == touch->flag)
            return;
    deed->touch = memory_room(deed->touch, deed->count, &deed->room, sizeof *deed->touch);
    deed->touch[deed->count++] = *touch;
}

static struct deed *new_deed(struct deeds *deeds, uint64_t actor)
{
    struct deed *deed = deed_of(deeds, actor);
    if (deed != NULL)
        return deed;
    deeds->deed = memory_room(deeds->deed, deeds->count, &deeds->room, sizeof *deeds->deed);
    deed = &deeds->deed[deeds->count++];
    *deed = (struct deed){.actor = actor};
    return deed;
}

static void copy_deed(struct deeds *to, const struct deed *deed)
{
    struct deed *copy = new_deed(to, deed->actor);
    for (size_t i = 0; i < deed->count; i++)
        add_touch(copy, &deed->touch[i]);
}

static void release_deeds(struct deeds *deeds)
{
    for (size_t i = 0; i < deeds->count; i++)
        free(deeds->deed[i].touch);
    free(deeds->deed);
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

/* --- nodes ------------------------------------------------------------------------------------ */

static void release_node(struct node *node)
{
    free(node->actor);
    free(node->branch);
    release_deeds(&node->done);
    release_deeds(&node->asleep);
}

struct tree *tree_new(bool reduce)
{
    struct tree *tree = memory_new(1, sizeof *tree);
    tree->reduce = reduce;
    return tree;
}

static void forget_run(struct tree *tree)
{
    for (int i = 0; i < tree->incarnations; i++)
        free(tree->entry[i]);
    tree->incarnations = 0;
}

static void cut(struct tree *tree, size_t count)
{
    while (tree->count > count)
        release_node(&tree->node[--tree->count]);
}

void tree_release(struct tree *tree)
{
    cut(tree, 0);
    free(tree->node);
    forget_run(tree);
    free(tree);
}

/* The node of the turn that a decision is part of, or the node itself. */
static size_t turn_of(const struct tree *tree, size_t at)
{
    while (tree->node[at].turn == NOT_A_TURN)
        at--;
    return at;
}

/* --- what is next ----------------------------------------------------------------------------- */

/* A possibility of the node that is wanted, not done, and does not sleep. */
static bool find_wanted(const struct node *node, uint32_t *wanted)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->branch[i] == BRANCH_WANTED && deed_of(&node->asleep, node->actor[i]) == NULL) {
            *wanted = i;
            return true;
        }
    return false;
}

/* The deepest choice that has something left becomes the newest; false: there is none. */
static bool advance(struct tree *tree)
{
    while (tree->count > 0) {
        struct node *node = &tree->node[tree->count - 1];
        uint32_t wanted;
        if (node->turn == NOT_A_TURN && node->chosen + 1 < node->count) {
            node->chosen++;
            return true;
        }
        if (node->turn != NOT_A_TURN) {
            node->branch[node->chosen] = BRANCH_DONE;
            if (find_wanted(node, &wanted)) {
                node->chosen = wanted;
                return true;
            }
        }
        cut(tree, tree->count - 1);
    }
    return false;
}

static FILE *open_file(const char *folder, const char *name, int incarnation, const char *mode,
                       struct error *error)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s.%d", folder, name, incarnation) >= (int)sizeof path) {
        error_set(error, ERROR_LIMIT, "%s: the path is too long", folder);
        return NULL;
    }
    FILE *file = fopen(path, mode);
    if (file == NULL)
        error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    return file;
}

static void write_choices(const struct tree *tree, int incarnation, FILE *file)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->node[i];
        if (node->incarnation == incarnation && node->count > 1)
            fprintf(file, "%s %u %u\n", decision_name(node->kind), node->chosen, node->count);
    }
}

static void write_sleeper(const struct deed *deed, uint32_t from, FILE *file)
{
    struct sleeper head = {.actor = deed->actor, .touches = (uint32_t)deed->count, .from = from};
    fwrite(&head, sizeof head, 1, file);
    fwrite(deed->touch, sizeof *deed->touch, deed->count, file);
}

/* Those that slept when the run came to the newest turn, and those that are done there. */
static void write_sleepers(const struct tree *tree, FILE *file)
{
    if (tree->count == 0 || !tree->reduce)
        return;
    const struct node *node = &tree->node[turn_of(tree, tree->count - 1)];
    uint64_t chosen = node->actor[node->chosen];
    for (size_t i = 0; i < node->asleep.count; i++)
        write_sleeper(&node->asleep.deed[i], node->turn, file);
    for (size_t i = 0; i < node->done.count; i++)
        if (node->done.deed[i].actor != chosen)
            write_sleeper(&node->done.deed[i], node->turn, file);
}

static bool write_next(const struct tree *tree, const char *folder, struct error *error)
{
    int last = tree->count > 0 ? tree->node[tree->count - 1].incarnation : 0;
    for (int i = 0; i <= last; i++) {
        FILE *choices = open_file(folder, ENGINE_CHOICES_FILE, i, "we", error);
        FILE *sleepers = choices != NULL ? open_file(folder, SLEEPER_FILE, i, "we", error) : NULL;
        if (choices != NULL)
            write_choices(tree, i, choices);
        if (sleepers != NULL && i == last)
            write_sleepers(tree, sleepers);
        bool good = choices != NULL && fclose(choices) == 0;
        if (sleepers == NULL || fclose(sleepers) != 0 || !good)
            return error_set(error, ERROR_IO, "%s: %s", folder, strerror(errno)) == OK;
    }
    for (int i = last + 1; i < tree->incarnations; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.%d", folder, ENGINE_CHOICES_FILE, i);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s.%d", folder, SLEEPER_FILE, i);
        unlink(path);
    }
    return true;
}

bool tree_next(struct tree *tree, const char *folder, struct error *error)
{
    if (tree->over)
        return false;
    if (tree->counts.runs > 0 && !advance(tree)) {
        tree->over = true;
        return false;
    }
    if (!write_next(tree, folder, error))
        return false;
    forget_run(tree);
    return true;
}

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
        FILE *file = open_file(folder, TRANSITION_FILE, i, "re", error);
        if (file == NULL)
            return ERROR_IO;
        struct entry entry;
        tree->entry[i] = NULL;
        tree->entries[i] = 0;
        tree->incarnations = i + 1;
        while (fread(&entry, sizeof entry, 1, file) == 1) {
            tree->entry[i] = memory_room(tree->entry[i], tree->entries[i], &room, sizeof entry);
            tree->entry[i][tree->entries[i]++] = entry;
        }
        fclose(file);
    }
}

/* Where the run is while it is walked along. */
struct walk {
    struct tree *tree;
    int incarnation;
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

static struct node *new_node(struct tree *tree)
{
    tree->node = memory_room(tree->node, tree->count, &tree->room, sizeof *tree->node);
    struct node *node = &tree->node[tree->count++];
    *node = (struct node){.turn = NOT_A_TURN};
    return node;
}

static void make_turn(struct walk *walk, const struct entry *turn)
{
    struct node *node = new_node(walk->tree);
    node->incarnation = walk->incarnation;
    node->kind = DECIDE_NEXT;
    node->turn = walk->turns;
    node->count = turn->extra;
    node->actor = memory_new(turn->extra, sizeof *node->actor);
    node->branch = memory_new(turn->extra, sizeof *node->branch);
    for (uint32_t i = 0; i < turn->extra; i++) {
        node->actor[i] = turn[1 + i].value;
        if (node->actor[i] == turn->value)
            node->chosen = i;
        if (!walk->tree->reduce)
            node->branch[i] = BRANCH_WANTED;
    }
    node->branch[node->chosen] = BRANCH_WANTED;
    for (size_t i = 0; i < walk->asleep.count; i++)
        copy_deed(&node->asleep, &walk->asleep.deed[i]);
}

static void make_decision(struct walk *walk, const struct entry *decision)
{
    struct node *node = new_node(walk->tree);
    node->incarnation = walk->incarnation;
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
            copy_deed(&still, &node->asleep.deed[i]);
    for (size_t i = 0; i < node->done.count; i++)
        if (node->done.deed[i].actor != step->actor && !deed_conflicts(&node->done.deed[i], step))
            copy_deed(&still, &node->done.deed[i]);
    release_deeds(&walk->asleep);
    walk->asleep = still;
}

static enum error_code take_turn(struct walk *walk, const struct entry *turn, struct error *error)
{
    struct tree *tree = walk->tree;
    if (walk->at < tree->count && !same_turn(&tree->node[walk->at], turn))
        return strayed(walk, error);
    if (walk->at == tree->count)
        make_turn(walk, turn);
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
    struct deed *deed = new_deed(&walk->tree->node[at].done, step->actor);
    for (size_t t = 0; t < step->touches; t++)
        add_touch(deed, &step->touch[t]);
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

static enum error_code take_incarnation(struct walk *walk, struct error *error)
{
    struct tree *tree = walk->tree;
    size_t next = 0;
    enum error_code code = OK;
    struct entry *touch = split(walk);
    walk->turns = 0;
    while (code == OK && next < tree->entries[walk->incarnation])
        code = take_transition(walk, &next, error);
    if (code == OK && tree->reduce) {
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
    release_deeds(&walk->asleep);
}

enum error_code tree_take(struct tree *tree, const char *folder, struct error *error)
{
    struct walk walk = {.tree = tree};
    uint64_t turns = 0;
    tree->redundant = false;
    enum error_code code = read_entries(tree, folder, error);
    for (int i = 0; code == OK && i < tree->incarnations; i++) {
        walk.incarnation = i;
        release_deeds(&walk.asleep);
        walk.asleep = (struct deeds){0};
        code = take_incarnation(&walk, error);
        turns += walk.turns;
    }
    if (code == OK && walk.at < tree->count)
        code = strayed(&walk, error);
    release_walk(&walk);
    if (code != OK)
        return code;
    tree->counts.runs++;
    tree->counts.redundant += tree->redundant;
    tree->counts.turns = turns > tree->counts.turns ? turns : tree->counts.turns;
    return OK;
}

bool tree_was_redundant(const struct tree *tree)
{
    return tree->redundant;
}

/* --- how far it is ---------------------------------------------------------------------------- */

static double share_done(const struct node *node, double below)
{
    double open = 0, done = 0;
    if (node->turn == NOT_A_TURN)
        return (node->chosen + below) / node->count;
    for (uint32_t i = 0; i < node->count; i++) {
        open += node->branch[i] == BRANCH_WANTED;
        done += node->branch[i] == BRANCH_DONE;
    }
    return (done + below) / (open + done);
}

struct tree_counts tree_counts(const struct tree *tree)
{
    struct tree_counts counts = tree->counts;
    counts.done = 1;
    for (size_t i = tree->over ? 0 : tree->count; i > 0; i--)
        counts.done = share_done(&tree->node[i - 1], counts.done);
    return counts;
}
