/* The verbs of the command. main.c holds the table; a verb is one function in a file of its own. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include <stdint.h>

struct lookout;
struct path;

/* argv[0] is "faultline VERB", so that argp's messages read well. run returns the exit status. */
struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help; /* one line */
};

/* The verbs. argv[0] is for messages: "faultline run". Each returns the exit status (enum
 * exit_status) and has printed what was wrong. */
int verb_init(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_campaign(int argc, char **argv);
int verb_explore(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_exec(int argc, char **argv);
/* The same, with somebody who looks at the job, and somebody who runs it on the step engine
 * (command/exec_engine.h); NULL: nobody does. */
typedef int exec_on_engine_function(const struct path *run, int ranks, uint64_t seed,
                                    char **command);
int exec_with_lookout(int argc, char **argv, const struct lookout *lookout,
                      exec_on_engine_function *on_engine);
int verb_check(int argc, char **argv);
int verb_replay(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_shrink(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_claims(int argc, char **argv);
int verb_doctor(int argc, char **argv);

#endif
