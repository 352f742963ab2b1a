/* A campaign: many runs of plans that a strategy draws, over the subjects of some scenarios, told
 * by groups of failures. What the parts of the verb share:
 *
 *   campaign.c            the verb: what is asked for, sessions, exit status
 *   campaign_subject.c    what is tested: subjects, their references and surveys, canaries
 *   campaign_prepare.c    what is done once, before the plans
 *   campaign_work.c       one session: what runs next, what is made of what is done
 *   campaign_guide.c      of a guided campaign: what runs brought, and what is made of that
 *   campaign_shard.c      one of several campaigns that share the plans; what they leave, taken
 * over campaign_merge.c      all of them put together campaign_slurm.c      all of them as a job
 * array of Slurm campaign_end.c        why a session ends campaign_replay.c     the first failure
 * of each group, replayed campaign_group.c      what was found: counts, groups, coverage
 *   campaign_record.c     campaign.jsonl
 *   campaign_store.c      campaign.json
 *   campaign_print.c      TAP, and the line of progress
 *
 * Must not know: traces, Lua, how plans are drawn. */
#ifndef CAMPAIGN_CAMPAIGN_H
#define CAMPAIGN_CAMPAIGN_H

#include "base/number_set.h"
#include "campaign/campaign_record.h"
#include "cli/options.h"
#include "jobs/job.h"
#include "jobs/pool.h"
#include "replay/replay.h"
#include "suite/select.h"
#include "system/progress.h"
#include "system/status.h"

#include <jansson.h>

#define CAMPAIGN_VERSION 1
#define CAMPAIGN_DEFAULT_RUNS 100
#define CAMPAIGN_DEFAULT_STRATEGY "random"
#define CAMPAIGN_KEPT_OF_GROUP 5 /* run folders; more failures of a group are only counted */
#define CAMPAIGN_TEXT_BYTES 512
#define CAMPAIGN_CALL_BYTES 2048
#define CAMPAIGN_SHARD_BYTES 32
#define CAMPAIGN_OUTPUTS 2 /* standard output, --tap */

/* A protocol and program with everything that is not the plan. */
struct subject {
    struct scenario scenario; /* shares all but the plan with the one it was taken from; without
                                 expectations */
    struct plan wires;        /* no steps, all messages of the protocol; owned */
    struct job *reference;    /* without faults and protocol; borrowed from the campaign */
    struct job *survey_job;   /* without faults; the same */
    struct survey survey;
    unsigned turns; /* choices of who is next, of the step engine in the survey */
    bool surveyed;
    bool unfinished; /* the run without faults came to no end: there is nothing to aim at */
    uint64_t plans;  /* that there are; STRATEGY_ENDLESS. 0: it could not be surveyed */
    struct number_set done_before; /* indices of the plans that earlier sessions made */
    struct guide *guide;           /* owned; NULL: the strategy is not guided */
    uint64_t runs;                 /* done */
    uint64_t *arose_in;            /* owned: runs in which the situation of claims[i] arose */
    bool *asked;                   /* owned: claims[i] is judged */
};

/* Runs that must find what they are made to find; else a campaign that finds nothing says nothing.
 * On the step engine one schedule may not show it: then so many are tried. */
#define CANARY_SEEDS 20
struct canary {
    struct scenario_list list; /* owned: of a file; else empty */
    struct scenario scenario;  /* made here: a kill that nothing restarts */
    struct plan plan;          /* of it; owned */
    char *environment;
    const struct scenario *run; /* one of the two */
    struct job *job;            /* borrowed */
    const char *protocol;       /* that it stands for; borrowed */
    char *engine;               /* the same */
};

/* Failures with the same fingerprint. */
struct group {
    struct fingerprint fingerprint;
    enum verdict verdict;
    char claim[CLAIM_BYTES];
    uint64_t count;
    uint64_t first; /* number of the run shown; 0: a survey */
    size_t subject;
    char plan[STRATEGY_TEXT_BYTES];
    char folder[64]; /* of the run shown, below the campaign's */
    unsigned kept;
    struct recorded *recorded; /* owned: the run shown, as its replays follow it; NULL: not open */
    unsigned replays_wanted, replays_started, replays_ended;
    unsigned replays, replays_same; /* that were run; that were the same */
    bool replays_refused;
    char replays_why[REPLAYED_TEXT_BYTES]; /* why not, or what was different in one */
    enum replay_end replays_other;         /* how that one ended */
    char mpiexec[CONFIRMATION_TEXT_BYTES]; /* of the step engine: what the replays, which are made
                                              under mpiexec, come to; else empty */
};

/* A run to be made, or under way. */
enum task_kind { TASK_RUN, TASK_REPLAY };
struct task {
    struct job job; /* first: a job that is done leads back here */
    enum task_kind kind;
    size_t subject;
    uint64_t index;
    struct guided_run made;
    size_t group; /* of a replay */
    struct scenario scenario;
    struct plan plan; /* owned */
    char name[2 * STRATEGY_TEXT_BYTES];
    char text[STRATEGY_TEXT_BYTES]; /* what the plan does */
    struct task *next;
};

/* Why a campaign ended. */
enum campaign_end {
    CAMPAIGN_GOES_ON,
    CAMPAIGN_COMPLETE, /* every plan there is */
    CAMPAIGN_RUNS,     /* as many as asked for, and there are more */
    CAMPAIGN_BUDGET,
    CAMPAIGN_FAILURE, /* --until-failure */
    CAMPAIGN_INTERRUPTED,
    CAMPAIGN_CANARY, /* it was green */
    CAMPAIGN_BROKEN, /* the harness or the machine: the disk is full */
    CAMPAIGN_ENDS,
};

struct campaign {
    struct options options; /* what is not given is taken from the campaign that is resumed */
    bool owns_paths;        /* options.path and its strings are owned: taken from there */
    json_t *stored;         /* owned: campaign.json of that; NULL: a new one */
    const struct strategy *strategy;
    uint64_t seed;
    uint64_t runs_asked; /* 0: no limit; of a shard: all shards together */
    double budget_s;     /* 0: no limit */
    int shard, shards;   /* of all plans only every shards-th, the shard-th; 0 0: all */
    char **merged;       /* folders of the shards that are put together; borrowed */
    size_t merged_count; /* 0: it is not that */
    struct selection selection;
    struct path folder; /* OUT/<id> */
    struct path journal_path;
    struct campaign_journal journal;

    size_t subject_count;
    struct subject *subject; /* owned */
    size_t canary_count;
    struct canary *canary; /* owned */
    size_t job_count;
    struct job **job; /* owned: references, surveys and canaries */

    struct pool pool;
    struct task *tasks; /* owned: those under way */
    uint64_t start_ns;
    double before_s; /* that earlier sessions took */

    /* The sequence of plans: subjects in turn. A run has the first number that is free. The number
     * says nothing of the plan: subjects that an earlier session could not survey have plans now.
     */
    size_t turn;               /* subject that comes next */
    uint64_t round;            /* its plan */
    uint64_t begun;            /* runs, earlier sessions included */
    uint64_t number;           /* of the newest run */
    struct number_set numbers; /* of the runs of earlier sessions */

    uint64_t runs;                   /* done, all sessions, surveys included */
    uint64_t verdict[VERDICT_COUNT]; /* of them */
    bool *survey_noted;              /* owned, by subject: its survey is in the journal */
    size_t group_count;
    struct group *group; /* owned; as they came */

    enum campaign_end last; /* why no more runs are begun; what runs is let finish */
    enum campaign_end end;
    char why[CAMPAIGN_TEXT_BYTES]; /* in words */
    FILE *out[CAMPAIGN_OUTPUTS];
    struct progress progress;
};

/* --- campaign_subject.c ----------------------------------------------------------------------- */

/* The subjects of the selection. */
void campaign_find_subjects(struct campaign *campaign);

/* Their references and surveys, and canaries, in `folder`. ERROR_USAGE: a canary's file is wrong.
 */
enum error_code campaign_add_jobs(struct campaign *campaign, struct error *error);
void campaign_release_subjects(struct campaign *campaign);

/* How the subject is called, with all that it is given: "A=1 program --size 16". */
void campaign_subject_text(const struct subject *subject, char text[CAMPAIGN_CALL_BYTES]);

/* It did what it is made to do. */
bool canary_failed_as_expected(const struct canary *canary);

/* --- campaign_group.c ------------------------------------------------------------------------- */

/* NULL: no failure with this fingerprint so far. Owned by the campaign; the next campaign_count may
 * move it. */
struct group *campaign_find_group(const struct campaign *campaign, const char *fingerprint);

/* Takes a run, survey or row of replays into the counts. *group is set to where a failure belongs,
 * NULL for what is none; it may be moved by the next call. */
enum error_code campaign_count(struct campaign *campaign, const struct campaign_record *record,
                               struct group **group, struct error *error);
void campaign_release_groups(struct campaign *campaign);

/* A violation, a harness-error, or what could not be decided; vacuous runs are none. */
bool verdict_is_failure(enum verdict verdict);

/* Claims that are judged, and those whose situation has not arisen, in any subject that judges
 * them. */
void campaign_coverage(const struct campaign *campaign, size_t *asked, size_t *open);
bool campaign_claim_is_open(const struct campaign *campaign, size_t claim);

/* Not one run passed, and none failed. */
bool campaign_tested_nothing(const struct campaign *campaign);

/* What a failure's verdict weighs, and everything else that may be wrong with the campaign. */
enum exit_status campaign_status(const struct campaign *campaign);

/* --- campaign_prepare.c ----------------------------------------------------------------------- */

/* Of a campaign that is resumed: the references, surveys and canaries that earlier sessions made.
 * ERROR_USAGE: the survey is gone of which plans were made. */
enum error_code campaign_take_jobs(struct campaign *campaign, struct error *error);

/* References, surveys and canaries that are not there yet. Errors: of the journal. */
enum error_code campaign_prepare(struct campaign *campaign, struct error *error);

/* One of them came to a harness error. */
bool campaign_has_harness_error(const struct campaign *campaign);

/* --- campaign_work.c -------------------------------------------------------------------------- */

/* Runs and replays until `end` is set. Errors besides: of the journal. */
enum error_code campaign_work(struct campaign *campaign, struct error *error);
double campaign_elapsed_s(const struct campaign *campaign);
void campaign_release_tasks(struct campaign *campaign);
bool campaign_budget_is_spent(const struct campaign *campaign);

/* `number` becomes the next that no run of the journal has. */
void campaign_next_number(struct campaign *campaign);

/* The folder of this run is to be kept. */
bool campaign_keeps(const struct campaign *campaign, const struct campaign_record *record);

/* In the counts, and in the journal if it is the same in the next session: a survey that came to a
 * harness error is made again there. */
enum error_code campaign_take_record(struct campaign *campaign,
                                     const struct campaign_record *record, struct error *error);

/* --- campaign_guide.c ------------------------------------------------------------------------- */

/* Of a guided campaign: each subject gets its guide. To be called before the journal is read. */
void campaign_open_guides(struct campaign *campaign);

/* What became of a run of a guided campaign; nothing changes in any other. */
void campaign_guide_take(struct campaign *campaign, const struct campaign_record *record);

/* The plan that comes next is to be made by what a run brings that is under way. */
bool campaign_guide_waits(const struct campaign *campaign);

/* How the run of this plan is made, which is the next of its subject. */
struct guided_run campaign_guide_next(struct campaign *campaign, size_t subject, uint64_t index);

/* How the step engine decides in the task, which has its round. */
void campaign_choose_policy(const struct campaign *campaign, struct task *task);

/* --- campaign_shard.c ------------------------------------------------------------------------- */

/* "2/4"; empty: it is no shard. */
void campaign_shard_text(const struct campaign *campaign, char text[CAMPAIGN_SHARD_BYTES]);

/* This plan is the campaign's own; else another shard has it. */
bool campaign_owns_plan(const struct campaign *campaign, size_t subject, uint64_t index);

/* References, surveys and canaries in `folder` become those of the campaign in `from`, by links.
 * ERROR_IO. */
enum error_code campaign_link_surveys(const char *folder, const char *from, struct error *error);

/* ... copies of those of the first of `merged`. ERROR_LAUNCH. */
enum error_code campaign_copy_surveys(const struct campaign *campaign, struct error *error);

/* ERROR_USAGE: the surveys in --surveys are of other scenarios, or not all there. The first before
 * the campaign has a folder, the second after campaign_take_jobs. */
enum error_code campaign_check_surveyed(const struct campaign *campaign, struct error *error);
enum error_code campaign_check_surveys(const struct campaign *campaign, struct error *error);

/* Takes over the runs that stand from *place on in the journal of the shard in `folder`, under new
 * numbers, and what it has kept of them; those whose plan this campaign has had are left out.
 * Errors: of both journals, ERROR_LAUNCH where a run's folder cannot be copied. */
enum error_code campaign_import(struct campaign *campaign, const char *folder,
                                struct campaign_journal_place *place, struct error *error);

/* --- campaign_merge.c ------------------------------------------------------------------------- */

/* `merged` are all shards of one campaign, and each is over: what was asked of them, into `stored`.
 * ERROR_USAGE, ERROR_FORMAT, ERROR_VERSION. */
enum error_code campaign_load_shards(struct campaign *campaign, struct error *error);

/* All that they have done; afterwards there is no run to begin. ERROR_USAGE: their surveys differ
 * so that they went by other plans. */
enum error_code campaign_merge(struct campaign *campaign, struct error *error);

/* --- campaign_slurm.c ------------------------------------------------------------------------- */

/* ERROR_USAGE: one of Slurm's commands is missing on this machine, or Slurm does not answer. */
enum error_code campaign_check_slurm(struct error *error);

/* All runs, by tasks of Slurm; what they have done is taken over as it is done, and afterwards
 * there is no run to begin. ERROR_LAUNCH: Slurm does not take them. */
enum error_code campaign_run_in_slurm(struct campaign *campaign, struct error *error);

/* --- campaign_end.c --------------------------------------------------------------------------- */

/* The campaign ends, and `why` is printed; nothing changes if it has ended already. */
void campaign_end_with(struct campaign *campaign, enum campaign_end end, const char *why);
/* ... by a signal, because a canary did not fail as it should, because the time is spent. */
void campaign_end_interrupted(struct campaign *campaign);
void campaign_end_without_canary(struct campaign *campaign);
void campaign_end_by_budget(struct campaign *campaign);
/* ... if the disk is full: then true, and it can go on when there is room again. */
bool campaign_ends_by_full_disk(struct campaign *campaign);
/* Nothing runs any more: ... by what has stopped it from beginning more runs. */
void campaign_settle(struct campaign *campaign);

/* As campaign.json has it; CAMPAIGN_ENDS: no end has this word. */
const char *campaign_end_word(enum campaign_end end);
enum campaign_end campaign_end_from_word(const char *word);

/* --- campaign_replay.c ------------------------------------------------------------------------ */

/* A group whose first failure is to be replayed once more. false: there is none. */
bool campaign_next_replay(struct campaign *campaign, size_t *index);

/* The job of one more. */
enum error_code campaign_fill_replay(struct campaign *campaign, struct task *task,
                                     struct error *error);
enum error_code campaign_take_replay(struct campaign *campaign, const struct task *task,
                                     struct error *error);
void campaign_release_recorded(struct group *group);

/* --- campaign_store.c ------------------------------------------------------------------------- */

/* campaign.json, in one step. */
enum error_code campaign_store(const struct campaign *campaign, struct error *error);

/* campaign.json of a folder. *root is the caller's (json_decref), NULL after ERROR_USAGE (there is
 * none), ERROR_FORMAT; it may be one after ERROR_VERSION. */
enum error_code campaign_fetch(const char *folder, json_t **root, struct error *error);

/* What `stored` says of options that are not given; `folder` is for the error. ERROR_USAGE,
 * ERROR_FORMAT. */
enum error_code campaign_take_asked(struct campaign *campaign, const char *folder,
                                    struct error *error);

/* The two for the folder that is resumed. */
enum error_code campaign_load(struct campaign *campaign, struct error *error);

/* ERROR_USAGE: the subjects are not those that `stored`, campaign.json of `folder`, has. */
enum error_code campaign_compare(const struct campaign *campaign, const char *folder,
                                 const json_t *stored, struct error *error);

/* --- campaign_print.c ------------------------------------------------------------------------- */

/* To the campaign's outputs: what is run; a new group, when its first failure has come; the results
 * in the end. campaign_show: progress, on a terminal. */
void campaign_print_head(const struct campaign *campaign);
void campaign_print_note(const struct campaign *campaign, const char *text);
void campaign_print_failure(const struct campaign *campaign, const struct group *group);
void campaign_print_end(const struct campaign *campaign);
void campaign_show(const struct campaign *campaign);

#endif
