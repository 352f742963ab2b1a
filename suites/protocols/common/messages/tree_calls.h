/* Collective calls along trees, where the protocol carries multicasts and reductions. Must not
 * know: what becomes of a contribution on its way, the wire. */
#ifndef COMMON_MESSAGES_TREE_CALLS_H
#define COMMON_MESSAGES_TREE_CALLS_H

#include "common/messages/exchange.h"
#include "common/messages/layer.h"

/* A part of a call, between exchange_begin and exchange_end. The root gives `payload`, all others
 * get it there. */
void tree_multicast(struct exchange *call, int root, struct payload payload);

/* The whole of a call. All give `mine`; what comes out goes to the places one after the other, at
 * the root, or if `to_all` at everybody. `place` is a row that the call frees; NULL where nothing
 * comes out. */
void tree_reduce(struct exchange *call, int root, bool to_all, struct payload mine,
                 const struct layer_combining *how, struct payload *place, int places);

#endif
