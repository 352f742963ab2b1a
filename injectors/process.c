/* Life of a process under the taps: is it a rank of a run at all, its trace, its slot on the board,
 * its part of the plan; fork, exit, the end. What goes wrong here is said once on stderr, and the
 * program then runs untouched. Must not know: what the taps record. */
#include "injectors/record/runtime.h"

#include "board/mpich_ulfm.h"
#include "board/nodes.h"
#include "board/rank_number.h"
#include "board/stores.h"
#include "decisions/decisions.h"
#include "engine/take_over.h"
#include "injectors/record/header.h"
#include "injectors/record/library.h"
#include "injectors/record/lives.h"
#include "injectors/record/payload.h"
#include "injectors/record/schedule.h"
#include "injectors/replay/replay.h"
#include "injectors/rules/rules.h"
#include "injectors/storage/storage.h"
#include "injectors/system/system.h"
#include "injectors/taps/tap_survivors.h"
#include "injectors/taps/under_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct board *board;
static struct plan plan;

/* What the environment says of this process. */
struct identity {
    const char *folder; /* of the run */
    int rank;
    int ranks; /* 0: not known */
};

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    char text[ERROR_TEXT_BYTES + 128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "faultline: %s; this process (%d) is not recorded\n", text, (int)getpid());
}

/* --- who are we ------------------------------------------------------------------------------ */
static bool identify(struct identity *self)
{
    self->folder = getenv("FAULTLINE_RUN");
    self->rank = number_from_environment("FAULTLINE_RANK");
    if (self->rank < 0)
        self->rank = rank_from_environment();
    self->ranks = number_from_environment("FAULTLINE_RANKS");
    if (self->ranks < 0)
        self->ranks = rank_count_from_environment();
    if (self->ranks < 0)
        self->ranks = 0;
    if (self->rank >= 0)
        return true;
    complain("cannot tell the rank: none of FAULTLINE_RANK, " RANK_VARIABLES " holds a number");
    return false;
}

/* Launchers and shells between the driver and the ranks have neither a run nor MPI. */
static bool is_asked_for(void)
{
    const char *folder = getenv("FAULTLINE_RUN");
    const char *record = getenv("FAULTLINE_RECORD");
    return folder != NULL && *folder != '\0' && (record == NULL || strcmp(record, "0") != 0) &&
           dlsym(RTLD_NEXT, "PMPI_Init") != NULL;
}

/* Where each store with a name is, for the program and the protocol. */
static void record_stores(const char *top, int node)
{
    char place[STORE_PLACE_BYTES], variable[STORE_PLACE_BYTES], path[PATH_MAX];
    const char *stores = getenv(STORES_ENVIRONMENT);
    struct named_store store;
    while (stores_next(&stores, &store)) {
        store_place(&store, node, place);
        store_variable(&store, variable);
        if (snprintf(path, sizeof path, "%s/%s", top, place) < (int)sizeof path)
            setenv(variable, path, 1);
    }
}

/* Where this rank keeps what is on its node alone, and the stores with names. */
static void record_node(int rank)
{
    char text[PATH_MAX];
    const char *nodes = getenv(NODES_ENVIRONMENT), *store = getenv("FAULTLINE_STORE");
    int node = nodes != NULL ? node_of_rank(nodes, rank) : -1;
    if (store != NULL)
        record_stores(store, node);
    if (node < 0 || store == NULL)
        return;
    snprintf(text, sizeof text, "%d", node);
    setenv(NODE_ENVIRONMENT, text, 1);
    if (snprintf(text, sizeof text, "%s/" NODE_STORE_FORMAT, store, node) < (int)sizeof text)
        setenv(NODE_STORE_ENVIRONMENT, text, 1);
}

/* --- the board ------------------------------------------------------------------------------- */
/* Whoever links its board first has made the one that all use. */
static enum error_code make_board(const char *path, struct error *error)
{
    char own[PATH_MAX + 32];
    struct board *made;
    snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
    enum error_code code =
        board_create(own, BOARD_MAX_RANKS, 0, clock_ticks_per_second(), &made, error);
    if (code != OK)
        return code;
    board_unmap(made);
    if (link(own, path) != 0 && errno != EEXIST)
        code = error_set(error, ERROR_IO, "cannot create board %s: %s", path, strerror(errno));
    unlink(own);
    return code;
}

static bool open_board(const struct identity *self)
{
    char path[PATH_MAX];
    struct error error;
    if (snprintf(path, sizeof path, "%s/board", self->folder) >= (int)sizeof path) {
        complain("FAULTLINE_RUN is longer than %d bytes", PATH_MAX - 64);
        return false;
    }
    if (access(path, F_OK) != 0 && make_board(path, &error) != OK) {
        complain("%s", error.text);
        return false;
    }
    if (board_map(path, &board, &error) != OK) {
        complain("%s", error.text);
        return false;
    }
    if (self->rank >= board->slots) {
        complain("rank %d has no slot on the board, which is for %d ranks", self->rank,
                 board->slots);
        return false;
    }
    return true;
}

/* --- the trace ------------------------------------------------------------------------------- */
static enum hash_mode chosen_hash_mode(void)
{
    enum hash_mode mode = HASH_SAMPLE;
    const char *text = getenv("FAULTLINE_HASH");
    if (text != NULL && *text != '\0' && !payload_mode_from_text(text, &mode))
        fprintf(stderr,
                "faultline: FAULTLINE_HASH=%s; accepted are none, sample, full; taken is sample\n",
                text);
    return mode;
}

static struct trace_header make_header(const struct identity *self)
{
    struct trace_header header;
    struct timespec now;
    memset(&header, 0, sizeof header);
    clock_gettime(CLOCK_REALTIME, &now);
    header.rank = self->rank;
    header.incarnation = atomic_load(&board->incarnation);
    header.ranks = self->ranks;
    header.pid = schedule == NULL ? (int32_t)getpid() : 0; /* the same run, the same trace */
    header.start_ticks = clock_ticks();
    header.start_unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    header.ticks_per_second = board->ticks_per_second;
    header.one_clock = schedule != NULL;
    header.hash_mode = (int32_t)chosen_hash_mode();
    header.helper = under_test_is_helper(self->rank);
    payload_mode = (enum hash_mode)header.hash_mode;
    snprintf(header.program, sizeof header.program, "%s", program_invocation_name);
    return header;
}

static char trace_path[PATH_MAX]; /* for tell_full, which may run in a signal handler */

/* Said when it happens: the program may never come to an end. */
static void record_full(int reason)
{
    char text[PATH_MAX + 256];
    const char *why =
        reason == EBADF ? "the program has closed its file descriptor" : strerrordesc_np(reason);
    int bytes = snprintf(text, sizeof text,
                         "faultline: rank %d: trace %s cannot grow: %s; records after this are "
                         "lost\n",
                         runtime_trace.header->rank, trace_path, why != NULL ? why : "no room");
    ssize_t written = write(STDERR_FILENO, text, (size_t)bytes);
    (void)written; /* nobody else could be told */
}

static bool open_trace(const struct identity *self)
{
    char path[PATH_MAX];
    struct error error;
    struct trace_header header = make_header(self);
    snprintf(path, sizeof path, "%s/trace", self->folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        complain("cannot create %s: %s", path, strerror(errno));
        return false;
    }
    int length = snprintf(path, sizeof path, "%s/trace/r%d.%d.trace", self->folder, header.rank,
                          header.incarnation);
    if (length >= (int)sizeof path) {
        complain("FAULTLINE_RUN is longer than %d bytes", PATH_MAX - 64);
        return false;
    }
    if (access(path, F_OK) == 0) {
        complain("rank %d already has a trace in incarnation %d (a program that runs itself again, "
                 "or starts a second MPI program)",
                 header.rank, header.incarnation);
        return false;
    }
    if (trace_writer_open(&runtime_trace, path, &header, &error) != OK) {
        atomic_store(&board->slot[self->rank].lost, 1);
        complain("%s", error.text);
        return false;
    }
    memcpy(trace_path, path, sizeof trace_path);
    runtime_trace.when_full = record_full;
    if (thread_state.number == 0)
        trace_writer_alone(&runtime_trace);
    return true;
}

/* --- the plan -------------------------------------------------------------------------------- */
static void open_plan(const struct identity *self)
{
    char path[PATH_MAX];
    struct error error;
    plan_init(&plan);
    if (snprintf(path, sizeof path, "%s/plan", self->folder) >= (int)sizeof path ||
        access(path, F_OK) != 0)
        return;
    if (plan_read(path, &plan, &error) != OK) {
        fprintf(stderr, "faultline: %s; no fault will be installed\n", error.text);
        return;
    }
    int incarnation = atomic_load(&board->incarnation);
    rules_open(&plan, board, self->rank, incarnation, self->folder);
    const char *decisions = getenv(DECISIONS_ENVIRONMENT);
    if (decisions != NULL && *decisions != '\0')
        replay_open(decisions, &plan, board, self->rank, incarnation, self->folder);
}

/* --- beginning and end ----------------------------------------------------------------------- */
/* A forked child is not the rank: it must not write into its parent's trace. */
static void become_inert(void)
{
    static struct board_slot nobody;
    runtime_recording = 0;
    runtime_slot = &nobody;
    rules_close();
    storage_forked();
    launcher_close();
    lives_close();
    shared_memory_close();
    engine_forked();
}

static bool start(void)
{
    struct identity self;
    under_test_read();
    if (!is_asked_for() || !identify(&self) || !open_board(&self) || !open_trace(&self)) {
        if (board != NULL) /* others of the job may wait for what this process does */
            atomic_fetch_add(&board->unrecorded, 1);
        return false;
    }
    header_open(board);
    record_node(self.rank);
    runtime_is_nobody = under_test_is_helper(self.rank);
    runtime_slot = &board->slot[self.rank];
    int32_t nobody = 0; /* a parent of ours has written it already, if there is one */
    atomic_compare_exchange_strong(&runtime_slot->pid, &nobody, (int32_t)getpid());
    atomic_store(&runtime_slot->state, RANK_LOADED);
    open_plan(&self);
    storage_open(self.folder, &plan, board, self.rank);
    signals_open(board);
    launcher_open(runtime_slot);
    lives_open(board, &plan, self.rank);
    shared_memory_open(self.folder);
    pthread_atfork(NULL, NULL, become_inert);
    return true;
}

/* A death does not end the job, and the library knows nothing of it: its launcher talks PMI. */
static bool is_survived(void)
{
    const char *survivors = getenv(SURVIVORS_ENVIRONMENT);
    return survivors != NULL && strcmp(survivors, "1") == 0 && getenv("PMI_FD") != NULL &&
           !mpich_has_ulfm();
}

static void begin(void)
{
    bool recording = start();
    library_resolve(recording);
    if (recording && schedule == NULL && is_survived())
        survivors_open(board, runtime_trace.header->rank);
    if (recording)
        runtime_recording = under_test_open() ? RECORDS_BY_CALLER : RECORDS_ALL;
}

__attribute__((constructor)) static void load(void)
{
    runtime_thread_begin();
    if (!engine_takes_over(begin))
        begin();
}

/* exit() inside an MPI call is the library giving up (an error that is fatal, MPI_Abort): not in
 * order. The file stays as a SIGKILL would leave it. */
__attribute__((destructor)) static void unload(void)
{
    engine_at_exit();
    storage_close();
    if (!runtime_recording)
        return;
    runtime_recording = 0;
    rules_close();
    if (thread_state.wire_depth == 0 && thread_state.app_depth == 0)
        trace_writer_close(&runtime_trace);
}

void runtime_initializing(void)
{
    uint32_t loaded = RANK_LOADED;
    if (runtime_recording)
        atomic_compare_exchange_strong(&runtime_slot->state, &loaded, RANK_INITIALIZING);
}

void runtime_initialized(int number, int size, bool several_threads)
{
    if (!runtime_recording)
        return;
    runtime_several_threads = several_threads;
    runtime_trace.header->world_size = size;
    if (number != runtime_trace.header->rank)
        fprintf(stderr, "faultline: rank %d of MPI_COMM_WORLD was started as rank %d\n", number,
                runtime_trace.header->rank);
    atomic_store(&runtime_slot->world_size, size);
    atomic_store(&runtime_slot->state, RANK_INITIALIZED);
    if (watcher != NULL)
        watcher->started();
}

int runtime_take_newcomers(int count, uint64_t born_in)
{
    return runtime_recording ? board_take_newcomers(board, count, born_in) : -1;
}

int runtime_find_newcomers(uint64_t born_in)
{
    return runtime_recording ? board_find_newcomers(board, born_in) : -1;
}

int runtime_number(void)
{
    return runtime_trace.header->rank;
}

int runtime_parent(void)
{
    return runtime_recording ? atomic_load(&runtime_slot->parent_pid) : 0;
}

void runtime_library(const void *address, const char *version)
{
    Dl_info file;
    char path[PATH_MAX];
    if (!runtime_recording || runtime_trace.header->rank != 0)
        return;
    if (dladdr(address, &file) != 0 && realpath(file.dli_fname, path) != NULL)
        snprintf(board->library, sizeof board->library, "%.*s", (int)sizeof board->library - 1,
                 path);
    snprintf(board->library_version, sizeof board->library_version, "%.*s",
             (int)strcspn(version, "\n"), version);
}

void runtime_finalizing(void)
{
    if (runtime_recording)
        atomic_store(&runtime_slot->state, RANK_FINALIZING);
}

void runtime_leaving(void)
{
    if (runtime_recording)
        atomic_store(&runtime_slot->leaving, 1);
}

void runtime_finalized(void)
{
    if (!runtime_recording)
        return;
    atomic_store(&runtime_trace.header->closed, 1);
    atomic_store(&runtime_slot->state, RANK_FINALIZED);
}
