/* Of several violations of one run, which came about first, and which may have come of it. */
#ifndef VERDICT_HEADLINE_H
#define VERDICT_HEADLINE_H

#include "oracles/oracle.h"
#include "trace/reader.h"

/* The violation before whose deciding event that of no other happens comes first in
 * judgement->findings; the others keep their order, and those whose event happens after its one are
 * marked `follows`. Before: earlier on the same rank, or linked by messages and collectives of the
 * wire, or in an incarnation before. Of several that have none before them the claims of protocols
 * come before family H, which says what became of the program, and then the order of claims.def.
 * What is no violation stays after. `expected` (a claim or family, or NULL): a violation of it is
 * not put first where there is another one. Where there is no room for the links (TMPDIR, memory)
 * only the order on each rank and of incarnations counts. */
void headline_choose(const struct trace_set *traces, const char *expected,
                     struct judgement *judgement);

/* Finding `number` comes to stand first; if it did not, none is said to follow from it. */
void headline_put_first(struct judgement *judgement, size_t number);

#endif
