/* Which communicator goes on as which other. A newcomer that takes over a dead rank is no member of
 * the communicators that were made before it came. Where ranks live on and do not roll back, it
 * does again on a communicator made since what the dead rank had done on an older one, and all go
 * on there: the new one *succeeds* the old one. For messages and collectives the two are one.
 *
 * Seen in the traces: the newcomer told `restored`; the two have the same ranks as members; the
 * dead rank used the old one, and the newcomer does not; the newcomer uses the new one from
 * `restored` on, and nobody used it before in the rank's place. Where there are several, the first
 * made succeeds the first made, if they are as many. A communicator whose identity a protocol told
 * has one id in all lives: it succeeds none, and none succeeds it. Must not know: how messages are
 * matched. */
#ifndef ORACLES_READING_SUCCESSION_H
#define ORACLES_READING_SUCCESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lives;

struct succession {
    size_t count, room;
    struct successor {
        uint32_t comm;
        uint32_t first; /* the oldest that it goes on for */
    } * successor;      /* owned */
    bool *replaced;     /* by rank: a newcomer in its place uses a successor; owned */
    int unclear;        /* a rank of which it is not clear which communicator succeeds which; -1 */
};

/* Of the application. Reads the traces of newcomers and of those whose place they took. */
void succession_read(const struct lives *lives, struct succession *succession);
void succession_release(struct succession *succession);

/* The oldest communicator that `comm` goes on for; itself if it succeeds none. */
uint32_t succession_first(const struct succession *succession, uint32_t comm);

/* The same for messages between two ranks: those between two that live on are of the communicator
 * that they name. */
uint32_t succession_between(const struct succession *succession, uint32_t comm, int source,
                            int destination);

#endif
