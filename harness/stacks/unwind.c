/* See unwind.h. libdw walks a process that is not there: its memory is the stack that was kept. */
#include "stacks/unwind.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "stacks/frames.h"
#include "stacks/snapshot.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is left of a process. Owned. */
struct remains {
    struct snapshot snapshot;
    unsigned char *stack;
    FILE *maps; /* stands where the text of /proc/PID/maps begins */
    struct frames frames;
};

/* --- for libdw -------------------------------------------------------------------------------- */
static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
    const struct remains *remains = argument;
    (void)dwfl;
    if (*thread != NULL)
        return 0;
    *thread = argument;
    return remains->snapshot.pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *argument)
{
    const struct remains *remains = argument;
    const struct snapshot *snapshot = &remains->snapshot;
    (void)dwfl;
    if (address < snapshot->stack_address || snapshot->stack_bytes < sizeof *word ||
        address - snapshot->stack_address > snapshot->stack_bytes - sizeof *word)
        return false;
    memcpy(word, remains->stack + (address - snapshot->stack_address), sizeof *word);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    const struct registers *registers = &((const struct remains *)argument)->snapshot.registers;
    Dwarf_Word values[REGISTERS_MOST];
    for (size_t i = 0; i < registers->count; i++)
        values[i] = registers->value[i];
    if (!dwfl_thread_state_registers(thread, 0, (unsigned)registers->count, values))
        return false;
    dwfl_thread_state_register_pc(thread, registers->pc);
    return true;
}

static int walk_thread(Dwfl_Thread *thread, void *argument)
{
    struct remains *remains = argument;
    dwfl_thread_getframes(thread, frames_take, &remains->frames);
    return DWARF_CB_OK;
}

/* --- one snapshot ----------------------------------------------------------------------------- */
static enum error_code read_remains(const char *path, struct remains *remains, struct error *error)
{
    struct snapshot *snapshot = &remains->snapshot;
    struct error inner = {0};
    remains->maps = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, &inner);
    if (remains->maps == NULL)
        return error_set(error, inner.code, "%s", inner.text);
    if (fread(snapshot, sizeof *snapshot, 1, remains->maps) != 1 ||
        memcmp(snapshot->magic, SNAPSHOT_MAGIC, sizeof snapshot->magic) != 0)
        return error_set(error, ERROR_FORMAT, "%s: no snapshot", path);
    if (snapshot->version != SNAPSHOT_VERSION)
        return error_set(error, ERROR_VERSION, "%s: version %u, accepted is %u", path,
                         snapshot->version, SNAPSHOT_VERSION);
    if (snapshot->stack_bytes > SNAPSHOT_STACK_MOST || snapshot->registers.count > REGISTERS_MOST)
        return error_set(error, ERROR_FORMAT, "%s: no snapshot", path);
    remains->stack = memory_new(1, snapshot->stack_bytes);
    if (fread(remains->stack, 1, snapshot->stack_bytes, remains->maps) != snapshot->stack_bytes)
        return error_set(error, ERROR_FORMAT, "%s: it is cut", path);
    return OK;
}

static enum error_code walk(Dwfl *dwfl, const char *path, struct remains *remains,
                            struct error *error)
{
    static const Dwfl_Thread_Callbacks callbacks = {.next_thread = next_thread,
                                                    .memory_read = read_memory,
                                                    .set_initial_registers = set_registers};
    if (dwfl_linux_proc_maps_report(dwfl, remains->maps) != 0 ||
        dwfl_report_end(dwfl, NULL, NULL) != 0 ||
        !dwfl_attach_state(dwfl, NULL, remains->snapshot.pid, &callbacks, remains))
        return error_set(error, ERROR_IO, "%s: %s", path, dwfl_errmsg(-1));
    dwfl_errno(); /* forgets an older one */
    dwfl_getthreads(dwfl, walk_thread, remains);
    int number = dwfl_errno();
    if (remains->frames.count == 0)
        return error_set(error, ERROR_IO, "%s: %s", path,
                         number ? dwfl_errmsg(number) : "it has no frames");
    return OK;
}

/* A file that was written again since lies there otherwise: its names would be wrong. */
static enum error_code look_for_changes(const char *path, const struct frames *frames,
                                        struct error *error)
{
    struct stat then, now;
    if (stat(path, &then) != 0)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < frames->count; i++) {
        Dwfl_Module *module = frames->frame[i].module;
        const char *file = module != NULL
                               ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
                               : NULL;
        if (file != NULL && stat(file, &now) == 0 &&
            (now.st_mtim.tv_sec > then.st_mtim.tv_sec ||
             (now.st_mtim.tv_sec == then.st_mtim.tv_sec &&
              now.st_mtim.tv_nsec > then.st_mtim.tv_nsec)))
            return error_set(error, ERROR_VERSION, "%s has been changed since", file);
    }
    return OK;
}

enum error_code unwind_write(const char *path, FILE *out, struct error *error)
{
    /* No debuginfod here either: nobody waits for a network to see why a run failed. */
    static char *search = NULL;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_build_id_find_debuginfo,
                                             .debuginfo_path = &search};
    struct remains remains = {.frames = {.count = 0}};
    enum error_code code = read_remains(path, &remains, error);
    Dwfl *dwfl = code == OK ? dwfl_begin(&callbacks) : NULL;
    if (code == OK && dwfl == NULL)
        memory_refused();
    if (code == OK)
        code = walk(dwfl, path, &remains, error);
    if (code == OK)
        code = look_for_changes(path, &remains.frames, error);
    if (code == OK)
        frames_print(out, &remains.frames);
    if (dwfl != NULL)
        dwfl_end(dwfl);
    free(remains.stack);
    if (remains.maps != NULL)
        fclose(remains.maps);
    return code;
}
