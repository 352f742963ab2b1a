/* One call on the store: its record, what the rules make of it, its fault. See storage.h. Must not
 * know: which function of libc it is. */
#include "injectors/storage/storage.h"

#include "injectors/record/hash.h"
#include "injectors/record/runtime.h"
#include "injectors/record/schedule.h"
#include "injectors/rules/injection.h"
#include "injectors/rules/rules.h"
#include "injectors/storage/storage_real.h"
#include "store/journal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#define PATH_RECORDS 4 /* of text, after a record; a longer path is cut */
#define PATH_RECORDED (PATH_RECORDS * RECORD_TEXT_BYTES)
#define REPORT_BYTES 512
#define TURN_MOST_BYTES 65536 /* of a call that others wait for */

int storage_watching;
__thread int storage_depth __attribute__((tls_model("initial-exec")));

static int own_rank;
static struct board *own_board;

/* --- beginning and end ----------------------------------------------------------------------- */
static bool is_storage(enum plan_event event)
{
    return event >= EVENT_OPEN && event <= EVENT_UNLINK;
}

static int wanted_by(const struct plan *plan)
{
    const char *asked = getenv(STORAGE_ENVIRONMENT);
    bool all = asked != NULL && strcmp(asked, "1") == 0;
    bool folded = asked != NULL && strcmp(asked, "2") == 0;
    int wanted = all || folded ? STORAGE_EVENTS : 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        bool counts = is_storage(step->when.event) || is_storage(step->release.event);
        folded &= !counts;
        if (counts)
            wanted |= STORAGE_EVENTS;
        if (step->lose == LOSE_RANK || step->lose == LOSE_NODE)
            wanted |= STORAGE_EVENTS | STORAGE_JOURNAL;
    }
    return folded ? wanted | STORAGE_FOLDED : wanted;
}

/* Links resolved as far as there is something: a protocol may yet have to make its folder. */
static void find_root(const char *path, char root[PATH_MAX])
{
    char front[PATH_MAX];
    if (realpath(path, root) != NULL)
        return;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    memcpy(front, path, start);
    strcpy(front + start, start == 0 ? "." : "");
    if (start == length)
        return;
    find_root(front, root);
    size_t used = strlen(root);
    if (used > 0 && used + length - start + 2 <= PATH_MAX) {
        root[used] = '/';
        memcpy(root + used + 1, path + start, length - start);
        root[used + 1 + length - start] = '\0';
    }
}

void storage_open(const char *run_folder, const struct plan *plan, struct board *board, int rank)
{
    int wanted = wanted_by(plan);
    const char *store = getenv("FAULTLINE_STORE");
    storage_resolve();
    if (wanted == 0)
        return;
    own_rank = rank;
    own_board = board;
    if (store == NULL || *store == '\0' || strlen(store) >= PATH_MAX) {
        storage_report(0,
                       "FAULTLINE_STORE does not say where the checkpoint store is: calls on its "
                       "files are not seen",
                       "");
        return;
    }
    find_root(store, storage_root);
    if (wanted & STORAGE_JOURNAL && !storage_journal_open(run_folder, rank))
        wanted &= ~STORAGE_JOURNAL;
    storage_watching = wanted;
}

void storage_close(void)
{
    storage_watching = 0;
}

void storage_forked(void)
{
    storage_watching &= STORAGE_JOURNAL;
}

void storage_report(unsigned number, const char *what, const char *path)
{
    static _Atomic uint32_t said;
    char text[REPORT_BYTES];
    if (atomic_fetch_or(&said, 1u << number % 32) & 1u << number % 32)
        return;
    int length = snprintf(text, sizeof text, "faultline: rank %d: %.150s%s%.200s\n", own_rank, what,
                          *path != '\0' ? ": " : "", path);
    ssize_t written = REAL(write)(STDERR_FILENO, text, (size_t)length);
    (void)written; /* nobody else could be told */
}

/* --- the record ------------------------------------------------------------------------------ */
static uint32_t number_of(uint64_t inode)
{
    if (schedule != NULL && inode != 0)
        return schedule->file(inode);
    return (uint32_t)(inode ^ inode >> 32);
}

static struct record *reserve(const char *path)
{
    return record_reserve_named(LEVEL_SELF, RECORD_STORAGE, path, strnlen(path, PATH_RECORDED));
}

/* As it is before the call. */
static void describe(struct record *r, unsigned kind, const struct storage_file *file,
                     uint64_t bytes, uint64_t offset)
{
    r->enter = clock_ticks();
    r->tag = (int32_t)kind;
    r->request = number_of(file->inode);
    r->comm = number_of(file->folder);
    r->bytes = bytes;
    r->result_hash = offset;
    r->hash = STORAGE_NOT_BEGUN;
}

/* This run follows another one, which says when the calls have their turn. */
static bool imposes(void)
{
    return watcher != NULL && watcher->store_turn != NULL;
}

/* --- turns ----------------------------------------------------------------------------------- */
/* What may take long has no turn: its times alone say what it came before and after. */
static bool is_short(unsigned kind, uint64_t bytes)
{
    switch (kind) {
    case STORAGE_WRITE_SYNC:
    case STORAGE_SYNC:
    case STORAGE_SYNC_RANGE:
    case STORAGE_SYNC_ALL:
        return false;
    case STORAGE_WRITE:
    case STORAGE_READ:
        return bytes <= TURN_MOST_BYTES;
    default:
        return true;
    }
}

static void begin_turn(struct storage_event *call, struct record *r)
{
    call->holds = board_enter_store(own_board);
    r->hash = clock_ticks();
}

/* Returns when the call was over. */
static uint64_t end_turn(struct storage_event *call)
{
    uint64_t ticks = clock_ticks();
    if (call->holds)
        board_leave_store(own_board);
    call->holds = false;
    return ticks;
}

static void take_turn(struct storage_event *call)
{
    struct record *r = call->record;
    if (r == NULL || imposes())
        return;
    if (is_short((unsigned)r->tag, r->bytes))
        begin_turn(call, r);
    else
        r->hash = clock_ticks();
}

/* --- regular calls --------------------------------------------------------------------------- */
/* What the plan wants of this call; what it cannot be made to do is left to a later one. */
static void take_fault(struct storage_event *call, enum storage_call kind, uint64_t bytes)
{
    uint32_t steered = rules_take();
    if (steered == 0)
        return;
    const struct plan_step *step = rules_step(steered - 1);
    const struct injection *injection = injection_of(step);
    if (injection->fits == NULL || !injection->fits(step, kind, bytes)) {
        rules_give_back(steered - 1);
        return;
    }
    call->fault = step;
    call->step = steered - 1;
}

static void record_rules(struct storage_event *call, enum storage_call kind, uint64_t bytes)
{
    uint32_t steered = thread_state.steered; /* of an MPI call around this one (MPI-IO) */
    thread_state.steered = 0;
    watcher->storage(call->record, call->event, call->file->path, false);
    take_fault(call, kind, bytes);
    thread_state.steered = steered;
}

/* What will fail, and change nothing: a folder is made that is there, a name taken away that is
 * not. (As it is in the rank's turn: others may have run since the file was looked at.) */
static bool is_in_vain(unsigned kind, const struct storage_file *file)
{
    struct storage_file now = *file;
    if (kind != STORAGE_MKDIR && kind != STORAGE_UNLINK)
        return false;
    storage_file_refresh(&now);
    return (now.inode != 0) == (kind == STORAGE_MKDIR);
}

static void come_to_store(unsigned kind, const struct storage_file *file)
{
    if (schedule == NULL)
        return;
    schedule->store();
    if (is_in_vain(kind, file))
        schedule->store_file(STORAGE_LOOK, file->path, false);
    else
        schedule->store_file(kind, file->path, file->is_folder);
}

void storage_begin(struct storage_event *call, unsigned kind, const struct storage_file *file,
                   uint64_t bytes, uint64_t offset)
{
    memset(call, 0, sizeof *call);
    storage_depth++;
    if (!(storage_watching & STORAGE_EVENTS) || !runtime_recording)
        return;
    come_to_store(kind, file);
    struct record *r = reserve(file->path);
    call->record = r;
    call->file = file;
    call->event = plan_event_of_storage(kind);
    describe(r, kind, file, bytes, offset);
    record_publish(r);
    if (runtime_watching && call->event != EVENT_NONE)
        record_rules(call, kind, bytes);
    if (!imposes())
        return;
    watcher->store_turn(r);
    r->hash = clock_ticks();
}

void storage_is(struct storage_event *call, uint64_t inode)
{
    if (call->record != NULL)
        call->record->request = number_of(inode);
}

void storage_becomes(struct storage_event *call, unsigned kind)
{
    if (call->record != NULL)
        call->record->tag = (int32_t)kind;
}

bool storage_fails(struct storage_event *call)
{
    if (call->fault == NULL || injection_of(call->fault)->error == NULL) {
        take_turn(call);
        return false;
    }
    if (call->record != NULL)
        call->record->hash = clock_ticks();
    int number = injection_of(call->fault)->error(call->fault);
    call->applied = true;
    rules_stored(call->step, (uint64_t)number, number);
    errno = number;
    return true;
}

size_t storage_room(struct storage_event *call, size_t bytes)
{
    if (call->fault == NULL || injection_of(call->fault)->room == NULL)
        return bytes;
    uint64_t room = injection_of(call->fault)->room(call->fault);
    call->applied = true;
    if (injection_of(call->fault)->after == NULL)
        rules_stored(call->step, room, 0);
    return room < bytes ? (size_t)room : bytes;
}

long storage_end(struct storage_event *call, long result, uint64_t bytes)
{
    int number = errno;
    if (call->fault != NULL && injection_of(call->fault)->after != NULL) {
        char path[STORAGE_WHOLE_BYTES];
        call->applied =
            injection_of(call->fault)->after(call->step, storage_whole(call->file, path), result);
    }
    uint64_t ticks = end_turn(call);
    if (call->fault != NULL && !call->applied)
        rules_give_back(call->step);
    if (call->record != NULL) {
        call->record->bytes = bytes;
        if (imposes())
            watcher->stored(call->record);
        record_end_at(call->record, result < 0 ? number : 0, ticks);
        if (runtime_watching && call->event != EVENT_NONE)
            watcher->storage(call->record, call->event, call->file->path, true);
    }
    storage_depth--;
    errno = number;
    return result;
}

/* --- looks ----------------------------------------------------------------------------------- */
/* The same as a poll that says no. Files are told apart by their paths, for they have no number. */
static void count_no(const struct storage_event *call, int error, uint64_t ticks)
{
    const char *path = call->file->path;
    struct record no = call->look;
    no.error = record_error(error);
    record_poll_named(&no, ticks, path, strnlen(path, PATH_RECORDED));
}

/* Unlike a call that may be a fault's, it gets its record when it is over. */
static void record_look(const struct storage_event *call, int error, uint64_t ticks)
{
    struct record *r = reserve(call->file->path);
    describe(r, (unsigned)call->look.tag, call->file, 0, STORAGE_NO_OFFSET);
    r->enter = call->look.enter;
    r->hash = call->look.hash;
    r->request = call->look.request;
    r->error = record_error(error);
    atomic_store_explicit(&r->leave, ticks, memory_order_relaxed);
    atomic_store_explicit(&r->kind, RECORD_STORAGE, memory_order_release);
}

bool storage_is_folded(const struct storage_file *file)
{
    return (storage_watching & STORAGE_FOLDED) != 0 && (file->inode == 0 || imposes());
}

bool storage_look_begin(struct storage_event *call, unsigned kind, const struct storage_file *file)
{
    memset(call, 0, sizeof *call);
    storage_depth++;
    if (!(storage_watching & STORAGE_EVENTS) || !runtime_recording)
        return false;
    if (!thread_state.known)
        runtime_thread_begin();
    come_to_store(kind, file);
    call->file = file;
    call->record = &call->look;
    describe(&call->look, kind, file, 0, hash_bytes(file->path, strlen(file->path)));
    atomic_store_explicit(&call->look.kind, RECORD_STORAGE, memory_order_relaxed);
    call->look.level = LEVEL_SELF;
    call->look.flags = FLAG_NEGATIVE;
    call->look.thread = thread_state.number;
    if (!imposes()) {
        begin_turn(call, &call->look);
        return false;
    }
    storage_depth--;
    int error = watcher->finds_none(&call->look);
    if (error != 0) {
        count_no(call, error, clock_ticks());
        errno = error;
        return true;
    }
    storage_begin(call, kind, file, 0, STORAGE_NO_OFFSET);
    return false;
}

long storage_look_end(struct storage_event *call, long result)
{
    int number = errno;
    if (call->record != &call->look)
        return storage_end(call, result, 0);
    uint64_t ticks = end_turn(call);
    if (result < 0 && (number == ENOENT || number == ENOTDIR))
        count_no(call, number, ticks);
    else
        record_look(call, result < 0 ? number : 0, ticks);
    storage_depth--;
    errno = number;
    return result;
}
