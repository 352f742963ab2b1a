/* Steering: while the plan has steps that hold, choose or answer (runtime_steering), no call of the
 * lower tap blocks inside the library. It is done as its non-blocking form and one loop, which in
 * every round looks after what is held back, asks the rules whether it may go, and gives the
 * processor away: there are more ranks than processors. All ranks of a job do so alike; blocking
 * and non-blocking collectives do not match each other.
 *
 *     steer_loop        the loop; every blocking call in its terms; the end
 *     steer_hold        messages that stay with their sender for a while: HOLD, JITTER
 *     steer_persistent  persistent sends, of which the library sees only what may go
 *     steer_choose      which message a wildcard takes: CHOOSE
 *     steer_answer      what Test, Waitany, Iprobe answer: ANSWER
 *
 * Whatever is done here, the program sees something that MPI allows; I.legal judges it.
 *
 * The functions below stand for the library's of the same name, inside a lower call (wire_depth is
 * raised). Called only while runtime_steering and tap_ready. `recorded`, `sent`: the wire record of
 * the call. What they return is what the call returns. */
#ifndef INJECTORS_STEER_STEER_H
#define INJECTORS_STEER_STEER_H

#include "injectors/taps/tap_completion.h"
#include "injectors/taps/tap_message.h"

/* Looks after what is held back, without blocking. Every lower call begins with it. */
void steer_look(void);

/* When this rank has to look again: in so many ns, where the plan only delays messages. 0: whenever
 * another rank has done something. UINT64_MAX: only when something has come for it. */
uint64_t steer_looks_in(void);

/* Looks, and then answers as steer_looks_in; but UINT64_MAX under any plan while this rank holds no
 * message, the library is done with all that have gone, and no receive waits for its choice. */
uint64_t steer_look_at_held(void);

/* --- sends ------------------------------------------------------------------------------------ */
int steer_send(unsigned call, const struct record *sent, const void *buffer, MPI_Count count,
               MPI_Datatype type, int destination, int tag, MPI_Comm comm);
int steer_isend(unsigned call, const struct record *sent, const void *buffer, MPI_Count count,
                MPI_Datatype type, int destination, int tag, MPI_Comm comm, MPI_Request *request);
int steer_send_init(MPI_Request *request);
int steer_start(const struct start *start, int count, MPI_Request *requests);
int steer_request_free(MPI_Request *request);
int steer_cancel(MPI_Request *request);

/* --- receives --------------------------------------------------------------------------------- */
int steer_receive(const struct record *posted, void *buffer, MPI_Count count, MPI_Datatype type,
                  int source, int tag, MPI_Comm comm, MPI_Status *status);
int steer_ireceive(const struct record *posted, void *buffer, MPI_Count count, MPI_Datatype type,
                   int source, int tag, MPI_Comm comm, MPI_Request *request);
int steer_matched_receive(void *buffer, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                          MPI_Status *status);

/* --- both ------------------------------------------------------------------------------------- */
/* One side of an exchange. */
struct steer_side {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int peer;
    int tag;
};

/* `step`: what rules_take gave for the send, taken before the receive was recorded. `replace`: the
 * two buffers are one. */
struct steer_exchange {
    const struct record *sent;
    const struct record *posted;
    uint32_t step;
    bool replace;
    struct steer_side out;
    struct steer_side in;
    MPI_Comm comm;
};

int steer_sendreceive(const struct steer_exchange *exchange, MPI_Status *status);
int steer_isendreceive(const struct steer_exchange *exchange, MPI_Request *request);

/* --- probes and completion ----------------------------------------------------------------------
 */
/* message NULL: Probe. */
int steer_mprobe(const struct record *recorded, int source, int tag, MPI_Comm comm,
                 MPI_Message *message, MPI_Status *status);
int steer_wait(MPI_Request *request, MPI_Status *status);
int steer_waitall(const struct record *recorded, int count, MPI_Request *requests,
                  MPI_Status *statuses);

/* What may come out in more ways than one comes out as somebody decides: the plan (steer_answer.c),
 * or another run, which this one follows (injectors/replay installs its own). */
struct steer_answers {
    /* Wildcards of the receive or probe of `posted` may be narrowed to what it is to take. false:
     * it is a non-blocking receive that takes nothing, and `never` makes its request, which can be
     * cancelled. */
    bool (*match)(const struct record *posted, int *source, int *tag, MPI_Comm comm);
    int (*never)(MPI_Request *request);
    /* Before a call that waits; does not return if the call is not to. */
    void (*stay)(const struct record *recorded);

    int (*test)(const struct record *recorded, const struct request *waited, MPI_Request *request,
                int *flag, MPI_Status *status);
    int (*testall)(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *flag, MPI_Status *statuses);
    int (*testany)(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *index, int *flag, MPI_Status *status);
    int (*testsome)(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                    int *completed, int *indices, MPI_Status *statuses);
    int (*waitany)(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *index, MPI_Status *status);
    int (*waitsome)(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                    int *completed, int *indices, MPI_Status *statuses);
    /* message NULL: Iprobe. */
    int (*improbe)(const struct record *recorded, int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status);
};
extern const struct steer_answers *steer_answers;

/* --- collectives and the end ------------------------------------------------------------------ */
/* Of an intercommunicator: steer_gather, and true: the blocking call can be made. (MPICH 4.0.2's
 * non-blocking broadcast between groups brings wrong data where the root is not 0.) */
bool steer_gathered(MPI_Comm comm);

/* The non-blocking form was called and returned `result`: until it is complete. */
int steer_collective(int result, MPI_Request *request);

/* Before a call over `comm` that has no non-blocking form: returns when all are there. What MPI
 * lets a collective call do anyway. Where a member has died it returns at once: while the call
 * waits then, the step engine looks after held messages, and Open MPI does not. MPI_COMM_NULL: only
 * some ranks make the call, as with MPI_Comm_create_group; then returns when jitter holds nothing
 * back any more. */
void steer_gather(MPI_Comm comm);

/* For steer_gather: `comm`; MPI_COMM_NULL: it has no grid, so that the library will refuse the call
 * on this rank, whatever the others do. */
MPI_Comm steer_grid(MPI_Comm comm);

/* Before a communicator is given back: returns when nothing that uses it is held; for
 * MPI_Comm_disconnect, which waits for the others, when all are there. MPI_Comm_free is collective
 * too, but programs rely on its being local. */
void steer_drain(unsigned call, const MPI_Comm *comm);

/* Before MPI_Finalize: returns when all ranks are there, nothing is held any more (RELEASED_BY_END
 * for what nothing else has let go), and the library has taken over what was. */
void steer_finalize(void);

#endif
