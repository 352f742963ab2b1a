/* The verbs of the command. main.c holds the table; a verb is one function in a file of its own. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

struct lookout;

/* argv[0] is "faultline VERB", so that argp's messages read well. run returns the exit status. */
struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help; /* one line */
};

int verb_run(int argc, char **argv);
int verb_campaign(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_exec(int argc, char **argv);
/* The same, with somebody who looks at the job; NULL: nobody does. */
int exec_with_lookout(int argc, char **argv, const struct lookout *lookout);
int verb_check(int argc, char **argv);
int verb_replay(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_shrink(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_claims(int argc, char **argv);
int verb_doctor(int argc, char **argv);

#endif
