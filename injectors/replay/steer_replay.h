/* What the library is asked in a run that follows the decisions of another one: see replay.h. The
 * functions stand for those of the same name in steer.h. Only while replay_imposing. */
#ifndef INJECTORS_REPLAY_STEER_REPLAY_H
#define INJECTORS_REPLAY_STEER_REPLAY_H

#include "injectors/replay/replay.h"
#include "injectors/steer/steer.h"

/* The wildcards of a receive or probe become what it took then. false: it is a non-blocking receive
 * with wildcards, and the program never saw what it took. */
bool steer_replay_match(const struct record *r, int *source, int *tag, MPI_Comm comm);

/* The request of a receive that takes nothing; it can be cancelled. */
int steer_replay_never(MPI_Request *request);

/* Does not return if the call did not. */
void steer_replay_stay(const struct record *recorded);

int steer_replay_test(const struct record *recorded, MPI_Request *request, int *flag,
                      MPI_Status *status);
int steer_replay_testall(const struct record *recorded, const struct batch *batch,
                         MPI_Request *requests, int *flag, MPI_Status *statuses);
int steer_replay_testany(const struct record *recorded, const struct batch *batch,
                         MPI_Request *requests, int *index, int *flag, MPI_Status *status);
int steer_replay_testsome(const struct record *recorded, const struct batch *batch,
                          MPI_Request *requests, int *completed, int *indices,
                          MPI_Status *statuses);
int steer_replay_waitany(const struct record *recorded, const struct batch *batch,
                         MPI_Request *requests, int *index, MPI_Status *status);
int steer_replay_waitsome(const struct record *recorded, const struct batch *batch,
                          MPI_Request *requests, int *completed, int *indices,
                          MPI_Status *statuses);
/* message NULL: Iprobe. */
int steer_replay_improbe(const struct record *recorded, int source, int tag, MPI_Comm comm,
                         int *flag, MPI_Message *message, MPI_Status *status);

#endif
