/* See decisions.h. Part of libfaultline.so too: libc, and xxHash inline. */
#include "decisions/decisions.h"

#include "base/regular_file.h"
#include "trace/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The others say how a record was made, not what the rank did. */
#define FLAGS_OF_EVENTS                                                                            \
    (FLAG_CANCELLED | FLAG_NEGATIVE | FLAG_MATCHED | FLAG_INTER | FLAG_IN_PLACE | FLAG_FREED |     \
     FLAG_PERSISTENT)

/* --- the file --------------------------------------------------------------------------------- */
static uint64_t checksum_of(const struct decisions_header *header)
{
    const char *from = (const char *)&header->bytes;
    return XXH3_64bits(from, header->bytes - offsetof(struct decisions_header, bytes));
}

void decisions_seal(struct decisions_header *header)
{
    header->checksum = checksum_of(header);
}

static enum error_code check_header(const char *name, const struct decisions_header *header,
                                    size_t bytes, struct error *error)
{
    if (bytes < sizeof *header || memcmp(header->magic, DECISIONS_MAGIC, sizeof header->magic) != 0)
        return error_set(error, ERROR_FORMAT, "%s is not a file of decisions", name);
    if (header->version != DECISIONS_VERSION)
        return error_set(error, ERROR_VERSION, "%s is of version %u, this command reads %u", name,
                         header->version, DECISIONS_VERSION);
    if (header->header_bytes != sizeof *header || header->bytes != bytes)
        return error_set(error, ERROR_FORMAT, "%s is damaged: it has %zu bytes and says %llu", name,
                         bytes, (unsigned long long)header->bytes);
    if (header->checksum != checksum_of(header))
        return error_set(error, ERROR_FORMAT, "%s is damaged: its checksum is wrong", name);
    uint64_t whole = sizeof *header + (uint64_t)header->sections * sizeof(struct decision_section) +
                     (uint64_t)header->shapes * sizeof(struct decision_shape) +
                     (uint64_t)header->events * sizeof(struct decision_event) +
                     (uint64_t)header->actions * sizeof(struct decision_action) +
                     (uint64_t)header->orders * sizeof(struct decision_order) + header->texts;
    if (whole != bytes)
        return error_set(error, ERROR_FORMAT, "%s is damaged: its parts do not add up", name);
    return OK;
}

/* Sections stand in the order of incarnations and ranks, none twice: they are looked up. */
static bool is_in_order(const struct decisions *d, uint32_t i)
{
    const struct decision_section *s = &d->section[i], *before = s - 1;
    if (s->rank < 0 || s->rank >= d->header->ranks || s->incarnation < 0 ||
        s->incarnation >= d->header->incarnations)
        return false;
    return i == 0 || before->incarnation < s->incarnation ||
           (before->incarnation == s->incarnation && before->rank < s->rank);
}

static bool has_good_section(const struct decisions *d, uint32_t i)
{
    const struct decisions_header *header = d->header;
    const struct decision_section *s = &d->section[i];
    bool good = is_in_order(d, i) && (uint64_t)s->first_event + s->events <= header->events &&
                (uint64_t)s->first_action + s->actions <= header->actions &&
                (uint64_t)s->first_order + s->orders <= header->orders;
    for (uint32_t a = 0; good && a < s->actions; a++) {
        uint32_t event = d->action[s->first_action + a].event;
        good = event == DECISION_NO_EVENT || event < s->events;
    }
    for (uint32_t o = 0; good && o < s->orders; o++) {
        const struct decision_order *order = &d->order[s->first_order + o];
        good = order->event < s->events && order->rank >= 0 && order->rank < header->ranks &&
               (o == 0 || order[-1].event <= order->event);
    }
    return good;
}

static bool has_good_event(const struct decisions *d, uint32_t i)
{
    const struct decision_event *event = &d->event[i];
    return event->shape < d->header->shapes &&
           (d->shape[event->shape].kind != RECORD_STORAGE || event->request <= d->header->texts);
}

static enum error_code check_parts(const char *name, const struct decisions *d, struct error *error)
{
    const struct decisions_header *header = d->header;
    bool good = header->texts == 0 || d->text[header->texts - 1] == '\0';
    for (uint32_t i = 0; good && i < header->sections; i++)
        good = has_good_section(d, i);
    for (uint32_t i = 0; good && i < header->events; i++)
        good = has_good_event(d, i);
    return good ? OK
                : error_set(error, ERROR_FORMAT, "%s is damaged: a number in it cannot be", name);
}

enum error_code decisions_parse(const char *name, void *data, size_t bytes,
                                struct decisions *decisions, struct error *error)
{
    memset(decisions, 0, sizeof *decisions);
    struct decisions d = {.header = data};
    enum error_code code = check_header(name, d.header, bytes, error);
    if (code != OK)
        return code;
    d.section = (struct decision_section *)(d.header + 1);
    d.shape = (struct decision_shape *)(d.section + d.header->sections);
    d.event = (struct decision_event *)(d.shape + d.header->shapes);
    d.action = (struct decision_action *)(d.event + d.header->events);
    d.order = (struct decision_order *)(d.action + d.header->actions);
    d.text = (const char *)(d.order + d.header->orders);
    code = check_parts(name, &d, error);
    if (code == OK)
        *decisions = d;
    return code;
}

enum error_code decisions_open(const char *path, struct decisions *decisions, struct error *error)
{
    struct stat status;
    memset(decisions, 0, sizeof *decisions);
    int file;
    enum error_code code = regular_open(path, LINKS_REFUSED, REGULAR_ANY, &file, error);
    if (code != OK)
        return code;
    if (fstat(file, &status) != 0) {
        int reason = errno;
        close(file);
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(reason));
    }
    size_t bytes = (size_t)status.st_size;
    void *data = MAP_FAILED;
    if (bytes > 0)
        data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    int reason = errno;
    close(file);
    if (bytes == 0)
        return error_set(error, ERROR_FORMAT, "%s is empty", path);
    if (data == MAP_FAILED)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(reason));
    code = decisions_parse(path, data, bytes, decisions, error);
    if (code == OK)
        decisions->mapped = bytes;
    else
        munmap(data, bytes);
    return code;
}

const struct decision_section *decisions_find(const struct decisions *decisions, int rank,
                                              int incarnation)
{
    for (uint32_t i = 0; decisions->header != NULL && i < decisions->header->sections; i++)
        if (decisions->section[i].rank == rank && decisions->section[i].incarnation == incarnation)
            return &decisions->section[i];
    return NULL;
}

/* --- events ----------------------------------------------------------------------------------- */
/* A handle that a protocol made up is an address, never the same twice: its note is none. */
bool decision_is_event(const struct record *record)
{
    switch (atomic_load_explicit(&record->kind, memory_order_relaxed)) {
    case RECORD_CALL:
    case RECORD_SEND:
    case RECORD_RECV:
    case RECORD_COMPLETE:
    case RECORD_PROBE:
    case RECORD_COLLECTIVE:
    case RECORD_STORAGE:
        return true;
    case RECORD_NOTE:
        return record->tag != NOTE_HANDLE;
    default:
        return false;
    }
}

static bool is_storage(const struct decisions *decisions, uint32_t event)
{
    return decisions->shape[decisions->event[event].shape].kind == RECORD_STORAGE;
}

uint32_t decision_request_at(const struct decisions *decisions, uint32_t event)
{
    return is_storage(decisions, event) ? 0 : decisions->event[event].request;
}

const char *decision_file_at(const struct decisions *decisions, uint32_t event)
{
    uint32_t place = decisions->event[event].request;
    return is_storage(decisions, event) && place > 0 ? decisions->text + place - 1 : NULL;
}

/* What was asked. Files of the store have the numbers of the file system, never the same twice;
 * a file that was looked for in vain has none, and is known by its path. */
static void fill_question(const struct record *r, struct decision_shape *shape)
{
    switch (shape->kind) {
    case RECORD_SEND:
        shape->comm = r->comm;
        shape->peer = r->peer;
        shape->tag = r->tag;
        shape->bytes = r->bytes;
        break;
    case RECORD_RECV:
    case RECORD_PROBE:
        shape->comm = r->comm;
        shape->want_peer = r->want_peer;
        shape->want_tag = r->want_tag;
        break;
    case RECORD_COLLECTIVE:
        shape->comm = r->comm;
        shape->peer = r->peer;
        shape->bytes = r->bytes;
        break;
    case RECORD_NOTE:
        shape->tag = r->tag;
        shape->peer = r->peer;
        shape->comm = r->comm;
        shape->bytes = r->bytes;
        break;
    case RECORD_STORAGE:
        shape->tag = r->tag;
        if ((r->flags & FLAG_NEGATIVE) != 0)
            shape->comm = (uint32_t)(r->result_hash ^ r->result_hash >> 32);
        break;
    case RECORD_CALL:
        shape->comm = r->comm;
        break;
    default:
        break;
    }
}

static void fill_outcome(const struct record *r, struct decision_shape *shape)
{
    shape->error = r->error;
    switch (shape->kind) {
    case RECORD_COMPLETE:
        shape->comm = r->comm;
        /* fall through */
    case RECORD_RECV:
    case RECORD_PROBE:
        shape->peer = r->peer;
        shape->tag = r->tag;
        shape->bytes = r->bytes;
        break;
    case RECORD_STORAGE:
        shape->bytes = (r->flags & FLAG_NEGATIVE) == 0 ? r->bytes : 0;
        break;
    default:
        break;
    }
}

void decision_shape_of(const struct record *record, bool complete, struct decision_shape *shape)
{
    memset(shape, 0, sizeof *shape);
    complete = complete && call_role(record->call) != ROLE_ABORT; /* returns, or not, by luck */
    shape->level = record->level;
    shape->kind = atomic_load_explicit(&record->kind, memory_order_relaxed);
    shape->call = record->call;
    shape->flags = record->flags & FLAGS_OF_EVENTS;
    if (!complete) {
        shape->flags &= (uint8_t) ~(FLAG_CANCELLED | FLAG_NEGATIVE);
        shape->state = SHAPE_INCOMPLETE;
    }
    /* A replay imposes no answer of this call, so its "no" is not counted as that of a poll. */
    if (record->call == CALL_MPI_Request_get_status)
        shape->flags &= (uint8_t)~FLAG_NEGATIVE;
    fill_question(record, shape);
    if (complete && ((shape->flags & FLAG_NEGATIVE) == 0 || shape->kind == RECORD_STORAGE))
        fill_outcome(record, shape);
}

uint32_t decision_request_of(const struct record *record)
{
    return atomic_load_explicit(&record->kind, memory_order_relaxed) == RECORD_STORAGE
               ? 0
               : record->request;
}

static bool has_outcome_in_question_fields(const struct decision_shape *shape)
{
    return shape->kind == RECORD_RECV || shape->kind == RECORD_PROBE ||
           shape->kind == RECORD_COMPLETE || shape->kind == RECORD_STORAGE;
}

/* That a request was a persistent one is said of its completion when it is over. */
static uint8_t flags_of_outcome(const struct decision_shape *shape)
{
    return FLAG_CANCELLED | FLAG_NEGATIVE |
           (shape->kind == RECORD_COMPLETE ? FLAG_PERSISTENT | FLAG_FREED : 0);
}

/* Whether a file was there to be opened or had to be made is what came of it. */
static int32_t asked_of_store(const struct decision_shape *shape)
{
    switch (shape->tag) {
    case STORAGE_OPEN:
    case STORAGE_OPEN_WRITE:
    case STORAGE_OPEN_EMPTY:
    case STORAGE_CREATE:
        return STORAGE_OPEN;
    default:
        return shape->tag;
    }
}

bool decision_same_question(const struct decision_shape *a, const struct decision_shape *b)
{
    const uint8_t asked = (uint8_t)~flags_of_outcome(a);
    if (a->level != b->level || a->kind != b->kind || a->call != b->call ||
        (a->flags & asked) != (b->flags & asked) || a->want_peer != b->want_peer ||
        a->want_tag != b->want_tag)
        return false;
    if (a->kind != RECORD_COMPLETE && a->comm != b->comm)
        return false;
    if (a->kind == RECORD_STORAGE)
        return asked_of_store(a) == asked_of_store(b);
    return has_outcome_in_question_fields(a) ||
           (a->peer == b->peer && a->tag == b->tag && a->bytes == b->bytes);
}

bool decision_same_outcome(const struct decision_shape *a, const struct decision_shape *b)
{
    const uint8_t compared = flags_of_outcome(a);
    if (((a->state | b->state) & SHAPE_RESOLVED) != 0)
        return a->error == b->error;
    return a->error == b->error && (a->flags & compared) == (b->flags & compared) &&
           a->comm == b->comm && a->peer == b->peer && a->tag == b->tag && a->bytes == b->bytes;
}
