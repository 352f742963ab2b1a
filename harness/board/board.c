/* See board.h. */
#include "board/board.h"

#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static size_t board_bytes(int slots)
{
    return sizeof(struct board) + (size_t)slots * sizeof(struct board_slot);
}

static enum error_code fail(struct error *error, const char *doing, const char *path)
{
    return error_set(error, ERROR_IO, "cannot %s board %s: %s", doing, path, strerror(errno));
}

static struct board *map(int file, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Robust: the kernel hands it on when its owner dies. */
static void init_store_turn(struct board *board)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&board->store_turn, &kind);
    pthread_mutexattr_destroy(&kind);
}

enum error_code board_create(const char *path, int ranks, int newcomers, double ticks_per_second,
                             struct board **out, struct error *error)
{
    *out = NULL;
    if (ranks < 1 || ranks > BOARD_MAX_RANKS)
        return error_set(error, ERROR_LIMIT, "a board for %d ranks; accepted are 1 to %d", ranks,
                         BOARD_MAX_RANKS);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return fail(error, "create", path);
    /* Allocated, not only long enough: writing to it must not end in a SIGBUS on a full disk. */
    int slots = newcomers < BOARD_MAX_RANKS - ranks ? ranks + newcomers : BOARD_MAX_RANKS;
    size_t bytes = board_bytes(slots);
    errno = posix_fallocate(file, 0, (off_t)bytes);
    struct board *board = errno == 0 ? map(file, bytes) : NULL;
    if (board == NULL) {
        fail(error, "create", path);
        close(file);
        unlink(path);
        return ERROR_IO;
    }
    close(file);
    board->version = BOARD_VERSION;
    board->ranks = ranks;
    board->slots = slots;
    atomic_store(&board->processes, ranks);
    board->ticks_per_second = ticks_per_second;
    init_store_turn(board);
    atomic_thread_fence(memory_order_release);
    board->magic = BOARD_MAGIC;
    *out = board;
    return OK;
}

static enum error_code validate(const struct board *board, size_t bytes, const char *path,
                                struct error *error)
{
    if (bytes < sizeof *board || board->magic != BOARD_MAGIC)
        return error_set(error, ERROR_FORMAT, "%s is not a board", path);
    if (board->version != BOARD_VERSION)
        return error_set(error, ERROR_VERSION, "board %s has version %u; this program has %u", path,
                         board->version, BOARD_VERSION);
    if (board->ranks < 1 || board->ranks > board->slots || board->slots > BOARD_MAX_RANKS ||
        bytes < board_bytes(board->slots))
        return error_set(error, ERROR_FORMAT, "board %s is too short for its %d ranks", path,
                         board->ranks);
    return OK;
}

enum error_code board_map(const char *path, struct board **out, struct error *error)
{
    *out = NULL;
    int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat facts;
    if (file < 0)
        return fail(error, "open", path);
    enum error_code code = regular_check(file, path, REGULAR_ANY, error);
    if (code != OK) {
        close(file);
        return code;
    }
    if (fstat(file, &facts) != 0) {
        fail(error, "open", path);
        close(file);
        return ERROR_IO;
    }
    size_t bytes = (size_t)facts.st_size;
    if (bytes < sizeof(struct board)) {
        close(file);
        return error_set(error, ERROR_FORMAT, "%s is not a board", path);
    }
    struct board *board = map(file, bytes);
    close(file);
    if (board == NULL)
        return fail(error, "map", path);
    code = validate(board, bytes, path, error);
    if (code != OK) {
        munmap(board, bytes);
        return code;
    }
    *out = board;
    return OK;
}

void board_unmap(struct board *board)
{
    if (board != NULL)
        munmap(board, board_bytes(board->slots));
}

void board_set_ranks(struct board *board, int ranks)
{
    if (ranks >= 1 && ranks <= board->slots)
        board->ranks = ranks;
}

void board_begin_incarnation(struct board *board, int incarnation)
{
    memset(board->slot, 0, (size_t)board->slots * sizeof board->slot[0]);
    atomic_store(&board->processes, board->ranks);
    for (unsigned step = 0; step < BOARD_MAX_STEPS; step++) /* what died on its way is to be had */
        atomic_store(&board->progress[step].reserved, atomic_load(&board->progress[step].taken));
    init_store_turn(board);
    atomic_store(&board->stuck, 0);
    atomic_store(&board->incarnation, incarnation);
}

bool board_enter_store(struct board *board)
{
    struct timespec end;
    int result = pthread_mutex_trylock(&board->store_turn);
    if (result == EBUSY) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += BOARD_STORE_WAIT_MS / 1000;
        result = pthread_mutex_clocklock(&board->store_turn, CLOCK_MONOTONIC, &end);
    }
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(&board->store_turn);
    return result == 0 || result == EOWNERDEAD;
}

void board_leave_store(struct board *board)
{
    pthread_mutex_unlock(&board->store_turn);
}

int board_take_newcomers(struct board *board, int count, uint64_t born_in)
{
    int32_t first = atomic_load(&board->processes);
    do {
        if (count < 1 || count > board->slots - first)
            return -1;
    } while (!atomic_compare_exchange_weak(&board->processes, &first, first + count));
    atomic_store(&board->slot[first].born_in, born_in);
    return first;
}

int board_find_newcomers(const struct board *board, uint64_t born_in)
{
    for (int i = board->ranks; i < board_processes(board); i++)
        if (atomic_load(&board->slot[i].born_in) == born_in)
            return i;
    return -1;
}

bool board_step_done(const struct board *board, unsigned step)
{
    return step < BOARD_MAX_STEPS && atomic_load(&board->progress[step].done_ns) != 0;
}

static void call_parent(struct board_slot *slot)
{
    atomic_fetch_add(&slot->attention, 1);
    syscall(SYS_futex, &slot->attention, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void board_request_kill(struct board *board, int rank, unsigned step)
{
    if (rank < 0 || rank >= board->slots)
        return;
    atomic_store(&board->slot[rank].kill_request, step + 1);
    call_parent(&board->slot[rank]);
}

bool board_takes_kill(struct board_slot *slot)
{
    uint32_t together = TOGETHER_NOT;
    return atomic_compare_exchange_strong(&slot->together, &together, TOGETHER_KILLED) ||
           together == TOGETHER_KILLED;
}

void board_request_stop(struct board *board, int rank, unsigned step)
{
    if (rank < 0 || rank >= board->slots || step >= BOARD_MAX_STEPS)
        return;
    atomic_fetch_or(&board->slot[rank].stopped_by[step / 64], UINT64_C(1) << step % 64);
    call_parent(&board->slot[rank]);
}

unsigned board_stopped_by(const struct board_slot *slot, unsigned from)
{
    while (from < BOARD_MAX_STEPS) {
        uint64_t rest = atomic_load(&slot->stopped_by[from / 64]) >> from % 64;
        if (rest != 0)
            return from + (unsigned)__builtin_ctzll(rest);
        from = (from / 64 + 1) * 64;
    }
    return BOARD_MAX_STEPS;
}

void board_stop_is_over(struct board_slot *slot, unsigned step)
{
    atomic_fetch_and(&slot->stopped_by[step / 64], ~(UINT64_C(1) << step % 64));
}

void board_await_request(struct board *board, int rank, uint32_t seen, int timeout_ms)
{
    struct timespec limit = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
    if (rank >= 0 && rank < board->slots)
        syscall(SYS_futex, &board->slot[rank].attention, FUTEX_WAIT, seen, &limit, NULL, 0);
}

static bool reaches(int32_t pid, const struct board_slot *slot)
{
    int32_t own = atomic_load(&slot->pid);
    if (own == 0 || pid == -1)
        return own != 0;
    if (pid > 0)
        return pid == own || pid == atomic_load(&slot->parent_pid);
    return getpgid(own) == (pid == 0 ? getpgrp() : -pid);
}

static uint64_t bit_of(int signal_number)
{
    return signal_number >= 1 && signal_number <= 64 ? UINT64_C(1) << (signal_number - 1) : 0;
}

void board_note_signal(struct board *board, int32_t pid, int signal_number)
{
    for (int rank = 0; rank < board_processes(board); rank++)
        if (reaches(pid, &board->slot[rank]))
            atomic_fetch_or(&board->slot[rank].sent_within, bit_of(signal_number));
}

void board_note_signal_of_program(struct board *board, int32_t pid, int signal_number)
{
    board_note_signal(board, pid, signal_number);
    for (int rank = 0; rank < board_processes(board); rank++)
        if (atomic_load(&board->slot[rank].pid) == getpid() && reaches(pid, &board->slot[rank]))
            atomic_store(&board->slot[rank].sent_itself, signal_number);
}

bool board_sent_within(const struct board_slot *slot, int signal_number)
{
    return (atomic_load(&slot->sent_within) & bit_of(signal_number)) != 0;
}
