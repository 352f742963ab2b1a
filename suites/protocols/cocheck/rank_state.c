/* See rank_state.h. */
#include "cocheck/rank_state.h"

#include "common/messages/layer.h"

void rank_state_put(struct bytes *out)
{
    bytes_put_number(out, self.line);
    bytes_put_number(out, self.kept);
    bytes_put_number(out, self.passed);
    layer_save(out);
    if (out->failed)
        die("out of memory for the state of rank %d", self.rank);
}

void rank_state_take(const void *data, size_t bytes, bool alone)
{
    struct reader in = {.next = data, .left = bytes};
    self.line = reader_number(&in);
    self.kept = reader_number(&in);
    self.passed = (unsigned)reader_number(&in);
    if (in.failed)
        die("the state of rank %d is damaged: it ends too early", self.rank);
    layer_read(in.next, in.left, alone);
}
