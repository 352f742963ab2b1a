/* One line of campaign.jsonl: what became of a run. The journal is all that a campaign knows of
 * what it has done, so that one that is killed loses nothing that was finished. Must not know: how
 * runs are made or chosen. */
#ifndef CAMPAIGN_CAMPAIGN_RECORD_H
#define CAMPAIGN_CAMPAIGN_RECORD_H

#include "strategy/guide.h"
#include "strategy/strategy.h"
#include "verdict/fingerprint.h"
#include "verdict/outcome.h"

#include <sys/types.h>

#define CLAIM_BYTES 32
#define CAMPAIGN_JOURNAL_MOST (UINT64_C(4) << 30) /* bytes of a journal that is read */

enum record_of { RECORD_OF_RUN, RECORD_OF_SURVEY, RECORD_OF_REPLAYS, RECORD_OF_KINDS };

/* Of a run or survey: all but `same`. Of replays: number (of the run that was replayed),
 * fingerprint, asked (times), same (of them ended the same way), mpiexec. */
struct campaign_record {
    enum record_of of;
    uint64_t number; /* of the run, from 1; also its folder. 0: a survey */
    size_t subject;  /* from 0; in the file from 1 */
    uint64_t index;  /* of the plan among the subject's, from 0 */
    char plan[STRATEGY_TEXT_BYTES];
    enum verdict verdict;
    char claim[CLAIM_BYTES]; /* that decided; empty: none */
    struct fingerprint fingerprint;
    double seconds;       /* that the run took */
    double elapsed_s;     /* since the campaign began, its earlier sessions included */
    unsigned asked, done; /* steps of the plan */
    unsigned same;
    char mpiexec[CONFIRMATION_TEXT_BYTES]; /* of replays of what the step engine found: what they
                                              come to; else empty */
    char folder[64];                       /* below the campaign's; empty: not kept */
    size_t arose_count;                    /* owned: ids of the claims whose situation arose */
    const char **arose;                    /* static strings */
    uint64_t *situations;                  /* owned; of each of them, how often it arose */
    bool guided;                           /* it is a run of a guided campaign: */
    struct guided_run made;
    unsigned lives; /* that choices are known of */
    unsigned choices[GUIDED_LIVES];
};

/* Releases what the record owns; not the record. */
void campaign_record_release(struct campaign_record *record);

/* Verdict, claim, fingerprint and coverage of a judged run folder, and of a guided run how much was
 * decided in it. A run that left no verdict is a harness-error. */
void campaign_record_take(const char *folder, struct campaign_record *record);

/* campaign.jsonl, open and locked: one process at a time goes on with a campaign. */
struct campaign_journal {
    int file;         /* -1: closed */
    const char *path; /* borrowed */
};

/* ERROR_IO; ERROR_USAGE: another process has it, and its runs, and did not end in time. */
enum error_code campaign_journal_open(const char *path, struct campaign_journal *journal,
                                      struct error *error);
void campaign_journal_close(struct campaign_journal *journal);

/* Some process has it open in this way. */
bool campaign_journal_is_locked(const char *path);

/* All of it or nothing: ERROR_IO leaves the file as it was. */
enum error_code campaign_journal_add(struct campaign_journal *journal,
                                     const struct campaign_record *record, struct error *error);

/* Calls `take` for each line. A last line that is torn is cut off; any other that is not one of
 * ours is ERROR_FORMAT. The record lives as long as the call. */
typedef enum error_code campaign_record_taken(void *context, const struct campaign_record *record,
                                              struct error *error);
enum error_code campaign_journal_read(struct campaign_journal *journal, campaign_record_taken *take,
                                      void *context, struct error *error);

/* A place in a journal; all 0 is its beginning. */
struct campaign_journal_place {
    off_t bytes;
    int lines;
};

/* The same from *place on, of a journal that another process may be writing: a last line that is
 * not whole is left for the next time. *place is moved behind what was taken. */
enum error_code campaign_journal_follow(const char *path, struct campaign_journal_place *place,
                                        campaign_record_taken *take, void *context,
                                        struct error *error);

#endif
