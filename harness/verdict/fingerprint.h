/* What makes two failures the same: the claim, the roles of the ranks in its witness, and the phase
 * of the protocol in which it happened. Ranks are named by role, not by number, so that the same
 * failure at another rank is the same. Written into verdict.json as "fingerprint". */
#ifndef VERDICT_FINGERPRINT_H
#define VERDICT_FINGERPRINT_H

#include "verdict/outcome.h"

#define FINGERPRINT_BYTES 256

/* One line, made for people too: "C.late.replay initiator,other recovery". What is no violation
 * has its verdict in front: "vacuous I.installed". Empty: nothing was found. A violation that the
 * scenario expects has one as well.
 *
 * Roles: initiator (who told `initiated`; rank 0 where nobody did), killed (by the plan, in an
 * incarnation of the witness or before), killed-initiator, other; each once, in this order.
 *
 * Phases, of the rank whose event ends the witness, at that event: recovery (restarted, and no
 * checkpoint taken since), start (no rank of the witness has begun a line by its event), before
 * (the newest line that one has begun), logging, beyond. A protocol that tells nothing of logging
 * has no such phase. An MPI error that ended the job has the call in the place of roles,
 * "H.progress MPI_Recv start": where all ranks run into it, which is first is a matter of luck. A
 * violation without a witness has the way in which the run ended instead. */
struct fingerprint {
    char text[FINGERPRINT_BYTES];
};

/* Of the deciding finding of a run that was just judged; without one the text of its verdict, "" of
 * a pass. */
void fingerprint_of(const struct run *run, const struct outcome *outcome,
                    struct fingerprint *fingerprint);

/* The same of one finding. `traces` may hold none. */
void fingerprint_make(const struct trace_set *traces, const struct run_facts *facts,
                      const struct finding *finding, struct fingerprint *fingerprint);

/* Of a judged run folder, from its verdict.json. ERROR_IO, ERROR_FORMAT. */
enum error_code fingerprint_load(const char *folder, struct fingerprint *fingerprint,
                                 struct error *error);

#endif
