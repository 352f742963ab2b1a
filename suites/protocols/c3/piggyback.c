/* See piggyback.h. */
#include "c3/piggyback.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Form "epoch": two words, the id and epoch * 2 + amLogging.
 * Form "color": one word, id * 4 + colour * 2 + amLogging. */
static bool color_form;

void piggyback_choose(void)
{
    const char *text = getenv("C3_PIGGYBACK");
    if (!text || !*text || strcmp(text, "epoch") == 0)
        color_form = false;
    else if (strcmp(text, "color") == 0)
        color_form = true;
    else
        die("C3_PIGGYBACK=%s; accepted: epoch, color", text);
}

size_t piggyback_bytes(void)
{
    return color_form ? sizeof(uint64_t) : 2 * sizeof(uint64_t);
}

void piggyback_write(void *header, uint64_t id)
{
    uint64_t words[2] = {id, self.epoch << 1 | self.logging};
    if (color_form)
        words[0] = id << 2 | (self.epoch & 1) << 1 | self.logging;
    memcpy(header, words, piggyback_bytes());
}

/* Epochs differ by at most one, so another colour means the epoch before or the one to come; while
 * this rank logs nobody can be an epoch ahead, while it does not nobody can be one behind. */
static struct piggyback read_color(uint64_t word)
{
    bool same = (word >> 1 & 1) == (self.epoch & 1);
    return (struct piggyback){
        .crossing = same           ? CROSSING_INTRA
                    : self.logging ? CROSSING_LATE
                                   : CROSSING_EARLY,
        .sender_stopped = same && !(word & 1),
        .id = word >> 2,
    };
}

struct piggyback piggyback_read(const void *header, int source)
{
    uint64_t words[2];
    memcpy(words, header, piggyback_bytes());
    if (color_form)
        return read_color(words[0]);
    uint64_t epoch = words[1] >> 1;
    if (epoch + 1 < self.epoch || epoch > self.epoch + 1 || (epoch < self.epoch && !self.logging))
        die("a message that rank %d sent in epoch %" PRIu64 " is received in epoch %" PRIu64
            "%s; no message may cross checkpoint_restore",
            source, epoch, self.epoch, self.logging ? "" : ", when all of its line are in");
    return (struct piggyback){
        .crossing = epoch < self.epoch   ? CROSSING_LATE
                    : epoch > self.epoch ? CROSSING_EARLY
                                         : CROSSING_INTRA,
        .sender_stopped = epoch == self.epoch && !(words[1] & 1),
        .id = words[0],
    };
}
