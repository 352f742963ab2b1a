/* Options of the verbs that deal with scenarios and stored runs: one table, read from the command
 * line and from FAULTLINE_<NAME>. Must not know what the options lead to. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/error.h"
#include "reports/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_MAX_JOBS 1024
#define OPTIONS_MAX_REPEAT 1000000
#define OPTIONS_MAX_SHARDS 10000

/* Which verbs know an option. */
enum option_verb {
    FOR_RUN = 1,
    FOR_LIST = 2,
    FOR_CHECK = 4,
    FOR_CAMPAIGN = 8,
    FOR_SHRINK = 32,
    FOR_REPLAY = 256,
    FOR_EXPLORE = 512
};

/* All pointers are borrowed from the command line or the environment. */
struct options {
    int jobs; /* scenarios at once, 1 and up */
    uint64_t seed;
    const char *out;    /* folder of all runs */
    int ranks;          /* 0: as the scenario says */
    double timeout_s;   /* 0: not given */
    int trace_mb;       /* most that the traces and output of a run may take; 0: not given */
    const char *engine; /* for all scenarios; NULL: as each says */
    const char *filter;
    int shard, shards; /* 1..shards, of scenarios or of a campaign's plans; 0 0: everything */
    int repeat;        /* times, 1 and up */
    const char *tap;   /* a second place for the TAP */
    const char *results[RESULTS_FORMS]; /* files of other forms; NULL: not asked for */
    const char *html; /* folder for the pages of all runs; NULL: only of what did not pass */
    const char *claims;
    int runs;             /* of a campaign; 0: not given */
    double budget_s;      /* 0: not given */
    const char *strategy; /* NULL: not given */
    const char *resume;   /* folder of a campaign; NULL: a new one */
    const char *surveys;  /* folder of a campaign; NULL: it makes its own */
    bool merge;           /* `path` names shards of one campaign */
    bool slurm;           /* its runs are tasks of Slurm: */
    int tasks;            /* so many; 0: not given */
    int replays;          /* of the first failure of each group, 0 and up */
    int confirm; /* how often what the step engine finds is repeated under mpiexec; 0: not */
    bool seed_given, repeat_given;
    bool all_wires;  /* set by a verb: plans get all messages of their protocol */
    bool control;    /* set by a verb that gives a violation its control run (control.h) */
    bool no_pages;   /* set by a verb whose runs are trials that nobody looks at */
    bool no_stacks;  /* what violates a claim is not run again for the stacks of its witness */
    int crashes;     /* explore: the most deaths that are added to a run, 0 and up */
    bool losses;     /* explore: each also with what is not synced */
    int polls;       /* explore: so often a poll is answered at once */
    int preemptions; /* explore: so many at most; -1: any number */
    bool all_orders; /* explore: those of transitions that commute, too */
    bool trust;      /* what an archive names is run without asking */
    bool keep;       /* run folders of runs that passed, too */
    bool verbose, dry_run, until_failure, shuffle, last_failed, durations, no_capture, no_control;
    char **path; /* what is left of the command line */
    size_t path_count;
};

/* What a verb shows in its --help. */
struct options_help {
    const char *arguments; /* "SCENARIO.lua|DIR..." */
    const char *text;
};

/* Environment first, then the command line. Ends the process with status 64 and a message on wrong
 * use, and after --help. */
void options_parse(struct options *options, enum option_verb verb, const struct options_help *help,
                   int argc, char **argv);

/* A decimal number, 0x..., or the 40 hexadecimal digits of a commit (its first 16 count). */
enum error_code seed_parse(const char *text, uint64_t *seed, struct error *error);

/* I/N into options->shard and options->shards. ERROR_USAGE; they may have changed then. */
enum error_code shard_parse(const char *text, struct options *options, struct error *error);

#endif
