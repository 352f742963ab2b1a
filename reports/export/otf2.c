/* OTF2, the Open Trace Format of Score-P, Vampir and others: a folder with an archive, written with
 * its own library. A process for each rank and incarnation, a location for each of its threads, a
 * region for each function ("PMPI_Send" is what the library was asked for), messages of the wire.
 * Ranks in them are those of MPI_COMM_WORLD, whatever the communicator. Streams. */
#include "base/memory.h"
#include "reports/export/export.h"
#include "reports/export/spans.h"
#include "reports/text/trace_line.h"

#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NS_PER_S 1000000000u
#define WHY_BYTES 256
#define CHUNKS_MOST 2 /* of OTF2_CHUNK_SIZE_MIN, or of definitions */

/* Definitions that were given a number: strings, regions, communicators. */
struct named {
    struct named *next;
    uint32_t number;
    uint32_t text; /* number of the string; of a string itself: its own */
    uint64_t key;  /* of a communicator: incarnation and id */
    char name[TRACE_EVENT_NAME_BYTES];
};

struct list {
    struct named *first, **last;
    uint32_t count;
};

/* What the library may hold of one file. */
struct chunks {
    size_t count;
    void *chunk[CHUNKS_MOST];
};

struct otf2 {
    const struct export *export;
    struct spans spans;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    OTF2_ErrorCallback former; /* what told errors before us */
    OTF2_ErrorCode failed;     /* of the library; what it said of it: */
    char why[WHY_BYTES];
    uint32_t strings;
    struct list regions, comms;
    struct table comm_by_key;
    uint64_t last_ns;
};

/* --- errors of the library -------------------------------------------------------------------- */

static OTF2_ErrorCode on_error(void *context, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct otf2 *otf2 = context;
    (void)file;
    (void)line;
    (void)function;
    if (otf2->failed != OTF2_SUCCESS)
        return code;
    otf2->failed = code;
    vsnprintf(otf2->why, sizeof otf2->why, format, arguments);
    return code;
}

/* What the library said, if it said something. */
static void check(const struct otf2 *otf2, struct export *export)
{
    if (otf2->failed != OTF2_SUCCESS && export->error.code == OK)
        error_set(&export->error, ERROR_IO, "%s: OTF2: %s: %s", export->folder,
                  OTF2_Error_GetDescription(otf2->failed), otf2->why);
}

static void note(struct otf2 *otf2, OTF2_ErrorCode code)
{
    if (otf2->failed == OTF2_SUCCESS)
        otf2->failed = code;
}

/* --- definitions ------------------------------------------------------------------------------ */

static OTF2_StringRef define_text(struct otf2 *otf2, const char *text)
{
    note(otf2, OTF2_GlobalDefWriter_WriteString(otf2->definitions, otf2->strings, text));
    return otf2->strings++;
}

static struct named *add_named(struct otf2 *otf2, struct list *list, const char *name)
{
    struct named *named = memory_new(1, sizeof *named);
    snprintf(named->name, sizeof named->name, "%s", name);
    named->number = list->count++;
    named->text = define_text(otf2, name);
    *list->last = named;
    list->last = &named->next;
    return named;
}

static bool is_mpi(const struct record *record)
{
    return record->kind != RECORD_NOTE && record->kind != RECORD_FAULT &&
           record->kind != RECORD_STORAGE;
}

/* The functions a program calls are few: a list will do. */
static const struct named *region_of(struct otf2 *otf2, const struct record *record)
{
    char name[TRACE_EVENT_NAME_BYTES];
    trace_event_name(record, name);
    for (const struct named *region = otf2->regions.first; region != NULL; region = region->next)
        if (strcmp(region->name, name) == 0)
            return region;
    struct named *region = add_named(otf2, &otf2->regions, name);
    note(otf2, OTF2_GlobalDefWriter_WriteRegion(
                   otf2->definitions, region->number, region->text, region->text, region->text,
                   OTF2_REGION_ROLE_FUNCTION,
                   is_mpi(record) ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_MEASUREMENT_SYSTEM,
                   OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
    return region;
}

/* A communicator is one of an incarnation. Its ranks are the world's, so its group is the world. */
static const struct named *comm_of(struct otf2 *otf2, const struct walk_event *event)
{
    uint64_t incarnation = (uint64_t)event->trace->incarnation;
    struct named *comm = table_get(&otf2->comm_by_key, incarnation, event->record->comm);
    char name[TRACE_EVENT_NAME_BYTES];
    if (comm != NULL)
        return comm;
    snprintf(name, sizeof name, "communicator %" PRIx32 " of incarnation %d", event->record->comm,
             event->trace->incarnation);
    comm = add_named(otf2, &otf2->comms, name);
    table_put(&otf2->comm_by_key, incarnation, event->record->comm, comm);
    comm->key = incarnation;
    return comm;
}

/* --- events ----------------------------------------------------------------------------------- */

static OTF2_EvtWriter *writer_of(struct otf2 *otf2, const struct span_thread *thread, uint64_t ns)
{
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(otf2->archive, thread->number);
    if (ns > otf2->last_ns)
        otf2->last_ns = ns;
    if (writer == NULL)
        note(otf2, OTF2_ERROR_MEM_FAULT);
    return writer;
}

static uint32_t tag_of(const struct record *record)
{
    return record->tag >= 0 ? (uint32_t)record->tag : UINT32_MAX;
}

static uint64_t length_of(const struct record *record)
{
    return record->bytes == BYTES_UNKNOWN ? 0 : record->bytes;
}

static bool names_a_rank(const struct otf2 *otf2, const struct record *record)
{
    return record->peer >= 0 && record->peer < otf2->export->set->ranks;
}

static void on_enter(void *context, const struct span_thread *thread, const struct span *span,
                     uint64_t ns)
{
    struct otf2 *otf2 = context;
    const struct record *record = span->event.record;
    const struct named *region = span->part ? NULL : region_of(otf2, record);
    bool sends =
        record->kind == RECORD_SEND && record->level == LEVEL_WIRE && names_a_rank(otf2, record);
    const struct named *comm = sends ? comm_of(otf2, &span->event) : NULL;
    OTF2_EvtWriter *writer = writer_of(otf2, thread, ns);
    if (writer != NULL && region != NULL)
        note(otf2, OTF2_EvtWriter_Enter(writer, NULL, ns, region->number));
    if (writer != NULL && sends)
        note(otf2, OTF2_EvtWriter_MpiSend(writer, NULL, ns, (uint32_t)record->peer, comm->number,
                                          tag_of(record), length_of(record)));
}

static void on_leave(void *context, const struct span_thread *thread, const struct span *span,
                     uint64_t ns)
{
    struct otf2 *otf2 = context;
    const struct record *record = span->event.record;
    const struct named *region = span->part ? NULL : region_of(otf2, record);
    bool receives = span->event.link == LINK_RECEIVED && names_a_rank(otf2, record);
    const struct named *comm = receives ? comm_of(otf2, &span->event) : NULL;
    OTF2_EvtWriter *writer = writer_of(otf2, thread, ns);
    if (writer != NULL && receives)
        note(otf2, OTF2_EvtWriter_MpiRecv(writer, NULL, ns, (uint32_t)record->peer, comm->number,
                                          tag_of(record), length_of(record)));
    if (writer != NULL && region != NULL)
        note(otf2, OTF2_EvtWriter_Leave(writer, NULL, ns, region->number));
}

/* A note, fault or new communicator is a region that takes no time. */
static void on_point(void *context, const struct span_thread *thread,
                     const struct walk_event *event, uint64_t ns)
{
    struct otf2 *otf2 = context;
    const struct named *region = region_of(otf2, event->record);
    OTF2_EvtWriter *writer = writer_of(otf2, thread, ns);
    if (writer != NULL) {
        note(otf2, OTF2_EvtWriter_Enter(writer, NULL, ns, region->number));
        note(otf2, OTF2_EvtWriter_Leave(writer, NULL, ns, region->number));
    }
}

/* --- the archive ------------------------------------------------------------------------------ */

static OTF2_FlushType before_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

/* The library keeps up to 128 MiB of each location unless it gets no more: then it writes. */
static void *allocate_chunk(void *context, OTF2_FileType type, OTF2_LocationRef location,
                            void **buffer, uint64_t bytes)
{
    struct chunks *chunks = *buffer;
    (void)context;
    (void)type;
    (void)location;
    if (chunks == NULL)
        chunks = *buffer = memory_new(1, sizeof *chunks);
    if (chunks->count == CHUNKS_MOST)
        return NULL;
    return chunks->chunk[chunks->count++] = memory_resized(NULL, 1, bytes);
}

static void free_chunks(void *context, OTF2_FileType type, OTF2_LocationRef location, void **buffer,
                        bool final)
{
    struct chunks *chunks = *buffer;
    (void)context;
    (void)type;
    (void)location;
    while (chunks != NULL && chunks->count > 0)
        free(chunks->chunk[--chunks->count]);
    if (!final)
        return;
    free(chunks);
    *buffer = NULL;
}

static void open_archive(struct otf2 *otf2)
{
    static const OTF2_MemoryCallbacks memory = {allocate_chunk, free_chunks};
    static const OTF2_FlushCallbacks flush = {before_flush, NULL};
    otf2->archive = OTF2_Archive_Open(otf2->export->folder, "traces", OTF2_FILEMODE_WRITE,
                                      OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                      OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (otf2->archive == NULL) {
        note(otf2, OTF2_ERROR_FILE_INTERACTION);
        return;
    }
    note(otf2, OTF2_Archive_SetFlushCallbacks(otf2->archive, &flush, NULL));
    note(otf2, OTF2_Archive_SetMemoryCallbacks(otf2->archive, &memory, NULL));
    note(otf2, OTF2_Archive_SetSerialCollectiveCallbacks(otf2->archive));
    note(otf2, OTF2_Archive_SetCreator(otf2->archive, "faultline"));
    note(otf2, OTF2_Archive_OpenEvtFiles(otf2->archive));
    otf2->definitions = OTF2_Archive_GetGlobalDefWriter(otf2->archive);
    if (otf2->definitions == NULL)
        note(otf2, OTF2_ERROR_MEM_FAULT);
}

static void otf2_begin(struct export *export)
{
    struct otf2 *otf2 = export->state = memory_new(1, sizeof *otf2);
    struct span_listener listener = {otf2, on_enter, on_leave, on_point};
    otf2->export = export;
    otf2->regions.last = &otf2->regions.first;
    otf2->comms.last = &otf2->comms.first;
    spans_init(&otf2->spans, &listener);
    otf2->former = OTF2_Error_RegisterCallback(on_error, otf2);
    /* The library would write into a folder that holds something else. */
    if (mkdir(export->folder, 0777) != 0) {
        error_set(&export->error, ERROR_IO, "%s: %s", export->folder, strerror(errno));
        return;
    }
    open_archive(otf2);
    if (otf2->failed == OTF2_SUCCESS)
        define_text(otf2, "");
    check(otf2, export);
}

static void otf2_event(struct export *export, const struct walk_event *event)
{
    struct otf2 *otf2 = export->state;
    spans_event(&otf2->spans, event);
    check(otf2, export);
}

/* --- what is known only in the end ------------------------------------------------------------ */

static void close_events(struct otf2 *otf2, uint64_t *counts)
{
    for (const struct span_thread *thread = otf2->spans.first; thread; thread = thread->next) {
        OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(otf2->archive, thread->number);
        note(otf2, OTF2_EvtWriter_GetNumberOfEvents(writer, &counts[thread->number]));
        note(otf2, OTF2_Archive_CloseEvtWriter(otf2->archive, writer));
    }
    note(otf2, OTF2_Archive_CloseEvtFiles(otf2->archive));
    note(otf2, OTF2_Archive_OpenDefFiles(otf2->archive));
    for (const struct span_thread *thread = otf2->spans.first; thread; thread = thread->next) {
        OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(otf2->archive, thread->number);
        note(otf2, OTF2_Archive_CloseDefWriter(otf2->archive, writer));
    }
    note(otf2, OTF2_Archive_CloseDefFiles(otf2->archive));
}

static void define_locations(struct otf2 *otf2, const uint64_t *counts)
{
    const struct trace_set *set = otf2->export->set;
    uint64_t start = set->trace[0].header->start_unix_ns;
    char name[TRACE_EVENT_NAME_BYTES];
    for (size_t i = 1; i < set->count; i++)
        if (set->trace[i].header->start_unix_ns < start)
            start = set->trace[i].header->start_unix_ns;
    note(otf2, OTF2_GlobalDefWriter_WriteClockProperties(otf2->definitions, NS_PER_S, 0,
                                                         otf2->last_ns + 1, start));
    note(otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                   otf2->definitions, 0, define_text(otf2, "run"), define_text(otf2, "run"),
                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (size_t i = 0; i < set->count; i++)
        note(otf2, OTF2_GlobalDefWriter_WriteLocationGroup(
                       otf2->definitions, (uint32_t)i,
                       define_text(otf2, export_process_text(&set->trace[i], name)),
                       OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
    for (const struct span_thread *thread = otf2->spans.first; thread; thread = thread->next) {
        snprintf(name, sizeof name, "thread %u", thread->thread);
        note(otf2,
             OTF2_GlobalDefWriter_WriteLocation(
                 otf2->definitions, thread->number, define_text(otf2, name),
                 OTF2_LOCATION_TYPE_CPU_THREAD, counts[thread->number], (uint32_t)thread->place));
    }
}

/* The first thread seen of each trace speaks for its rank. */
static const struct span_thread *first_thread(const struct otf2 *otf2, size_t place)
{
    const struct span_thread *thread = otf2->spans.first;
    while (thread != NULL && thread->place != place)
        thread = thread->next;
    return thread;
}

/* Group 0: all locations of MPI. Group 1 + k: the world of incarnation k, by place in group 0. A
 * rank without a trace is given the place of another: nothing of it is there to be shown. */
static void define_groups(struct otf2 *otf2)
{
    const struct trace_set *set = otf2->export->set;
    size_t room = set->count > (size_t)set->ranks ? set->count : (size_t)set->ranks;
    uint64_t *member = memory_new(room, sizeof *member);
    uint64_t *where = memory_new(set->count, sizeof *where);
    uint32_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct span_thread *thread = first_thread(otf2, i);
        where[i] = count;
        if (thread != NULL)
            member[count++] = thread->number;
    }
    note(otf2, OTF2_GlobalDefWriter_WriteGroup(otf2->definitions, 0, define_text(otf2, "MPI"),
                                               OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                               OTF2_GROUP_FLAG_NONE, count, member));
    for (int k = 0; k < set->incarnations && count > 0; k++) {
        for (int rank = 0; rank < set->ranks; rank++) {
            const struct trace *trace = trace_set_find(set, rank, k);
            uint64_t at = trace != NULL ? where[trace - set->trace] : 0;
            member[rank] = at < count ? at : 0;
        }
        note(otf2, OTF2_GlobalDefWriter_WriteGroup(
                       otf2->definitions, 1 + (uint32_t)k, define_text(otf2, "world"),
                       OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                       (uint32_t)set->ranks, member));
    }
    free(member);
    free(where);
    for (const struct named *comm = otf2->comms.first; comm != NULL; comm = comm->next)
        note(otf2, OTF2_GlobalDefWriter_WriteComm(otf2->definitions, comm->number, comm->text,
                                                  1 + (uint32_t)comm->key, OTF2_UNDEFINED_COMM,
                                                  OTF2_COMM_FLAG_NONE));
}

static void otf2_end(struct export *export)
{
    struct otf2 *otf2 = export->state;
    spans_finish(&otf2->spans);
    check(otf2, export);
    if (export->error.code != OK)
        return;
    uint64_t *counts = memory_new(otf2->spans.count, sizeof *counts);
    close_events(otf2, counts);
    define_locations(otf2, counts);
    define_groups(otf2);
    free(counts);
    check(otf2, export);
    if (export->error.code != OK)
        return;
    note(otf2, OTF2_Archive_CloseGlobalDefWriter(otf2->archive, otf2->definitions));
    note(otf2, OTF2_Archive_Close(otf2->archive));
    otf2->archive = NULL;
    check(otf2, export);
}

static void free_list(struct list *list)
{
    while (list->first != NULL) {
        struct named *next = list->first->next;
        free(list->first);
        list->first = next;
    }
}

static void otf2_release(struct export *export)
{
    struct otf2 *otf2 = export->state;
    if (otf2->archive != NULL)
        OTF2_Archive_Close(otf2->archive);
    OTF2_Error_RegisterCallback(otf2->former, NULL);
    spans_release(&otf2->spans);
    free_list(&otf2->regions);
    free_list(&otf2->comms);
    table_release(&otf2->comm_by_key);
    free(otf2);
}

const struct exporter export_otf2 = {.name = "otf2",
                                     .is_folder = true,
                                     .begin = otf2_begin,
                                     .event = otf2_event,
                                     .end = otf2_end,
                                     .release = otf2_release};
