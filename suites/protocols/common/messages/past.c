/* See past.h. */
#include "common/messages/past.h"

#include "common/messages/layer.h"

#include <stdlib.h>

#define FIRST_ROOM 64

struct moment *past_add(struct past *past, uint64_t step)
{
    if (past->count == past->room) {
        past->room = past->room ? 2 * past->room : FIRST_ROOM;
        past->moment = larger(past->moment, past->room * sizeof *past->moment);
    }
    struct moment *moment = &past->moment[past->count++];
    *moment = (struct moment){.step = step};
    return moment;
}

const struct moment *past_next(const struct past *past)
{
    return past->next < past->count ? &past->moment[past->next] : NULL;
}

void past_clear(struct past *past)
{
    for (size_t i = 0; i < past->count; i++) {
        packet_drop(past->moment[i].packet);
        bytes_release(&past->moment[i].choice);
    }
    past->count = 0;
    past->next = 0;
}

void past_write(const struct past *past, struct bytes *out)
{
    for (size_t i = 0; i < past->count; i++) {
        const struct moment *moment = &past->moment[i];
        bytes_put_number(out, moment->step);
        bytes_put_number(out, moment->round);
        bytes_put_number(out, moment->packet != NULL);
        if (moment->packet)
            packet_write(moment->packet, out);
        else
            bytes_put_row(out, moment->choice.data, moment->choice.size);
    }
}

static void read_one(struct past *past, struct reader *in)
{
    struct moment *moment = past_add(past, reader_number(in));
    moment->round = reader_number(in);
    if (reader_number(in)) {
        moment->packet = packet_read(in);
        in->failed |= moment->packet == NULL;
    } else {
        struct reader row = reader_row(in);
        bytes_put(&moment->choice, row.next, row.left);
    }
}

void past_read(struct past *past, struct reader in)
{
    past_clear(past);
    while (in.left > 0 && !in.failed)
        read_one(past, &in);
    if (in.failed)
        die("the saved past is damaged");
}
