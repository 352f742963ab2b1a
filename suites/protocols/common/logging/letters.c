/* See letters.h. */
#include "common/logging/letters.h"

#include "common/logging/counts.h"

#include <string.h>

/* How far one of the sender's team is, in a letter. */
struct team_seen {
    struct seen seen;
    int64_t rank;
};

/* Who gets the letter depends on what those did of whom this rank has got one since the line. */
static struct bytes team_seen(const struct letter *letter)
{
    struct bytes out = {0};
    int first = team_first(self.rank), count = team_count(self.rank);
    if (team_is_everybody() || (letter->kind != LETTER_MESSAGE && letter->kind != LETTER_STAGE))
        return out;
    for (int rank = first; rank < first + count; rank++) {
        struct team_seen one = {*teams_seen(rank), rank};
        if (rank != self.rank && one.seen.line == self.line && one.seen.step > 0)
            bytes_put(&out, &one, sizeof one);
    }
    if (out.failed)
        die("out of memory for a letter");
    return out;
}

struct letter_bytes *logging_write(struct letter letter, const struct determinants *carried,
                                   const struct packet *packet)
{
    size_t count = carried ? carried->count : 0, packed = count * sizeof(struct determinant);
    size_t body = packet ? sizeof packet->head + packet->head.bytes : 0;
    struct bytes team = team_seen(&letter);
    struct letter_bytes *bytes = letter_bytes_new(sizeof letter + packed + team.size + body);
    char *at = bytes->data;
    letter.step = layer_now();
    letter.incarnation = self.incarnation[self.rank];
    letter.sender = self.rank;
    letter.determinants = (uint32_t)count;
    letter.team = (uint32_t)(team.size / sizeof(struct team_seen));
    memcpy(at, &letter, sizeof letter);
    at += sizeof letter;
    if (packed > 0)
        memcpy(at, carried->all, packed);
    at += packed;
    if (team.size > 0)
        memcpy(at, team.data, team.size);
    at += team.size;
    if (body > 0)
        memcpy(at, &packet->head, body);
    bytes_release(&team);
    return bytes;
}

void logging_count(const struct letter_bytes *bytes)
{
    struct letter letter;
    struct determinant one;
    memcpy(&letter, bytes->data, sizeof letter);
    for (uint32_t i = 0; i < letter.determinants; i++) {
        memcpy(&one, bytes->data + sizeof letter + i * sizeof one, sizeof one);
        counts.carried += one.kind != DELIVERED;
    }
}

/* --- what comes ------------------------------------------------------------------------------- */

struct determinants letters_read_determinants(const struct letter *letter, struct reader *in)
{
    size_t bytes = letter->determinants * sizeof(struct determinant);
    const void *stored = reader_take(in, bytes);
    struct determinants carried = {.count = letter->determinants};
    if (!stored || bytes == 0)
        return (struct determinants){0};
    carried.all = memory(carried.count, sizeof *carried.all);
    memcpy(carried.all, stored, bytes);
    return carried;
}

struct packet *letters_read_packet(struct reader *in)
{
    struct packet_head head;
    const void *stored = reader_take(in, sizeof head);
    if (!stored)
        die("a letter without a packet");
    memcpy(&head, stored, sizeof head);
    const void *data = reader_take(in, head.bytes);
    if (!data)
        die("a packet of a letter is cut off");
    struct packet *packet = packet_new(head.bytes);
    packet->head = head;
    memcpy(packet->data, data, head.bytes);
    return packet;
}

void letters_see(const struct letter *letter)
{
    seen_add(teams_seen(letter->sender), letter->line, letter->step);
}

struct reader letters_read_team(const struct letter *letter, struct reader *in)
{
    size_t bytes = letter->team * sizeof(struct team_seen);
    struct reader team = {.next = reader_take(in, bytes), .left = bytes};
    if (!team.next)
        die("a letter is cut off");
    return team;
}

void letters_see_team(struct reader team)
{
    struct team_seen one;
    while (team.left > 0) {
        memcpy(&one, reader_take(&team, sizeof one), sizeof one);
        seen_add_all(teams_seen((int)one.rank), &one.seen);
    }
}
