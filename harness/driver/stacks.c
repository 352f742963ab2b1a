/* See stacks.h. elfutils' libdw walks and names; here it is told what to print. */
#include "driver/stacks.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN_LIBRARY "libfaultline.so"
#define MPI_LIBRARY_PREFIX "libmp" /* libmpich.so.12, libmpi.so.40 */

/* One process. Shared by two threads; the last that lets go of it frees it. */
struct job {
    pid_t pid;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int holders;
    bool done;
    char *text; /* the stacks; owned */
    size_t text_bytes;
    struct error error; /* code OK: text is good */
};

/* ---- frames -------------------------------------------------------------------------------------
 */

struct frame {
    Dwarf_Addr address; /* of the call, not of the return */
    Dwfl_Module *module;
};

struct thread {
    struct frame frame[STACKS_FRAMES];
    size_t count;
    bool more;
    bool inside_mpi;
};

static const char *module_name(Dwfl_Module *module)
{
    if (module == NULL)
        return "?";
    const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    if (path == NULL)
        return "?";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_own(Dwfl_Module *module)
{
    return strncmp(module_name(module), OWN_LIBRARY, sizeof OWN_LIBRARY - 1) == 0;
}

static bool is_mpi(Dwfl_Module *module)
{
    return strncmp(module_name(module), MPI_LIBRARY_PREFIX, sizeof MPI_LIBRARY_PREFIX - 1) == 0;
}

static int take_frame(Dwfl_Frame *state, void *argument)
{
    struct thread *thread = argument;
    Dwarf_Addr address;
    bool activation; /* interrupted there, not calling from there */
    if (thread->count == STACKS_FRAMES) {
        thread->more = true;
        return DWARF_CB_ABORT;
    }
    if (!dwfl_frame_pc(state, &address, &activation))
        return DWARF_CB_ABORT;
    if (!activation)
        address--;
    Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    thread->frame[thread->count++] = (struct frame){address, module};
    thread->inside_mpi = thread->inside_mpi || is_mpi(module);
    return DWARF_CB_OK;
}

/* ---- names
 * ---------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* " at file:line", where it is known. */
static void print_line(FILE *out, const struct frame *frame)
{
    int line;
    Dwfl_Line *found = dwfl_module_getsrc(frame->module, frame->address);
    const char *file = found ? dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
    if (file != NULL)
        fprintf(out, " at %s:%d", base_name(file), line);
}

/* " at file:line" of the call that was inlined. */
static void print_call_line(FILE *out, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, NULL) != 0)
        return;
    const char *name = dwarf_filesrc(files, file, NULL, NULL);
    if (name != NULL)
        fprintf(out, " at %s:%u", base_name(name), (unsigned)line);
}

static const char *name_of(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
    return name ? name : "?";
}

/* Without what the compiler (".isra.0") and the linker ("@@GLIBC_2.34") have added. */
static void print_symbol(FILE *out, const struct frame *frame)
{
    const char *symbol = dwfl_module_addrname(frame->module, frame->address);
    if (symbol == NULL) {
        Dwarf_Addr offset = frame->address;
        dwfl_module_relocate_address(frame->module, &offset);
        fprintf(out, "0x%llx", (unsigned long long)offset);
        return;
    }
    size_t length = strcspn(symbol, ".@");
    fprintf(out, "%.*s", length > 0 ? (int)length : (int)strlen(symbol), symbol);
}

/* A line for each function that the compiler has inlined at that place, innermost first, and the
 * beginning of a line for the one that it has inlined them into. */
static void print_functions(FILE *out, const struct frame *frame, size_t number)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(frame->module, frame->address, &bias);
    Dwarf_Die *scopes = NULL;
    int count = unit ? dwarf_getscopes(unit, frame->address - bias, &scopes) : 0;
    Dwarf_Die *inlined = NULL;
    for (int i = 0; i < count; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            break;
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        fprintf(out, "    #%-2zu %s", number, name_of(&scopes[i]));
        if (inlined == NULL)
            print_line(out, frame);
        else
            print_call_line(out, unit, inlined);
        fprintf(out, " (inlined)\n");
        inlined = &scopes[i];
    }
    fprintf(out, "    #%-2zu ", number);
    print_symbol(out, frame);
    if (inlined == NULL)
        print_line(out, frame);
    else
        print_call_line(out, unit, inlined);
    free(scopes);
}

static void print_frame(FILE *out, const struct frame *frame, size_t number)
{
    if (frame->module == NULL) {
        fprintf(out, "    #%-2zu 0x%llx\n", number, (unsigned long long)frame->address);
        return;
    }
    print_functions(out, frame, number);
    fprintf(out, " (%s)\n", module_name(frame->module));
}

/* What called main says nothing about the program either. */
static bool is_main(const struct frame *frame)
{
    const char *symbol = frame->module ? dwfl_module_addrname(frame->module, frame->address) : NULL;
    return symbol != NULL && strcmp(symbol, "main") == 0;
}

/* Frames of Faultline itself are counted, not shown: they say nothing about the program. */
static void print_thread(FILE *out, const struct thread *thread)
{
    size_t own = 0;
    for (size_t i = 0; i < thread->count; i++) {
        own += is_own(thread->frame[i].module);
        bool last = i + 1 == thread->count || !is_own(thread->frame[i + 1].module);
        if (!is_own(thread->frame[i].module))
            print_frame(out, &thread->frame[i], i);
        else if (last)
            fprintf(out, "    ... %zu of Faultline\n", own), own = 0;
        if (is_main(&thread->frame[i]))
            return;
    }
    if (thread->more)
        fprintf(out, "    ... and more than %d frames\n", STACKS_FRAMES);
}

/* ---- one process
 * ------------------------------------------------------------------------------------ */

struct walk {
    FILE *out;
    pid_t pid;
    size_t stacks;
    size_t others;
};

static int walk_thread(Dwfl_Thread *of, void *argument)
{
    struct walk *walk = argument;
    struct thread thread = {.count = 0};
    pid_t tid = dwfl_thread_tid(of);
    dwfl_thread_getframes(of, take_frame, &thread);
    if (tid != walk->pid && !thread.inside_mpi) {
        walk->others++;
        return DWARF_CB_OK;
    }
    if (thread.count == 0)
        return DWARF_CB_OK;
    fprintf(walk->out, tid == walk->pid ? "  main thread\n" : "  thread %d\n", (int)tid);
    print_thread(walk->out, &thread);
    walk->stacks++;
    return DWARF_CB_OK;
}

/* Attaches, walks, detaches. */
static enum error_code walk_process(Dwfl *dwfl, struct walk *walk, struct error *error)
{
    int code = dwfl_linux_proc_report(dwfl, walk->pid);
    if (code == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        code = dwfl_linux_proc_attach(dwfl, walk->pid, false);
    if (code != 0)
        return error_set(error, ERROR_IO, "process %d: %s", (int)walk->pid,
                         code > 0 ? strerror(code) : dwfl_errmsg(-1));
    dwfl_errno(); /* forgets an older one */
    dwfl_getthreads(dwfl, walk_thread, walk);
    int number = dwfl_errno();
    if (walk->stacks == 0)
        return error_set(error, ERROR_IO, "process %d: %s", (int)walk->pid,
                         number ? dwfl_errmsg(number) : "it has no frames");
    if (walk->others > 0)
        fprintf(walk->out, "  %zu other thread%s outside of MPI\n", walk->others,
                walk->others == 1 ? "" : "s");
    return OK;
}

static enum error_code stacks_of(pid_t pid, FILE *out, struct error *error)
{
    /* No debuginfod here: a lookup in a network has no place in a hanging job. */
    static char *search = NULL;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_build_id_find_debuginfo,
                                             .debuginfo_path = &search};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl == NULL)
        return error_set(error, ERROR_MEMORY, "process %d: %s", (int)pid, dwfl_errmsg(-1));
    struct walk walk = {.out = out, .pid = pid};
    enum error_code code = walk_process(dwfl, &walk, error);
    dwfl_end(dwfl);
    return code;
}

/* ---- not longer than the limit
 * -------------------------------------------------------------------- */

static void job_let_go(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    bool last = --job->holders == 0;
    pthread_mutex_unlock(&job->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->finished);
    free(job->text);
    free(job);
}

static void *job_run(void *argument)
{
    struct job *job = argument;
    FILE *out = open_memstream(&job->text, &job->text_bytes);
    if (out == NULL) {
        error_set(&job->error, ERROR_MEMORY, "process %d", (int)job->pid);
    } else {
        stacks_of(job->pid, out, &job->error);
        fclose(out);
    }
    pthread_mutex_lock(&job->lock);
    job->done = true;
    pthread_cond_signal(&job->finished);
    pthread_mutex_unlock(&job->lock);
    job_let_go(job);
    return NULL;
}

static struct job *job_start(pid_t pid)
{
    struct job *job = calloc(1, sizeof *job);
    pthread_condattr_t attributes;
    pthread_t thread;
    if (job == NULL)
        return NULL;
    *job = (struct job){.pid = pid, .holders = 2};
    pthread_mutex_init(&job->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&job->finished, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&thread, NULL, job_run, job) != 0) {
        job->holders = 1;
        job_let_go(job);
        return NULL;
    }
    pthread_detach(thread);
    return job;
}

/* A process that is in the kernel and cannot be stopped would hold us for ever: its thread is left
 * to itself then. (A thread and not a process: where only ancestors may trace, a child of ours may
 * not.) */
static bool job_await(struct job *job)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STACKS_TIME_LIMIT_MS / 1000;
    int code = 0;
    pthread_mutex_lock(&job->lock);
    while (!job->done && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&job->finished, &job->lock, &until);
    bool done = job->done;
    pthread_mutex_unlock(&job->lock);
    return done;
}

static enum error_code write_one(pid_t pid, FILE *out, struct error *error)
{
    struct job *job = job_start(pid);
    if (job == NULL)
        return error_set(error, ERROR_MEMORY, "process %d", (int)pid);
    enum error_code code;
    if (!job_await(job))
        code = error_set(error, ERROR_LIMIT, "process %d: not to be stopped within %d s", (int)pid,
                         STACKS_TIME_LIMIT_MS / 1000);
    else if (job->error.code != OK)
        code = error_set(error, job->error.code, "%s", job->error.text);
    else
        code = fwrite(job->text, 1, job->text_bytes, out) == job->text_bytes
                   ? OK
                   : error_set(error, ERROR_IO, "call stacks: %s", strerror(errno));
    job_let_go(job);
    return code;
}

enum error_code stacks_write(const pid_t *pids, const int *ranks, size_t count, FILE *out,
                             struct error *error)
{
    size_t good = 0;
    struct error reason = {0};
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "rank %d (pid %d)\n", ranks[i], (int)pids[i]);
        if (write_one(pids[i], out, &reason) == OK)
            good++;
        else
            fprintf(out, "  no call stack: %s\n", reason.text);
    }
    if (count > 0 && good == 0)
        return error_set(error, ERROR_IO, "%s", reason.text);
    return OK;
}
