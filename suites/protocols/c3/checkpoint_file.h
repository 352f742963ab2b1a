/* What a rank keeps of its checkpoint besides the registered state, in one file with it: the
 * suppressList, the reexecList, the place of the next receive, the communicators and how many
 * collective calls each has seen, the requests that are alive. Must
 * not know: when a checkpoint is taken. */
#ifndef C3_CHECKPOINT_FILE_H
#define C3_CHECKPOINT_FILE_H

#include "c3/c3.h"
#include "c3/suppress.h"
#include "common/base/bytes.h"

/* A checkpoint that was read. */
struct checkpoint {
    void *content;       /* owned; the readers point into it */
    struct early *early; /* owned: what the rank had received early */
    size_t early_count;
    uint64_t next_place;
    struct reader handles;
    struct reader numbers; /* of collective calls */
    struct reader reexec;  /* reexecList */
    struct reader requests;
};

/* Stores this rank as it is now as its checkpoint of self.epoch; on return it is stable. Phases:
 * those of line_save. */
void checkpoint_file_save(void);

/* Appends to `early` what is not in the file: the rows are copied. */
void checkpoint_add_early(struct checkpoint *checkpoint, const struct early *early, size_t count);

/* Gives the registered state what it held at this rank's checkpoint of `line`, and *checkpoint the
 * rest. The job ends if the file is not good. */
void checkpoint_file_load(uint64_t line, struct checkpoint *checkpoint);
void checkpoint_file_release(struct checkpoint *checkpoint);

#endif
