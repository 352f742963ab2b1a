/* See logging.h. */
#include "common/logging/logging.h"

#include "common/logging/channels.h"
#include "common/logging/counts.h"
#include "common/logging/letters.h"
#include "common/logging/recovery.h"
#include "common/logging/trees.h"
#include "common/messages/comms.h"
#include "common/messages/packet.h"
#include "faultline.h"

#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_PIECE_BYTES (32 << 20) /* the most that malloc takes from the heap: mallopt(3) */
#define HEAP_FREE_BYTES (1 << 30)   /* the heap keeps so much that is free */

/* A message in the log of its sender. */
struct logged {
    struct logged *next;
    uint64_t line;
    int to;
    uint64_t ssn;
    bool noted; /* Faultline knows of it */
    struct letter_bytes *bytes;
};

static struct {
    struct logged *first, *last;    /* msgLog, in the order of sending */
    struct determinants own;        /* detBuf */
    struct determinants others;     /* detLog */
    struct determinants *stored;    /* by rank: this rank's own that it was the first to store */
    uint64_t *came;                 /* by rank: messages, those that wait here too */
    struct packet_list waiting;     /* they have come and not been taken in */
    struct letter_bytes **gathered; /* they have come and not been looked at */
    size_t gathered_count;
} logs;

void logging_open(void)
{
    /* Each line frees the log, and the messages after it fill it again. If free() gave the pages
     * back, the kernel would have to clear new ones, which costs several times the copy of a large
     * message. */
    mallopt(M_MMAP_THRESHOLD, HEAP_PIECE_BYTES);
    mallopt(M_TRIM_THRESHOLD, HEAP_FREE_BYTES);
    logs.came = memory((size_t)self.ranks, sizeof *logs.came);
    logs.stored = memory((size_t)self.ranks, sizeof *logs.stored);
}

/* --- notes ------------------------------------------------------------------------------------ */

void logging_note(int kind, uint64_t comm, int sender, int receiver, uint64_t ssn, uint64_t rsn)
{
    if (comm <= COMM_ID_WORLD)
        faultline_number_told(kind, comm ? (uint64_t)MPI_COMM_WORLD : 0, sender, receiver, ssn,
                              rsn);
    else
        faultline_numbered_of(kind, comm, sender, receiver, ssn, rsn);
}

static void note_determinant(int kind, const struct determinant *one)
{
    logging_note(kind, one->comm, one->sender, one->receiver, one->ssn, one->rsn);
}

/* --- sending ---------------------------------------------------------------------------------- */

const struct determinants *logging_own(void)
{
    return &logs.own;
}

void logging_came(struct packet *packet)
{
    packet_append(&logs.waiting, packet);
}

/* The message and its number; `note` is whether its payload is kept. True: Faultline knows of it.
 */
static bool note_message(const struct packet *packet, int to,
                         void (*note)(uint64_t ssn, uint64_t comm, int peer, int tag,
                                      const void *data, size_t bytes))
{
    struct layer_message noted;
    if (!layer_describe_sent(packet, to, &noted))
        return false;
    note(packet->head.number, noted.comm, noted.peer, noted.tag, noted.data, noted.bytes);
    return true;
}

static void keep(struct letter_bytes *bytes, int to, const struct packet *packet)
{
    struct logged *one = memory(1, sizeof *one);
    *one = (struct logged){.line = self.line, .to = to, .bytes = letter_bytes_hold(bytes)};
    one->ssn = packet->head.number;
    counts.logged += sizeof packet->head + packet->head.bytes;
    *(logs.last ? &logs.last->next : &logs.first) = one;
    logs.last = one;
    one->noted = note_message(packet, to, faultline_kept);
}

/* --- pessimistic ------------------------------------------------------------------------------ */

/* Who stores the determinants of this rank. */
static int keeper(void)
{
    return (self.rank + 1) % self.ranks;
}

static void send_to_keeper(const struct determinants *determinants)
{
    struct letter letter = {.kind = LETTER_SAFE, .line = self.line};
    struct letter_bytes *bytes = logging_write(letter, determinants, NULL);
    logging_count(bytes);
    channels_send(bytes, keeper(), LETTER_SAFE);
    letter_bytes_drop(bytes);
}

static void look(void);

/* Nothing leaves this rank before the determinants of all that happened here are stored. If the
 * keeper dies meanwhile, the one after it is sent them by logging_resend. */
static void make_safe(void)
{
    if (!this_logger.pessimistic || logs.own.count == 0 || self.ranks == 1)
        return;
    send_to_keeper(&logs.own);
    while (logs.own.count > 0) {
        look();
        sched_yield();
    }
}

/* --- sending on ------------------------------------------------------------------------------- */

/* [CM] lines 1 to 9. What stays in the team is sent again when the team does its work again. */
void logging_send(struct packet *packet, int to)
{
    if (!self.begun)
        refuse("a message before checkpoint_restore", "messages after it");
    make_safe();
    struct letter letter = {.kind = LETTER_MESSAGE, .line = self.line};
    struct letter_bytes *bytes = logging_write(letter, &logs.own, packet);
    counts.messages++;
    if (team_is_mine(to))
        note_message(packet, to, faultline_unkept);
    else
        keep(bytes, to, packet);
    packet_drop(packet);
    logging_count(bytes);
    channels_send(bytes, to, LETTER_MESSAGE);
    letter_bytes_drop(bytes);
}

/* It carries determinants as well: what its sender did before it is not to be done in another
 * way. They are not acknowledged, since it is in no log. */
void logging_send_stage(int to, uint64_t line, unsigned stage)
{
    struct letter letter = {.kind = LETTER_STAGE, .line = line, .stage = stage};
    make_safe();
    struct letter_bytes *bytes = logging_write(letter, &logs.own, NULL);
    logging_count(bytes);
    channels_send(bytes, to, LETTER_STAGE);
    letter_bytes_drop(bytes);
}

void logging_send_stage_to_all(uint64_t line, unsigned stage)
{
    for (int i = 1; i < self.ranks; i++)
        logging_send_stage((self.rank + i) % self.ranks, line, stage);
}

/* [CM] line 16. */
static void send_stored(const struct determinants *stored, int to)
{
    struct letter letter = {.kind = LETTER_STORED, .line = self.line};
    struct letter_bytes *bytes = logging_write(letter, stored, NULL);
    channels_send(bytes, to, LETTER_STORED);
    letter_bytes_drop(bytes);
}

/* --- what comes ------------------------------------------------------------------------------- */

static bool is_not_in(const struct determinant *one, const void *set)
{
    return !determinants_have(set, one);
}

/* [CM] lines 15 and 16. This rank's team goes back together. So a determinant that comes from
 * inside the team is not acknowledged before another team has it: it goes along with what this rank
 * sends, and is acknowledged when it comes again. */
static void store(struct determinants *carried, int from, bool acknowledged)
{
    for (size_t i = 0; i < carried->count; i++) {
        const struct determinant *one = &carried->all[i];
        if (one->receiver == self.rank || determinants_have(&logs.others, one))
            continue;
        determinants_add(&logs.others, one);
        if (team_is_mine(from))
            determinants_add(&logs.own, one);
        if (one->kind == DELIVERED)
            note_determinant(FAULTLINE_HELD, one);
    }
    if (team_is_mine(from))
        determinants_filter(carried, is_not_in, &logs.own);
    if (acknowledged && carried->count > 0)
        send_stored(carried, from);
}

/* [CM] lines 19 to 21. */
static void note_stored(const struct determinants *carried, int by)
{
    for (size_t i = 0; i < carried->count; i++)
        if (determinants_have(&logs.own, &carried->all[i]))
            determinants_add(&logs.stored[by], &carried->all[i]);
    determinants_filter(&logs.own, is_not_in, carried);
}

/* The process of rank `by` has died. What it was the first to store goes out again with all that
 * this rank sends, until somebody has stored it: the new process gets the letters in the log, and
 * not all determinants had come with these. */
static void unstore(int by)
{
    struct determinants *lost = &logs.stored[by];
    for (size_t i = 0; i < lost->count; i++)
        determinants_add(&logs.own, &lost->all[i]);
    determinants_release(lost);
}

/* [CM] lines 11 to 13: false: it is of a process that has died, and the one after it sends it
 * again, or it is a duplicate. */
static bool is_new(const struct packet *packet, const struct letter *letter)
{
    int from = letter->sender;
    uint64_t number = packet->head.number;
    bool old = letter->incarnation < self.incarnation[from];
    if (!old && number > logs.came[from])
        die("message %" PRIu64 " of rank %d came, %" PRIu64 " was next", number, from,
            logs.came[from]);
    bool is = !old && number == logs.came[from];
    logs.came[from] += is;
    if (packet->head.kind == PACKET_MESSAGE)
        (is ? faultline_taken : faultline_discarded)(0, from, number, letter->incarnation);
    return is;
}

static void message_comes(const struct letter *letter, struct determinants *carried,
                          struct reader *in)
{
    struct reader team = letters_read_team(letter, in);
    struct packet *packet = letters_read_packet(in);
    if (!is_new(packet, letter)) {
        packet_drop(packet);
        return;
    }
    store(carried, letter->sender, true);
    letters_see(letter);
    letters_see_team(team);
    packet_append(&logs.waiting, packet);
}

/* In its turn, as a packet of the protocol's own. */
static void stage_comes(const struct letter *letter, struct determinants *carried,
                        struct reader *in)
{
    letters_see_team(letters_read_team(letter, in));
    struct packet *packet = packet_new(sizeof letter->stage);
    packet->head.kind = PACKET_CONTROL;
    packet->head.from = letter->sender;
    packet->head.number = letter->line;
    memcpy(packet->data, &letter->stage, sizeof letter->stage);
    store(carried, letter->sender, false);
    packet_append(&logs.waiting, packet);
}

static void tree_letter_comes(const struct letter *letter, struct determinants *carried,
                              struct reader *in)
{
    struct packet *packet = letter->kind == LETTER_DETERMINANTS ? NULL : letters_read_packet(in);
    bool seen = letter->kind == LETTER_DETERMINANTS || letter->kind == LETTER_CONTRIBUTION ||
                (letter->kind == LETTER_MULTICAST && packet->head.from == letter->sender);
    if (letter->incarnation < self.incarnation[letter->sender]) {
        trees_stale(letter, packet);
        return;
    }
    store(carried, letter->sender, true);
    if (seen)
        letters_see(letter);
    trees_comes(letter, packet);
}

static void letter_comes(const struct letter_bytes *bytes)
{
    struct reader in = {.next = bytes->data, .left = bytes->size};
    struct letter letter;
    memcpy(&letter, reader_take(&in, sizeof letter), sizeof letter);
    struct determinants carried = letters_read_determinants(&letter, &in);
    if (letter.kind == LETTER_MESSAGE)
        message_comes(&letter, &carried, &in);
    else if (letter.kind >= LETTER_MULTICAST)
        tree_letter_comes(&letter, &carried, &in);
    else if (letter.incarnation < self.incarnation[letter.sender])
        ; /* the process after it says so again */
    else if (letter.kind == LETTER_STAGE)
        stage_comes(&letter, &carried, &in);
    else if (letter.kind == LETTER_SAFE)
        store(&carried, letter.sender, true);
    else if (letter.kind == LETTER_STORED)
        note_stored(&carried, letter.sender);
    determinants_release(&carried);
}

/* Whatever is here by now. */
static void look(void)
{
    struct letter_bytes *bytes;
    recovery_look();
    channels_look_after_sent();
    trees_catch_up();
    while ((bytes = channels_take())) {
        letter_comes(bytes);
        letter_bytes_drop(bytes);
    }
}

/* Before checkpoint_restore nothing comes: a step that the program makes there is none of those
 * that are relived, and what it took in would be missing afterwards. */
struct packet *logging_take(void)
{
    if (!self.begun)
        return NULL;
    if (!logs.waiting.first)
        look();
    return packet_take_first(&logs.waiting);
}

static uint64_t tree_of_packet(const struct packet *packet)
{
    return packet_is_of_tree(&packet->head) ? packet->head.comm : 0;
}

/* [CM] lines 13 and 14. */
void logging_happens(uint64_t step, const struct packet *packet, const void *choice, size_t bytes)
{
    struct determinant one = {.line = self.line,
                              .step = step,
                              .rsn = ++self.rsn,
                              .ssn = packet ? packet->head.number : bytes,
                              .comm = packet ? tree_of_packet(packet) : 0,
                              .sender = packet ? packet->head.from : NOBODY,
                              .receiver = self.rank,
                              .kind = packet ? TAKEN : CHOSEN};
    if (!packet && bytes > CHOICE_MOST)
        refuse("a choice of more than 16 bytes", "smaller ones");
    if (!packet)
        memcpy(one.choice, choice, bytes);
    if (team_is_everybody())
        return;
    determinants_add(&logs.own, &one);
    counts.determinants++;
}

void logging_delivers(const struct packet *packet)
{
    struct determinant one = {.line = self.line,
                              .step = layer_now(),
                              .rsn = ++self.delivered,
                              .ssn = packet->head.number,
                              .comm = tree_of_packet(packet),
                              .sender = packet->head.from,
                              .receiver = self.rank,
                              .kind = DELIVERED};
    if (!team_is_everybody())
        determinants_add(&logs.own, &one);
    trees_catch_up();
    note_determinant(FAULTLINE_HELD, &one);
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_since(const struct determinant *one, const void *line)
{
    return one->line >= *(const uint64_t *)line;
}

static bool stays(const struct determinant *one, const void *line)
{
    bool is = is_since(one, line);
    if (!is && one->kind == DELIVERED)
        note_determinant(FAULTLINE_LET_GO, one);
    return is;
}

static void drop_first(void)
{
    struct logged *one = logs.first;
    logs.first = one->next;
    if (!logs.first)
        logs.last = NULL;
    letter_bytes_drop(one->bytes);
    free(one);
}

void logging_drop_before(uint64_t line)
{
    determinants_filter(&logs.own, is_since, &line);
    determinants_filter(&logs.others, stays, &line);
    for (int rank = 0; rank < self.ranks; rank++)
        determinants_filter(&logs.stored[rank], is_since, &line);
    while (logs.first && logs.first->line < line) {
        if (logs.first->noted)
            faultline_dropped(0, logs.first->to, logs.first->ssn);
        drop_first();
    }
    trees_drop_before(line);
}

void logging_close(void)
{
    while (logs.first)
        drop_first();
    determinants_release(&logs.own);
    determinants_release(&logs.others);
    for (int rank = 0; rank < self.ranks; rank++)
        determinants_release(&logs.stored[rank]);
    free(logs.stored);
    packet_list_clear(&logs.waiting);
    free(logs.came);
}

/* --- recovery --------------------------------------------------------------------------------- */

struct known logging_known(int rank)
{
    return (struct known){*teams_seen(rank), &logs.others};
}

void logging_resend(int to)
{
    for (const struct logged *one = logs.first; one; one = one->next)
        if (one->to == to)
            channels_send(one->bytes, to, LETTER_MESSAGE);
    unstore(to);
    trees_resend(to);
    if (this_logger.pessimistic && to == keeper() && logs.own.count > 0)
        send_to_keeper(&logs.own);
    logging_announce_resent(to);
}

void logging_announce_resent(int to)
{
    struct letter letter = {.kind = LETTER_RESENT, .line = self.line};
    struct letter_bytes *bytes = logging_write(letter, NULL, NULL);
    channels_send(bytes, to, LETTER_RESENT);
    letter_bytes_drop(bytes);
}

/* *oldest: of the lines that this rank's team says. */
static bool reads_resent(const struct letter_bytes *bytes, uint64_t *oldest)
{
    struct letter letter;
    memcpy(&letter, bytes->data, sizeof letter);
    bool resent = letter.kind == LETTER_RESENT;
    if (resent && team_is_mine(letter.sender) && letter.line < *oldest)
        *oldest = letter.line;
    return resent;
}

uint64_t logging_gather(void)
{
    int missing = self.ranks - 1;
    uint64_t oldest = self.line;
    while (missing > 0) {
        struct letter_bytes *bytes = channels_take();
        recovery_look();
        channels_look_after_sent();
        if (!bytes) {
            sched_yield();
            continue;
        }
        missing -= reads_resent(bytes, &oldest);
        logs.gathered = larger(logs.gathered, (logs.gathered_count + 1) * sizeof *logs.gathered);
        logs.gathered[logs.gathered_count++] = bytes;
    }
    return oldest;
}

void logging_restart(void)
{
    for (int rank = 0; rank < self.ranks; rank++)
        logs.came[rank] = layer_taken(rank);
    for (size_t i = 0; i < logs.gathered_count; i++) {
        letter_comes(logs.gathered[i]);
        letter_bytes_drop(logs.gathered[i]);
    }
    free(logs.gathered);
    logs.gathered = NULL;
    logs.gathered_count = 0;
}

static bool may_be(const struct packet *packet, const struct determinant *determinant)
{
    const struct packet_head *head = &packet->head;
    bool of_tree = packet_is_of_tree(head);
    if (head->from != determinant->sender || head->kind >= PACKET_CONTROL ||
        of_tree != (determinant->comm != 0))
        return false;
    return !of_tree || (head->comm == determinant->comm && head->number == determinant->ssn);
}

/* Of those that wait here; NULL: it is not among them. Those of one rank are in order, but for
 * those that come along trees. */
static struct packet *take_waiting(const struct determinant *determinant)
{
    struct packet_list rest = {0};
    struct packet *found = NULL, *one;
    while ((one = packet_take_first(&logs.waiting)))
        if (!found && may_be(one, determinant))
            found = one;
        else
            packet_append(&rest, one);
    logs.waiting = rest;
    if (found && found->head.number != determinant->ssn)
        die("message %" PRIu64 " of rank %d is missing", determinant->ssn, determinant->sender);
    return found;
}

struct packet *logging_find(const struct determinant *determinant)
{
    struct packet *found = take_waiting(determinant);
    if (!found) {
        look();
        found = take_waiting(determinant);
    }
    return found;
}
