/* The durable half of C.commit and B.commit: when line e is committed, what the ranks wrote for it
 * is on stable storage, content and name. What a rank writes for a line: every file below the
 * checkpoint store that it changes between its checkpoint of e and its `saved` of e; the rank that
 * commits, until it commits. Judged from the calls on the store, incarnation by incarnation, with
 * what POSIX promises and no more: the content is synced by fsync, fdatasync or a synchronous
 * write, a name by fsync of its folder, by whichever rank. Times of all ranks are of one clock.
 *
 * Each file has two things that must reach stable storage, its content and its name (struct
 * change). Each is dirty from its newest change on, until a sync that began after the change was
 * done has returned (clean_at). At a commit every file that was changed for the line must be clean:
 *
 *     write f   fsync f   rename f to g   fsync folder   commit       durable
 *     write f             rename f to g   fsync folder   commit       the content is not
 *     write f   fsync f   rename f to g                  commit       the name is not
 *
 * A file belongs to the line that its writer had taken last. What a rank changes after its `saved`
 * note is not part of the line any more, unless it still owes an earlier change of that file
 * (is_owed), or it is the rank that commits.
 *
 * Cost: each sync, rename and commit goes through the files that were changed; a store has few. */
#include "oracles/judging.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX
#define PATH_TEXT_BYTES 128

/* Claims that say this of the commits of a run. */
static const enum claim_id claims_said[] = {CLAIM_B_COMMIT, CLAIM_C_COMMIT};

/* One thing about a file that must reach stable storage: its content, or its name. */
struct change {
    struct event_ref event; /* the newest */
    const struct trace *trace;
    uint64_t leave;    /* ticks when it was done; 0: there was none; NEVER: not known to be done */
    uint64_t clean_at; /* ticks when it was on stable storage; NEVER: not yet */
};

/* A file or folder that is there. */
struct file {
    uint32_t number;
    struct change content, name;
    uint32_t folder;     /* that has the name */
    uint64_t path_hash;  /* of the name; 0: it has none */
    uint64_t line;       /* for which it was changed last; 0: none */
    int rank;            /* by whom */
    bool beyond_saved;   /* after the `saved` note of that line */
    uint64_t changed_at; /* ticks */
};

/* Where a rank stands. */
struct writer {
    uint64_t line; /* of its newest checkpoint; 0: none in this incarnation */
    bool saved;    /* told so */
    struct event_ref checkpoint;
};

struct durable {
    struct judging *judging;
    struct writer *writer; /* by rank */
    size_t files, room;
    struct file *file;
    struct event_ref commit; /* the newest */
    uint64_t committed;      /* its line; 0: none in this incarnation */
    uint64_t committed_at;
};

/* --- files ---------------------------------------------------------------------------------- */
static struct file *find_file(struct durable *durable, uint32_t number)
{
    for (size_t i = 0; i < durable->files; i++)
        if (durable->file[i].number == number)
            return &durable->file[i];
    return NULL;
}

static void forget_file(struct durable *durable, struct file *file)
{
    *file = durable->file[--durable->files];
}

/* As it is before anything is known of it: durable. */
static struct file *new_file(struct durable *durable, uint32_t number)
{
    struct file *file = find_file(durable, number);
    if (file == NULL)
        durable->file =
            memory_room(durable->file, durable->files, &durable->room, sizeof *durable->file);
    if (file == NULL)
        file = &durable->file[durable->files++];
    *file = (struct file){.number = number};
    return file;
}

static uint64_t hash_path(const char *path)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *path != '\0'; path++)
        hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return hash | 1;
}

/* The name is another file's from now on, or nobody's. */
static void free_name(struct durable *durable, uint64_t path_hash, uint32_t but)
{
    for (size_t i = durable->files; i-- > 0;)
        if (durable->file[i].path_hash == path_hash && durable->file[i].number != but)
            forget_file(durable, &durable->file[i]);
}

static void set_change(struct change *change, const struct stream_event *event)
{
    uint64_t leave = atomic_load(&event->record->leave);
    change->event = event_of(event->trace, event->index);
    change->trace = event->trace;
    change->leave = event->in_progress || leave == 0 ? NEVER : leave;
    change->clean_at = NEVER;
}

/* A sync that began at `enter` and returned at `leave`. */
static void clean(struct change *change, uint64_t enter, uint64_t leave)
{
    if (change->leave != 0 && change->leave <= enter && leave < change->clean_at)
        change->clean_at = leave;
}

static bool is_durable(const struct change *change, uint64_t ticks)
{
    return change->leave == 0 || change->clean_at <= ticks;
}

/* --- what is found -------------------------------------------------------------------------- */
static void report(struct durable *durable, enum claim_id claim, const struct file *file,
                   const struct change *change, const char *what, const char *why)
{
    char path[PATH_TEXT_BYTES], at[EVENT_TEXT_BYTES], from[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(durable->judging, claim, VERDICT_VIOLATION);
    const struct record *record = &change->trace->record[change->event.index];
    const struct writer *writer = &durable->writer[file->rank];
    trace_text(change->trace, change->event.index, path, sizeof path);
    finding_say(finding,
                "rank %d changed the %s of \"%s\" (%s) after its checkpoint of line %" PRIu64
                " (%s): %s",
                file->rank, what, path, storage_call_text((unsigned)record->tag), file->line,
                event_text(writer->checkpoint, from), event_text(change->event, at));
    finding_say(finding, "line %" PRIu64 " was committed: %s", file->line,
                event_text(durable->commit, at));
    finding_say(finding, "%s", why);
    finding_show(finding, writer->checkpoint);
    finding_show(finding, change->event);
    finding_show(finding, durable->commit);
}

static void report_all(struct durable *durable, const struct file *file,
                       const struct change *change, const char *what, const char *why)
{
    for (size_t i = 0; i < sizeof claims_said / sizeof claims_said[0]; i++)
        report(durable, claims_said[i], file, change, what, why);
}

static void judge_file(struct durable *durable, const struct file *file)
{
    for (size_t i = 0; i < sizeof claims_said / sizeof claims_said[0]; i++)
        judging_saw(durable->judging, claims_said[i], 1);
    if (!is_durable(&file->content, durable->committed_at))
        report_all(durable, file, &file->content, "content",
                   "nothing brought that to stable storage before the commit: a power failure then "
                   "takes away what the line is made of");
    if (!is_durable(&file->name, durable->committed_at))
        report_all(durable, file, &file->name, "name",
                   "its folder was not synced between that and the commit: a power failure then "
                   "takes the name away, and the line cannot be found");
}

/* --- what the ranks do ---------------------------------------------------------------------- */
static void on_commit(struct durable *durable, const struct stream_event *event)
{
    uint64_t line = event->record->bytes;
    durable->commit = event_of(event->trace, event->index);
    durable->committed = line;
    durable->committed_at = event->record->enter;
    for (size_t i = 0; i < durable->files; i++) {
        const struct file *file = &durable->file[i];
        if (file->line == line && (!file->beyond_saved || file->rank == event->rank))
            judge_file(durable, file);
    }
}

/* Told after the commit: what was written meanwhile was not there to be committed. */
static void on_saved(struct durable *durable, const struct stream_event *event)
{
    struct writer *writer = &durable->writer[event->rank];
    writer->saved = true;
    if (event->record->bytes != durable->committed)
        return;
    for (size_t i = 0; i < durable->files; i++) {
        const struct file *file = &durable->file[i];
        if (file->line != durable->committed || file->rank != event->rank ||
            file->changed_at <= durable->committed_at)
            continue;
        bool content = file->content.leave > durable->committed_at;
        report_all(durable, file, content ? &file->content : &file->name,
                   content ? "content" : "name",
                   "so the line was committed before what it is made of was written");
    }
}

static void on_note(struct durable *durable, const struct stream_event *event)
{
    struct writer *writer = &durable->writer[event->rank];
    switch (event->record->tag) {
    case NOTE_CHECKPOINT:
        *writer = (struct writer){.line = event->record->bytes,
                                  .checkpoint = event_of(event->trace, event->index)};
        break;
    case NOTE_SAVED:
        on_saved(durable, event);
        break;
    case NOTE_COMMIT:
        on_commit(durable, event);
        break;
    default:
        break;
    }
}

static void on_sync(struct durable *durable, const struct stream_event *event)
{
    const struct record *record = event->record;
    uint64_t leave = atomic_load(&record->leave);
    if (event->in_progress || leave == 0)
        return;
    for (size_t i = 0; i < durable->files; i++) {
        struct file *file = &durable->file[i];
        bool all = record->tag == STORAGE_SYNC_ALL;
        if (all || file->number == record->request)
            clean(&file->content, record->enter, leave);
        if (all || file->folder == record->request)
            clean(&file->name, record->enter, leave);
    }
}

static void on_write(struct file *file, const struct stream_event *event)
{
    bool synchronous = event->record->tag == STORAGE_WRITE_SYNC;
    bool was_clean = file->content.leave == 0 || file->content.clean_at <= event->record->enter;
    set_change(&file->content, event);
    if (synchronous && was_clean)
        file->content.clean_at = file->content.leave;
}

/* The file has got the name in the text that follows the record. */
static void on_name(struct file *file, const struct stream_event *event)
{
    char path[PATH_TEXT_BYTES * 2];
    trace_text(event->trace, event->index, path, sizeof path);
    if (strcmp(path, ".") == 0) /* a file without a name (O_TMPFILE), or the store itself */
        return;
    file->path_hash = hash_path(path);
    file->folder = event->record->comm;
    set_change(&file->name, event);
}

static void on_unlink(struct durable *durable, const struct stream_event *event)
{
    char path[PATH_TEXT_BYTES * 2];
    trace_text(event->trace, event->index, path, sizeof path);
    free_name(durable, hash_path(path), 0);
}

/* A new file is empty, and stays so whatever is lost. */
static bool changes_content(int32_t call)
{
    return call == STORAGE_WRITE || call == STORAGE_WRITE_SYNC || call == STORAGE_RESIZE ||
           call == STORAGE_OPEN_EMPTY;
}

static bool changes_name(int32_t call)
{
    return call == STORAGE_CREATE || call == STORAGE_RENAME || call == STORAGE_LINK ||
           call == STORAGE_MKDIR;
}

/* Something that it was changed to for this line, before `saved`, is still to reach stable storage:
 * what is done to it afterwards does not make that undone. */
static bool is_owed(const struct file *file, uint64_t line, uint64_t ticks)
{
    return file->line == line && !file->beyond_saved &&
           !(is_durable(&file->content, ticks) && is_durable(&file->name, ticks));
}

static void on_change(struct durable *durable, const struct stream_event *event)
{
    const struct writer *writer = &durable->writer[event->rank];
    int32_t call = event->record->tag;
    struct file *file = find_file(durable, event->record->request);
    if (file == NULL || call == STORAGE_CREATE || call == STORAGE_MKDIR)
        file = new_file(durable, event->record->request);
    bool owed = is_owed(file, writer->line, event->record->enter);
    if (changes_content(call))
        on_write(file, event);
    if (changes_name(call)) {
        on_name(file, event);
        free_name(durable, file->path_hash, file->number);
        file = find_file(durable, event->record->request);
    }
    if (file == NULL)
        return;
    file->line = writer->line;
    file->rank = event->rank;
    file->beyond_saved = writer->saved && !owed;
    file->changed_at = event->record->enter;
}

static void on_event(void *context, const struct stream_event *event)
{
    struct durable *durable = context;
    const struct record *record = event->record;
    unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
    if (kind == RECORD_NOTE)
        on_note(durable, event);
    if (kind != RECORD_STORAGE || record->error != 0)
        return;
    if (record->tag == STORAGE_SYNC || record->tag == STORAGE_SYNC_ALL)
        on_sync(durable, event);
    else if (record->tag == STORAGE_UNLINK)
        on_unlink(durable, event);
    else if (changes_content(record->tag) || changes_name(record->tag))
        on_change(durable, event);
}

/* --- the whole ------------------------------------------------------------------------------ */
static void on_end(void *context)
{
    struct durable *durable = context;
    free(durable->writer);
    free(durable->file);
    free(durable);
}

static void listen(struct judging *judging, struct pass *pass)
{
    bool asked = false;
    for (size_t i = 0; i < sizeof claims_said / sizeof claims_said[0]; i++)
        asked |= judging->asked[claims_said[i]];
    if (!asked)
        return;
    struct durable *durable = memory_new(1, sizeof *durable);
    durable->judging = judging;
    durable->writer = memory_new((size_t)judging->traces->ranks, sizeof *durable->writer);
    pass_listen(pass, &(struct listener){.context = durable, .event = on_event, .end = on_end});
}

const struct oracle oracle_durable = {.wire = listen, .needs_sound_traces = true};
