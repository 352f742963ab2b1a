/* The parts of I.legal. */
#ifndef ORACLES_SELF_I_LEGAL_H
#define ORACLES_SELF_I_LEGAL_H

#include "oracles/judging.h"

/* What one rank did with the messages that the plan made it hold, and with the choices it was told.
 */
void legal_steering(struct judging *judging, const struct trace *trace);

#endif
