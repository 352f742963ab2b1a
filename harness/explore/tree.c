/* See tree.h. The path of nodes from the root is the newest run: each is a choice of who is next,
 * or a decision inside a transition. */
#include "explore/tree.h"

#include "base/memory.h"
#include "engine/zygote/zygote.h"
#include "explore/tree_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- deeds ------------------------------------------------------------------------------------ */

struct deed *deed_of(const struct deeds *deeds, uint64_t actor)
{
    for (size_t i = 0; i < deeds->count; i++)
        if (deeds->deed[i].actor == actor)
            return &deeds->deed[i];
    return NULL;
}

void deed_add(struct deed *deed, const struct entry *touch)
{
    for (size_t i = 0; i < deed->count; i++)
        if (deed->touch[i].value == touch->value && deed->touch[i].flag == touch->flag)
            return;
    deed->touch = memory_room(deed->touch, deed->count, &deed->room, sizeof *deed->touch);
    deed->touch[deed->count++] = *touch;
}

struct deed *deed_make(struct deeds *deeds, uint64_t actor)
{
    struct deed *deed = deed_of(deeds, actor);
    if (deed != NULL)
        return deed;
    deeds->deed = memory_room(deeds->deed, deeds->count, &deeds->room, sizeof *deeds->deed);
    deed = &deeds->deed[deeds->count++];
    *deed = (struct deed){.actor = actor};
    return deed;
}

void deed_copy(struct deeds *to, const struct deed *deed)
{
    struct deed *copy = deed_make(to, deed->actor);
    for (size_t i = 0; i < deed->count; i++)
        deed_add(copy, &deed->touch[i]);
}

void deeds_release(struct deeds *deeds)
{
    for (size_t i = 0; i < deeds->count; i++)
        free(deeds->deed[i].touch);
    free(deeds->deed);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void release_node(struct node *node)
{
    free(node->actor);
    free(node->branch);
    deeds_release(&node->done);
    deeds_release(&node->asleep);
}

struct tree *tree_new(const struct tree_limits *limits)
{
    struct tree *tree = memory_new(1, sizeof *tree);
    tree->limits = *limits;
    return tree;
}

void tree_forget_run(struct tree *tree)
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
    tree_forget_run(tree);
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
        if (node->turn == NOT_A_TURN && !node->closed && node->chosen + 1 < node->count) {
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

FILE *tree_file(const char *folder, const char *name, int incarnation, const char *mode,
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
    if (tree->count == 0 || !tree->limits.reduce)
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
        FILE *choices = tree_file(folder, ENGINE_CHOICES_FILE, i, "we", error);
        FILE *sleepers = choices != NULL ? tree_file(folder, SLEEPER_FILE, i, "we", error) : NULL;
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
    if (!tree->asked && tree->counts.runs > 0 && !advance(tree)) {
        tree->over = true;
        return false;
    }
    tree->asked = true;
    if (!write_next(tree, folder, error))
        return false;
    tree_forget_run(tree);
    return true;
}

/* --- how far it is ---------------------------------------------------------------------------- */

static double share_done(const struct node *node, double below)
{
    double open = 0, done = 0;
    if (node->closed)
        return below;
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
    counts.done = tree->counts.runs > 0;
    for (size_t i = tree->over ? 0 : tree->count; i > 0; i--)
        counts.done = share_done(&tree->node[i - 1], counts.done);
    return counts;
}
