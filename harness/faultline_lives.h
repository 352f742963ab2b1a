/* Who has died: what a protocol is told of the other processes of a job in which ranks live on when
 * one dies (a scenario with `survivors = true`). It is what a resource manager would tell: under
 * mpiexec by the processes that started the ranks, on the step engine by the engine. Who is told of
 * which death when can be steered by a plan (`detect`). Header-only, no library: without Faultline
 * nobody is ever told of anything.
 *
 * A process is known by its number: its rank in the first MPI_COMM_WORLD, and for those that came
 * later (MPI_Comm_spawn, on the step engine) the numbers after these, in the order in which they
 * came. Processes in reserve (`reserve = K`) are the last K of MPI_COMM_WORLD; one of them takes
 * the place of a dead rank by faultline_becomes (faultline.h).
 *
 * Dead is a process that has ended without having returned from MPI_Finalize well. The functions
 * may be called between MPI_Init and MPI_Finalize, by the thread that calls MPI.
 *
 * Under mpiexec (MPICH) an MPI call that needs a dead process does not fail: it waits for ever. So
 * a protocol polls what it waits for (MPI_Test, MPI_Iprobe) and asks here in between. What is sent
 * to a dead process is lost, or the call returns an error: so communicators that the dead are in
 * have the error handler MPI_ERRORS_RETURN. What was sent there, or posted to receive from there,
 * need not be completed before MPI_Finalize. A communicator of those who live is made by
 * MPI_Comm_create_group, which asks its members only: if one of them dies before all have come, it
 * fails at all others with MPIX_ERR_PROC_FAILED; if the library refuses it to one of them (a tag or
 * communicator that is none), with MPI_ERR_OTHER. */
#ifndef FAULTLINE_LIVES_H
#define FAULTLINE_LIVES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Nobody needs this process any more: each process that is a rank of the application has come to
 * MPI_Finalize, or has died. */
#define FAULTLINE_JOB_IS_OVER (-1)

/* What the functions below call. */
int faultline_told_dead(int *processes, int most) __attribute__((weak));
int faultline_wait_told(int known) __attribute__((weak));

/* How many deaths this process has been told of, which is never less than before. processes[0 ..
 * most) get the numbers of the dead in the order in which it was told, as many as there are;
 * another process may have been told in another order, or of fewer. most 0 with NULL is allowed.
 * Never waits. */
static inline int faultline_deaths(int *processes, int most)
{
    return faultline_told_dead ? faultline_told_dead(processes, most) : 0;
}

/* Waits until this process has been told of more than `known` deaths, and returns how many; or,
 * when there is no more than `known` to tell, until the job is over for it: FAULTLINE_JOB_IS_OVER.
 * It is how a process in reserve waits to be needed; where it is over, it goes to MPI_Finalize. A
 * rank of the application does not get that answer. Nothing that others send is waited for. */
static inline int faultline_await_death(int known)
{
    return faultline_wait_told ? faultline_wait_told(known) : FAULTLINE_JOB_IS_OVER;
}

#ifdef __cplusplus
}
#endif

#endif
