/* What the files of the tree share: its nodes, and what they say of actors. Only for those. */
#ifndef EXPLORE_TREE_PARTS_H
#define EXPLORE_TREE_PARTS_H

#include "engine/core/core.h"
#include "explore/races.h"
#include "explore/tree.h"

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
    bool closed; /* of a life that is explored elsewhere: nothing else is tried here */
    enum decision kind;
    uint32_t turn;   /* of DECIDE_NEXT: turns before it in the incarnation; else NOT_A_TURN */
    uint32_t count;  /* possibilities */
    uint32_t chosen; /* of them, in the newest run */
    /* Of DECIDE_NEXT: */
    uint64_t *actor;     /* of each possibility; owned */
    enum branch *branch; /* of each; owned */
    struct deeds done;   /* of those that are done here, and of the chosen one as it is known */
    struct deeds asleep; /* when the run came here */
    uint64_t last;       /* the process that ran before, + 1; 0: none */
    uint32_t preempted;  /* turns before this one that preempted a process */
};

struct tree {
    struct tree_limits limits;
    bool asked; /* the newest path is to be run: that was said, and it is not taken yet */
    size_t count, room;
    struct node *node;
    bool over, redundant;
    struct tree_counts counts;
    int incarnations;                       /* of the newest run */
    struct entry *entry[MOST_INCARNATIONS]; /* owned */
    size_t entries[MOST_INCARNATIONS];
};

/* The entries of the newest run. */
void tree_forget_run(struct tree *tree);

/* FOLDER/NAME.INCARNATION. NULL: *error is set. */
FILE *tree_file(const char *folder, const char *name, int incarnation, const char *mode,
                struct error *error);

/* --- deeds ------------------------------------------------------------------------------------ */

/* NULL: nothing is known of the actor. */
struct deed *deed_of(const struct deeds *deeds, uint64_t actor);
/* The same, made where it is not there. */
struct deed *deed_make(struct deeds *deeds, uint64_t actor);
void deed_add(struct deed *deed, const struct entry *touch);
void deed_copy(struct deeds *to, const struct deed *deed);
void deeds_release(struct deeds *deeds);

#endif
