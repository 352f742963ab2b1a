/* What makes two failures the same: the claim, the roles of the ranks in its witness, and the phase
 * of the protocol in which it happened. Ranks are told by role, not by number, so that the same
 * failure at another rank is the same. Written into verdict.json as "fingerprint". */
#ifndef DRIVER_FINGERPRINT_H
#define DRIVER_FINGERPRINT_H

#include "driver/outcome.h"

#define FINGERPRINT_BYTES 256

/* One line, made for people too: "C.late.replay initiator,other beyond". Empty: the run passed. */
struct fingerprint {
    char text[FINGERPRINT_BYTES];
};

void fingerprint_of(const struct run *run, const struct outcome *outcome,
                    struct fingerprint *fingerprint);

/* Of a judged run folder, from its verdict.json. ERROR_IO, ERROR_FORMAT. */
enum error_code fingerprint_load(const char *folder, struct fingerprint *fingerprint,
                                 struct error *error);

#endif
