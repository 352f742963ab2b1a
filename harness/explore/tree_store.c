/* A tree as a file: numbers, in the order of the struct, lists after their lengths. See tree.h. */
#include "base/memory.h"
#include "explore/tree_parts.h"

#define MOST (UINT64_C(1) << 32) /* of any list: a damaged length must not cost any memory */

/* --- writing ---------------------------------------------------------------------------------- */

static void put(FILE *file, uint64_t number)
{
    fwrite(&number, sizeof number, 1, file);
}

static void put_deeds(FILE *file, const struct deeds *deeds)
{
    put(file, deeds->count);
    for (size_t i = 0; i < deeds->count; i++) {
        put(file, deeds->deed[i].actor);
        put(file, deeds->deed[i].count);
        fwrite(deeds->deed[i].touch, sizeof *deeds->deed[i].touch, deeds->deed[i].count, file);
    }
}

static void put_node(FILE *file, const struct node *node)
{
    put(file, (uint64_t)node->incarnation);
    put(file, node->closed);
    put(file, (uint64_t)node->kind);
    put(file, node->turn);
    put(file, node->count);
    put(file, node->chosen);
    put(file, node->last);
    put(file, node->preempted);
    for (uint32_t i = 0; node->turn != NOT_A_TURN && i < node->count; i++) {
        put(file, node->actor[i]);
        put(file, (uint64_t)node->branch[i]);
    }
    put_deeds(file, &node->done);
    put_deeds(file, &node->asleep);
}

void tree_save(const struct tree *tree, FILE *file)
{
    put(file, tree->over);
    put(file, tree->asked);
    fwrite(&tree->counts, sizeof tree->counts, 1, file);
    put(file, tree->count);
    for (size_t i = 0; i < tree->count; i++)
        put_node(file, &tree->node[i]);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* 0 where there is nothing, which the stream remembers. */
static uint64_t get(FILE *file, uint64_t most)
{
    uint64_t number = 0;
    if (fread(&number, sizeof number, 1, file) == 1 && number <= most)
        return number;
    fseek(file, 0, SEEK_END); /* so that nothing else is read as what it is not */
    (void)fgetc(file);
    return 0;
}

static bool is_good(FILE *file)
{
    return !feof(file) && !ferror(file);
}

static void get_deed(FILE *file, struct deeds *deeds)
{
    struct deed *deed = deed_make(deeds, get(file, UINT64_MAX));
    struct entry touch;
    uint64_t touches = get(file, MOST);
    while (touches-- > 0 && fread(&touch, sizeof touch, 1, file) == 1)
        deed_add(deed, &touch);
}

static void get_deeds(FILE *file, struct deeds *deeds)
{
    for (uint64_t count = get(file, MOST); count > 0 && is_good(file); count--)
        get_deed(file, deeds);
}

static void get_node(FILE *file, struct node *node)
{
    node->incarnation = (int)get(file, MOST_INCARNATIONS);
    node->closed = get(file, 1) != 0;
    node->kind = (enum decision)get(file, DECISION_KINDS - 1);
    node->turn = (uint32_t)get(file, UINT32_MAX);
    node->count = (uint32_t)get(file, UINT16_MAX);
    node->chosen = (uint32_t)get(file, UINT16_MAX);
    node->last = get(file, UINT64_MAX);
    node->preempted = (uint32_t)get(file, UINT32_MAX);
    if (node->turn != NOT_A_TURN) {
        node->actor = memory_new(node->count + 1, sizeof *node->actor);
        node->branch = memory_new(node->count + 1, sizeof *node->branch);
        for (uint32_t i = 0; i < node->count; i++) {
            node->actor[i] = get(file, UINT64_MAX);
            node->branch[i] = (enum branch)get(file, BRANCH_DONE);
        }
    }
    get_deeds(file, &node->done);
    get_deeds(file, &node->asleep);
}

enum error_code tree_load(FILE *file, const struct tree_limits *limits, struct tree **loaded,
                          struct error *error)
{
    struct tree *tree = tree_new(limits);
    tree->over = get(file, 1) != 0;
    tree->asked = get(file, 1) != 0;
    bool good = fread(&tree->counts, sizeof tree->counts, 1, file) == 1;
    uint64_t count = get(file, MOST);
    for (uint64_t i = 0; good && i < count; i++) {
        tree->node = memory_room(tree->node, tree->count, &tree->room, sizeof *tree->node);
        struct node *node = &tree->node[tree->count++];
        *node = (struct node){.turn = NOT_A_TURN};
        get_node(file, node);
        good = is_good(file) && node->chosen < node->count && node->turn != NOT_A_TURN;
        good |= is_good(file) && node->turn == NOT_A_TURN && i > 0;
    }
    *loaded = tree;
    if (good && is_good(file))
        return OK;
    tree_release(tree);
    *loaded = NULL;
    return error_set(error, ERROR_FORMAT, "what was explored before cannot be read");
}
