/* Each violation that the oracles report is derived again from its witness (verify/witness.h).
 * What cannot be is an error of ours, and no violation. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "oracles/oracle.h"

/* The findings, results and verdict of `judgement` are changed where a witness is refuted: a
 * harness-error then. */
void verify_findings(const struct trace_set *traces, const struct run_facts *facts,
                     struct judgement *judgement);

#endif
