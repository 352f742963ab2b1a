/* Among ranks that wait for one another: a cycle. Part of hang_analyse; must not know: what they
 * wait for. */
#ifndef ORACLES_HISTORY_CLAIMS_HANG_CYCLE_H
#define ORACLES_HISTORY_CLAIMS_HANG_CYCLE_H

#include "oracles/oracle.h"

/* Puts the ranks of one to the front of hang->waits and says how many they are in hang->cycle. */
void hang_find_cycle(struct hang *hang);

#endif
