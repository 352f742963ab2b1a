/* The beginning, the end and the recovery of a rank: see logger.h. */
#include "common/logging/logger.h"

#include "checkpoint.h"
#include "common/logging/channels.h"
#include "common/logging/counts.h"
#include "common/logging/gatherings.h"
#include "common/logging/line.h"
#include "common/logging/logging.h"
#include "common/logging/recovery.h"
#include "common/logging/teams.h"
#include "common/logging/trees.h"
#include "common/newcomers/newcomers.h"

#include <stdlib.h>

struct logger self;

void phase(const char *name)
{
    line_phase(&self.store, name);
}

/* From here on the process is what the one before it can have been seen to be. */
static void lives_on(void)
{
    phase("lives-on");
}

EXPORTED int protocol_restore(void)
{
    self.begun = true;
    if (!recovery_is_newcomer() && team_is_everybody())
        line_restart();
    else if (!recovery_is_newcomer())
        layer_image();
    else if (line_restore())
        line_await_others();
    return (int)self.line;
}

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must(state_register(layer_state(), name, data, bytes, &error), &error);
}

EXPORTED int protocol_potential_checkpoint(void)
{
    return line_potential_checkpoint() ? (int)self.line : 0;
}

EXPORTED void protocol_decision(const char *name, void *data, size_t bytes)
{
    layer_decision(name, data, bytes);
}

void protocol_start(void)
{
    struct error error;
    static struct layer_carrier carrier = {.send = logging_send,
                                           .take = logging_take,
                                           .happens = logging_happens,
                                           .delivers = logging_delivers,
                                           .follow = recovery_follow};
    static const struct layer_protocol for_layer = {.carrier = &carrier,
                                                    .control = line_control,
                                                    .lives_on = lives_on,
                                                    .everybody = newcomers_everybody};
    if (this_logger.trees) {
        carrier.multicast = trees_multicast;
        carrier.contribute = gatherings_contribute;
        carrier.reduced = gatherings_reduced;
    }
    self.store.protocol = this_protocol.name;
    recovery_open();
    if (self.rank == 0 && !recovery_is_newcomer())
        faultline_promised(1);
    self.every = (unsigned)number_setting(this_logger.every, 1, EVERY_MAX, EVERY_DEFAULT);
    logging_open();
    line_open();
    layer_open(&for_layer, self.rank, self.ranks, NULL);
    must(line_store_open(&self.store, this_protocol.name, self.rank, self.ranks, &error), &error);
}

EXPORTED int MPI_Finalize(void)
{
    if (!self.begun)
        refuse("a program that never calls checkpoint_restore", "one that calls it");
    phase("before-finish");
    line_finish();
    phase("after-finish");
    trees_close(); /* it holds communicators of the layer */
    layer_close(NULL);
    counts_write(self.rank);
    channels_close();
    recovery_close();
    logging_close();
    line_close();
    return PMPI_Finalize();
}
