/* What the environment says: how often a line is made, how many processes are kept in reserve, who
 * migrates when. Every process reads the same. Must not know: MPI. */
#ifndef COCHECK_OPTIONS_H
#define COCHECK_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVERY_DEFAULT 10
/* Promised of each line, in potential checkpoints (faultline_settles): for messages of the protocol
 * that are long on their way. */
#define SETTLES 50
#define EVERY_MAX 1000000
#define SKELETONS_MAX 1023
#define MOVES_MAX 64

/* Rank `rank` of the application migrates instead of a checkpoint of `line`. */
struct move {
    int rank;
    uint64_t line;
};

struct options {
    unsigned every;    /* COCHECK_EVERY: potential checkpoints of rank 0 per line, 1 to EVERY_MAX */
    int skeletons;     /* COCHECK_SKELETONS: processes in reserve */
    size_t move_count; /* COCHECK_MIGRATE: "rank@line,rank@line" */
    struct move move[MOVES_MAX];
    const char *host; /* COCHECK_HOST: where skeletons listen; not owned */
};

/* `ranks`: processes of the job; at least one of them is a rank of the application. Errors
 * (ERROR_USAGE) name the variable and what it accepts. */
enum error_code options_read(struct options *options, int processes, struct error *error);

/* How many ranks migrate in `line`; 0: it is a checkpoint. */
size_t options_movers(const struct options *options, uint64_t line);
bool options_moves(const struct options *options, int rank, uint64_t line);

#endif
