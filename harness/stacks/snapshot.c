/* See snapshot.h. */
#include "stacks/snapshot.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MAPS_MOST (256u << 10)
#define MAPS_PATH_BYTES 32
#define STOP_LOOKS 2000 /* before a child that does not stop is left as it is: 0.2 s */
#define STOP_LOOK_NS 100000

/* Who writes there sees whether it is there. */
static bool make_folder(char *path, size_t bytes, const char *run)
{
    bool fits = snprintf(path, bytes, "%s/" SNAPSHOT_FOLDER, run) < (int)bytes;
    if (fits)
        mkdir(path, 0777);
    return fits;
}

bool snapshot_wanted_path(char *path, size_t bytes, const char *run)
{
    return make_folder(path, bytes, run) &&
           snprintf(path, bytes, "%s/" SNAPSHOT_FOLDER "/wanted", run) < (int)bytes;
}

bool snapshot_path(char *path, size_t bytes, const char *run, int rank, int incarnation,
                   const char *what)
{
    return make_folder(path, bytes, run) &&
           snprintf(path, bytes, "%s/" SNAPSHOT_FOLDER "/r%d.%d.%s", run, rank, incarnation, what) <
               (int)bytes;
}

/* One snapshot is taken at a time. */
static char maps[MAPS_MOST];
static uint64_t stack_copy[SNAPSHOT_STACK_MOST / sizeof(uint64_t)];

/* Lines that are whole; 0: none. */
static size_t read_maps(pid_t pid)
{
    char path[MAPS_PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 1;
    while (file >= 0 && length + 1 < MAPS_MOST && got > 0) {
        got = read(file, maps + length, MAPS_MOST - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0)
        close(file);
    while (length > 0 && maps[length - 1] != '\n')
        length--;
    maps[length] = '\0';
    return length;
}

/* Bytes from `address` to the end of what it lies in, at most SNAPSHOT_STACK_MOST; 0: nothing lies
 * there. */
static size_t bytes_above(uint64_t address)
{
    for (const char *line = maps; *line != '\0';) {
        char *next;
        uint64_t begin = strtoull(line, &next, 16);
        uint64_t end = *next == '-' ? strtoull(next + 1, NULL, 16) : 0;
        if (address >= begin && address < end)
            return end - address < SNAPSHOT_STACK_MOST ? (size_t)(end - address)
                                                       : SNAPSHOT_STACK_MOST;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : "";
    }
    return 0;
}

static bool put(int file, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        ssize_t written = write(file, next, bytes);
        if (written <= 0)
            return false;
        next += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* All of it, or no file. */
static bool write_file(const char *path, const struct snapshot *snapshot, size_t maps_bytes)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    bool good = put(file, snapshot, sizeof *snapshot) &&
                put(file, stack_copy, snapshot->stack_bytes) && put(file, maps, maps_bytes);
    good = close(file) == 0 && good;
    if (!good)
        unlink(path);
    return good;
}

static struct snapshot begin(pid_t pid)
{
    return (struct snapshot){
        .magic = SNAPSHOT_MAGIC, .version = SNAPSHOT_VERSION, .pid = (int32_t)pid};
}

/* All of it, whatever a sanitizer thinks of what lies between variables. */
__attribute__((noinline, no_sanitize("address"))) static void copy_stack(uint64_t from,
                                                                         size_t bytes)
{
    const volatile uint64_t *word = (const volatile uint64_t *)(uintptr_t)from;
    for (size_t i = 0; i < bytes / sizeof *word; i++)
        stack_copy[i] = word[i];
}

/* The frame of this function is the innermost that is kept: its registers are those of the stack
 * that is written while it has not returned. */
__attribute__((noinline)) bool snapshot_take(const char *path)
{
    ucontext_t context;
    struct snapshot snapshot = begin(getpid());
    int before = errno;
    size_t maps_bytes = read_maps(getpid());
    memset(&context, 0, sizeof context); /* some processors' getcontext leaves registers out */
    getcontext(&context);
    bool good = registers_of_context(&context, &snapshot.registers);
    if (good) {
        snapshot.stack_address = snapshot.registers.sp;
        snapshot.stack_bytes = bytes_above(snapshot.stack_address);
        copy_stack(snapshot.stack_address, snapshot.stack_bytes);
        good = snapshot.stack_bytes > 0 && write_file(path, &snapshot, maps_bytes);
    }
    errno = before;
    return good;
}

/* Registers can be read once it has stopped; the stop itself is left to whoever reaps. */
static bool read_registers(pid_t child, struct registers *registers)
{
    struct user_regs_struct all;
    struct iovec room = {&all, sizeof all};
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, child, NULL, NULL) != 0)
        return false;
    for (int look = 0; look < STOP_LOOKS; look++) {
        if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &room) == 0)
            return registers_of_stopped(&all, registers);
        nanosleep(&(struct timespec){0, STOP_LOOK_NS}, NULL);
    }
    return false;
}

bool snapshot_take_of(pid_t child, const char *path)
{
    struct snapshot snapshot = begin(child);
    if (!read_registers(child, &snapshot.registers))
        return false;
    uint64_t sp = snapshot.registers.sp;
    size_t maps_bytes = read_maps(child);
    snapshot.stack_address = sp;
    struct iovec here = {stack_copy, bytes_above(sp)};
    struct iovec there = {(void *)(uintptr_t)sp, here.iov_len};
    ssize_t got = here.iov_len > 0 ? process_vm_readv(child, &here, 1, &there, 1, 0) : 0;
    snapshot.stack_bytes = got > 0 ? (uint64_t)got : 0;
    return got > 0 && write_file(path, &snapshot, maps_bytes);
}
