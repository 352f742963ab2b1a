/* What the files of this folder say to each other. */
#ifndef ENGINE_COMMUNICATORS_PARTS_H
#define ENGINE_COMMUNICATORS_PARTS_H

#include "engine/communicators/communicator.h"
#include "engine/communicators/meeting.h"
#include "engine/communicators/members.h"
#include "engine/communicators/topology.h"
#include "engine/library.h"

#include <stddef.h>

/* Each sets the table's functions that its file has. */
void groups_fill(struct library *table);     /* group.c */
void inquiry_fill(struct library *table);    /* inquiry.c */
void making_fill(struct library *table);     /* making.c */
void creating_fill(struct library *table);   /* creating.c */
void inter_fill(struct library *table);      /* inter.c */
void grids_fill(struct library *table);      /* grid.c */
void attributes_fill(struct library *table); /* attributes.c */
void graphs_fill(struct library *table);     /* graph.c */

/* Who is in what, once all have come: sets meeting->made of each participant. */
typedef void decide_function(struct meeting *meeting);

void making_decide_once(struct meeting *meeting, decide_function *decide);

/* A communicator that is being made. */
struct making {
    struct comm_view *view; /* of which it is made */
    decide_function *decide;
    MPI_Comm handle; /* for it, of this rank */
    int failed;      /* what the library returned if it gave no handle; MPI_SUCCESS */
    struct meeting *meeting;
    int mine;                 /* this participant */
    int side;                 /* on which it will be, if the new one has two */
    struct comm_view *opened; /* NULL: this rank is not in the new one */
};

/* MPI_SUCCESS: *view is that of a communicator whose members can make another one, and *newcomm is
 * MPI_COMM_NULL so far. Else the error has been raised. */
int making_check(MPI_Comm comm, MPI_Comm *newcomm, struct comm_view **view);
/* The same, and an inter-communicator is an error. */
int making_check_intra(MPI_Comm comm, MPI_Comm *newcomm, struct comm_view **view);
/* A handle of the library with the error handler of making->view, without its attributes. Where the
 * library has none to give, the members learn that when they meet. */
void making_handle(struct making *making);
/* Meets all members and makes it: *made is MPI_COMM_NULL where this rank is not in it. Raises what
 * goes wrong. */
int making_all(struct making *making, const char *name, struct deposit *deposit, MPI_Comm *made);
/* The end of that, for other meetings: view, decide, handle, meeting, mine and side are set. */
int making_finish(struct making *making, MPI_Comm *made);
/* Opens what the meeting, to which all have come, makes for this rank; frees the handle otherwise.
 */
void making_open(struct making *making);
/* All of that without the call: raises nothing; returns the error class. */
int making_take(struct making *making, int result);
/* All participants get the same one. */
void making_give_all(struct meeting *meeting, struct shared_communicator *shared);
/* One side of an inter-communicator that is being made, of one rank. */
struct joining {
    struct comm_view *view; /* of the side */
    int leader;             /* its rank */
    const char *name;       /* of the MPI function */
    /* What the leader does, the others wait for: returns the new common part, held for the caller,
     * with the side that this one is on; NULL with joining->result. */
    struct shared_communicator *(*meet)(struct joining *joining, int *side);
    int result; /* error class, for all of the side */
};
/* MPI_SUCCESS: *view is that of an intra-communicator with such a leader. Else the error has been
 * raised. */
int inter_check(MPI_Comm comm, int leader, MPI_Comm *made, struct comm_view **view);
/* Makes it; raises what goes wrong. */
int inter_join(struct joining *joining, MPI_Comm *made);
/* A decide_function for two leaders who bring the processes of their sides. */
void inter_decide(struct meeting *meeting);
/* MPI_Comm_split after its arguments are looked at. */
int making_split(struct comm_view *view, int colour, int key, const char *name, MPI_Comm *newcomm);
/* Of the first `count` members; *opened is NULL where this rank is not among them. */
int making_first(MPI_Comm comm, int count, const char *name, MPI_Comm *made,
                 struct comm_view **opened);
/* The processes of one side, as a new list. */
struct members *making_side(const struct shared_communicator *of, int side);

/* A handle for a list of processes, which it takes over; MPI_GROUP_EMPTY for one without. */
MPI_Group group_handle(struct members *members);
/* What a handle means; NULL: it is none of a group. */
const struct members *group_members(MPI_Group group);

#endif
