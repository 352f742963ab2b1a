/* What the parts of this layer share: all communicators that this process knows, the numbers the
 * program is given, what is known of creations that a line runs through. Must not know: MPI calls
 * of the program. */
#ifndef COMMON_COMMUNICATORS_TABLE_H
#define COMMON_COMMUNICATORS_TABLE_H

#include "common/communicators/handles.h"

#define HANDLES_EXPORTED __attribute__((visibility("default")))

#define NUMBER_BUCKETS 256

/* A creation that this rank will call again after recovery, while others will not: it was done at
 * recovery. */
struct done_creation {
    struct done_creation *next;
    uint64_t series;
    uint64_t count;
    uint64_t result; /* id; 0: this rank gets MPI_COMM_NULL */
};

/* A creation before this rank's next checkpoint and beyond another member's: what that one must be
 * given at recovery. */
struct passed_creation {
    struct passed_creation *next;
    uint64_t series;
    uint64_t count;
    struct bytes members; /* one struct member_of_creation and a topology row each; owned */
};

/* What a member of a creation tells the others. */
struct member_of_creation {
    int64_t world; /* its rank in MPI_COMM_WORLD */
    uint64_t line; /* where it stands */
    uint64_t id;   /* of what it gets; 0: MPI_COMM_NULL */
    int64_t rank;  /* in that */
};

struct handles {
    const struct handles_protocol *protocol; /* NULL: not open */
    bool running;                            /* checkpoint_restore is behind us */
    int rank;
    int ranks;
    MPI_Group world_group;
    uint64_t numbers;       /* given to the program so far */
    uint64_t early_numbers; /* of these before checkpoint_restore */
    struct handle world;
    struct handle own; /* MPI_COMM_SELF */
    struct handle *all;
    struct handle *bucket[NUMBER_BUCKETS];
    struct done_creation *done;
    struct passed_creation *passed;
};

extern struct handles handles;

/* Ends the job with a printf text. */
_Noreturn void handles_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the job: see handles_protocol.refuse. */
_Noreturn void handles_refuse(const char *what, const char *instead);

/* Zeroed memory; the job ends if there is none. */
void *handles_memory(size_t count, size_t bytes);

/* Of a group's ranks in MPI_COMM_WORLD. */
uint64_t group_identity(const int *world, int size);

/* Ranks in MPI_COMM_WORLD of a group's members; owned by the caller: free. */
int *group_world(MPI_Group group, int *size);

/* For a communicator of the library; not yet in the table, without hidden one. */
struct handle *handle_new(MPI_Comm real, uint64_t id);
void handle_insert(struct handle *handle);

/* The program can use it from now on, by this number. The trace notes it, and the protocol is
 * informed. */
void handle_publish(struct handle *handle, MPI_Comm user);

/* A number (common/base/numbered.h) that the program has not had: each is given once. */
MPI_Comm handles_next_number(void);

/* The program has it no longer. Goes with the last hold: handle_drop. */
void handle_unpublish(struct handle *handle);

/* This rank will call that creation again. A second call of this function changes nothing. */
void creation_is_done(uint64_t series, uint64_t count, uint64_t result);

/* The count of `group` so far; one more then. */
uint64_t count_next(struct handle_counts *counts, uint64_t group);
void count_back(struct handle_counts *counts, uint64_t group);

#endif
