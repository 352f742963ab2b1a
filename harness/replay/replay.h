/* Runs that are repeated as jobs, for every verb that repeats runs (verdict/repetition.h):
 *
 *     recorded_open(FOLDER, &recorded, &error);
 *     replay_job(&recorded, number, OUT, &job);     a job for pool_start; once more for each replay
 *     ...                                           until it is done
 *     replay_compare(&recorded, OUT, &replayed, &error);
 *     recorded_release(&recorded);
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "jobs/job.h"
#include "verdict/repetition.h"

/* A job that follows it, in the folder `folder` (as the user would type it). Borrows *recorded. */
enum error_code replay_job(const struct recorded *recorded, int number, const char *folder,
                           struct job *job, struct error *error);

/* Call stacks at the witness of the stored run, from a replay that came to the same: into its
 * stacks.txt, and its page is drawn anew if it has one. Nothing if it has them. */
void replay_take_stacks(const struct recorded *recorded, const struct job *job);

#endif
