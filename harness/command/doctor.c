/* See doctor.h. One function per fact. */
#include "command/doctor.h"

#include "board/shared_memory.h"
#include "campaign/campaign.h"
#include "cli/arguments.h"
#include "cli/verb.h"
#include "launch/launcher.h"
#include "stacks/stacks.h"
#include "stacks/symbols.h"
#include "system/path.h"
#include "system/status.h"
#include "trace/clock.h"
#include "trace/record.h"

#include <argp.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES 16384
#define ANSWER_LIMIT_MS 5000
#define ENGINE_LIMIT_MS 60000
#define ENGINE_PROGRAM "ring"
#define PACKAGES_BYTES 512
#define LIBRARY_VERSION_BYTES 8192 /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH */
#define LEAST_FREE_BYTES (1ull << 30)
#define LEAST_SHARED_BYTES (64ull << 20)

struct visit {
    FILE *out;
    bool cannot_run;
    char packages[PACKAGES_BYTES]; /* to install, a blank in front of and after each */
    struct path library;           /* the MPI library; empty: none */
    bool is_mpich_4_0;
};

__attribute__((format(printf, 4, 5))) static void say(struct visit *visit, const char *mark,
                                                      const char *about, const char *format, ...)
{
    va_list arguments;
    fprintf(visit->out, "%-4s  %-12s  ", mark, about);
    va_start(arguments, format);
    vfprintf(visit->out, format, arguments);
    va_end(arguments);
    fputc('\n', visit->out);
    if (strcmp(mark, "NO") == 0)
        visit->cannot_run = true;
}

/* Once each. */
static void want(struct visit *visit, const char *package)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", package);
    size_t used = strlen(visit->packages);
    if (strstr(visit->packages, word) == NULL && used + strlen(word) < sizeof visit->packages)
        strcpy(visit->packages + (used > 0 ? used - 1 : 0), word); /* words share a blank */
}

/* ---- questions that another process answers
 * ----------------------------------------------------------- */

/* What the child writes, until it ends or the limit. Text is always terminated. */
static void listen_to(int in, int limit_ms, char *text, size_t bytes)
{
    uint64_t deadline_ns = clock_monotonic_ns() + (uint64_t)limit_ms * 1000000u;
    size_t used = 0;
    while (used + 1 < bytes) {
        uint64_t now_ns = clock_monotonic_ns();
        struct pollfd ready = {.fd = in, .events = POLLIN};
        int left_ms = now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / 1000000u) + 1 : 0;
        int state = poll(&ready, 1, left_ms);
        if (state < 0 && errno == EINTR)
            continue;
        ssize_t count = state > 0 ? read(in, text + used, bytes - 1 - used) : 0;
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    text[used] = '\0';
}

/* Runs `answer` in a process of its own; its output becomes `text`. True if it exited with 0. */
static bool ask_for(int limit_ms, void (*answer)(const void *about), const void *about, char *text,
                    size_t bytes)
{
    int ends[2], status = -1;
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL); /* or the child would print it once more */
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        answer(about);
        fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    if (pid > 0) {
        listen_to(ends[0], limit_ms, text, bytes);
        if (waitpid(pid, &status, WNOHANG) == 0) {
            /* Its output has ended, or the time is up. Ending in order takes it a moment more. */
            struct timespec moment = {.tv_nsec = 1000000};
            for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) == 0; i++)
                nanosleep(&moment, NULL);
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
        }
    }
    close(ends[0]);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool ask(void (*answer)(const void *about), const void *about, char *text, size_t bytes)
{
    return ask_for(ANSWER_LIMIT_MS, answer, about, text, bytes);
}

static void answer_version(const void *command)
{
    execl(command, command, "--version", (char *)NULL);
    _exit(1);
}

/* First line of `text`, cut there. */
static char *first_line(char *text)
{
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* The value in a line "  Version:    4.0.2", else the whole first line. */
static const char *version_in(char *text)
{
    char *version = strstr(text, "Version:");
    if (version == NULL)
        return first_line(text);
    version += strlen("Version:");
    return first_line(version + strspn(version, " \t"));
}

static void look_at_launcher(struct visit *visit)
{
    const struct launcher *launcher = launcher_of(NULL);
    struct path path;
    struct error error;
    char text[ANSWER_BYTES];
    if (launcher->find(launcher, &path, &error) != OK) {
        say(visit, "NO", launcher->name, "%s", error.text);
        if (getenv(launcher->variable) == NULL)
            want(visit, launcher->package);
        return;
    }
    if (!ask(answer_version, path.text, text, sizeof text))
        say(visit, "NO", launcher->name, "%s does not answer to --version", path.text);
    else if (strstr(text, launcher->mark) != NULL)
        say(visit, "ok", launcher->name, "%s (%s %s)", path.text, launcher->product,
            version_in(text));
    else
        say(visit, "note", launcher->name, "%s (%s): Faultline is tested with %s", path.text,
            version_in(text), launcher->product);
}

static void look_at_survivors(struct visit *visit)
{
    const struct launcher *launcher = launcher_of(NULL);
    if (launcher->hides_deaths || launcher->survivors)
        say(visit, "ok", "survivors", "with %s, too, ranks can live on when one dies",
            launcher->product);
    else
        say(visit, "note", "survivors", "with %s the death of a rank ends the job",
            launcher->product);
}

/* ---- libraries
 * -------------------------------------------------------------------------------------------- */

/* Prints the path of a library and what MPI_Get_library_version says: it may be called before
 * MPI_Init. */
static void answer_library(const void *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "PMPI_Get_library_version") : NULL;
    Dl_info info;
    if (symbol == NULL || dladdr(symbol, &info) == 0)
        _exit(1);
    int (*get_version)(char *, int *);
    memcpy(&get_version, &symbol, sizeof get_version);
    static char version[LIBRARY_VERSION_BYTES];
    int length = 0;
    get_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    printf("%s\n%s\n", info.dli_fname, version);
}

static void look_at_library(struct visit *visit)
{
    static const char *const names[] = {"libmpich.so.12", "libmpi.so.12", "libmpi.so.40"};
    char text[ANSWER_BYTES];
    size_t i = 0;
    while (i < 3 && !ask(answer_library, names[i], text, sizeof text))
        i++;
    char *version = strchr(text, '\n');
    if (i == 3 || version == NULL) {
        say(visit, "NO", "MPI library", "none of %s, %s, %s can be loaded", names[0], names[1],
            names[2]);
        want(visit, "libmpich-dev");
        return;
    }
    *version++ = '\0';
    first_line(version);
    for (char *tab = version; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    struct path real;
    if (path_absolute(text, &real, NULL) != OK)
        real = (struct path){""};
    visit->library = real;
    bool mpich = strncmp(version, "MPICH", 5) == 0;
    visit->is_mpich_4_0 = mpich && strstr(version, " 4.0") != NULL;
    say(visit, mpich ? "ok" : "note", "MPI library", "%s (%s)%s", real.text, version,
        mpich ? "" : ": Faultline is tested with MPICH");
}

/* As a rank loads it. (Not by dlopen: its thread-local storage has to be there from the start.) The
 * dynamic linker only prints that it could not, and goes on. */
static void answer_preload(const void *path)
{
    setenv("LD_PRELOAD", path, 1);
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

/* The functions of `theirs` that `ours` has not; names the first. */
static size_t gaps(const struct symbols *theirs, const struct symbols *ours, const char **first)
{
    size_t missing = 0;
    for (size_t i = 0; i < theirs->count; i++)
        if (!symbols_have(ours, theirs->name[i]) && missing++ == 0)
            *first = theirs->name[i];
    return missing;
}

static void compare_functions(struct visit *visit, const char *own, const struct symbols *theirs)
{
    struct symbols ours;
    struct error error;
    const char *first = "";
    if (symbols_read(own, &ours, &error) != OK) {
        say(visit, "NO", "libfaultline", "%s", error.text);
        return;
    }
    size_t missing = gaps(theirs, &ours, &first);
    if (missing > 0)
        say(visit, "NO", "libfaultline",
            "%zu of the library's %zu functions pass it by, %s first: build it again (make)",
            missing, theirs->count, first);
    else
        say(visit, "ok", "libfaultline",
            "covers all %zu functions of that library, MPI_ and PMPI_ names", theirs->count);
    symbols_release(&ours);
}

static void look_at_ulfm(struct visit *visit, const struct symbols *theirs)
{
    static const char *const names[] = {"Comm_revoke", "Comm_shrink", "Comm_agree",
                                        "Comm_failure_ack", "Comm_failure_get_acked"};
    size_t there = 0, count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "MPIX_%s", names[i]);
        there += symbols_have(theirs, name);
    }
    if (there < count)
        say(visit, "note", "ULFM", "%zu of its %zu calls are in the library", there, count);
    else if (visit->is_mpich_4_0)
        say(visit, "note", "ULFM", "its calls are in the library, but this MPICH aborts in them");
    else
        say(visit, "ok", "ULFM", "its calls are in the library");
}

static void look_at_own_library(struct visit *visit)
{
    struct path own;
    struct error error;
    struct symbols theirs;
    char text[ANSWER_BYTES];
    if (path_library(&own, &error) != OK) {
        say(visit, "NO", "libfaultline", "%s", error.text);
        return;
    }
    if (!ask(answer_preload, own.text, text, sizeof text) || text[0] != '\0') {
        say(visit, "NO", "libfaultline", "does not load: %s", first_line(text));
        return;
    }
    say(visit, "ok", "libfaultline", "%s loads", own.text);
    if (visit->library.text[0] == '\0')
        return;
    if (symbols_read(visit->library.text, &theirs, &error) != OK) {
        say(visit, "NO", "MPI library", "%s", error.text);
        return;
    }
    compare_functions(visit, own.text, &theirs);
    look_at_ulfm(visit, &theirs);
    symbols_release(&theirs);
}

/* ---- the step engine
 * ---------------------------------------------------------------------------------------- */

struct
try {
    struct path self, program, folder;
};

static void answer_engine(const void *about)
{
    const struct try *try = about;
    execl(try->self.text, "faultline", "exec", "--engine", ENGINE_STEP, "-n", "2", "--trace",
          try->folder.text, "--", try->program.text, (char *)NULL);
    _exit(1);
}

/* A program of ours with two ranks. */
static void look_at_engine(struct visit *visit)
{
    struct try try;
    struct error error = {0};
    char text[ANSWER_BYTES];
    const char *temporary = getenv("TMPDIR");
    enum error_code code = path_self(&try.self, &error);
    if (code == OK)
        code = path_program(ENGINE_PROGRAM, "", &try.program, &error);
    if (code == OK)
        code = path_format(&try.folder, &error, "%s/faultline-doctor-XXXXXX",
                           temporary != NULL ? temporary : "/tmp");
    if (code == OK && mkdtemp(try.folder.text) == NULL)
        code = error_set(&error, ERROR_IO, "%s: %s", try.folder.text, strerror(errno));
    if (code != OK) {
        say(visit, "note", "step engine", "it was not tried: %s", error.text);
        return;
    }
    if (ask_for(ENGINE_LIMIT_MS, answer_engine, &try, text, sizeof text))
        say(visit, "ok", "step engine", "it has run two ranks of %s", ENGINE_PROGRAM);
    else
        say(visit, "note", "step engine", "it does not run two ranks of %s: %s", ENGINE_PROGRAM,
            text[0] != '\0' ? first_line(text) : "nothing was said");
    (void)path_remove(try.folder.text, NULL);
}

/* ---- the machine
 * ------------------------------------------------------------------------------------------- */

/* First line of a small file; empty if it cannot be read. */
static void read_line(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "re");
    text[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(text, (int)bytes, file) == NULL)
        text[0] = '\0';
    fclose(file);
    first_line(text);
}

/* Takes the stack of a process that waits: that needs ptrace and libdw at once. */
static void look_at_stacks(struct visit *visit)
{
    char scope[16];
    struct error error = {0};
    FILE *nowhere = fopen("/dev/null", "we");
    pid_t caller = getpid(), pid = nowhere ? fork() : -1;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == caller)
            pause();
        _exit(0);
    }
    bool good = pid > 0 && stacks_write(&pid, (int[]){0}, 1, nowhere, &error) == OK;
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    if (nowhere != NULL)
        fclose(nowhere);
    read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    if (good)
        say(visit, "ok", "call stacks", "ptrace is allowed, libdw reads the frames");
    else
        say(visit, "note", "call stacks", "none of ranks that hang: %s%s%s", error.text,
            scope[0] ? "; kernel.yama.ptrace_scope = " : "", scope);
}

/* As libfaultline.so opens it in a rank, when a plan asks for `within`. */
static void look_at_unwinder(struct visit *visit)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL && dlsym(library, "unw_backtrace") != NULL) {
        say(visit, "ok", "within", "libunwind.so.8 tells in which function a call is made");
    } else {
        say(visit, "note", "within", "conditions with `within` never come true: no libunwind.so.8");
        want(visit, "libunwind8");
    }
    if (library != NULL)
        dlclose(library);
}

static bool processor_has(const char *flag)
{
    char line[8192], word[64];
    bool found = false;
    snprintf(word, sizeof word, " %s ", flag);
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = ' ';
        found = strncmp(line, "flags", 5) == 0 && strstr(line, word) != NULL;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static bool clock_is_steady(const char *kernels)
{
    static const char *const flags[] = {CLOCK_STEADY_FLAGS, NULL};
    bool steady = true;
    for (size_t i = 0; flags[i] != NULL; i++)
        steady = steady && processor_has(flags[i]);
    return steady || strcmp(kernels, CLOCK_KERNEL_NAME) == 0;
}

static void look_at_clock(struct visit *visit)
{
    char source[64];
    read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
              sizeof source);
    if (clock_is_steady(source))
        say(visit, "ok", "clock", CLOCK_NAME " at %.2f GHz%s%s", clock_ticks_per_second() / 1e9,
            source[0] ? "; the kernel's clock is " : "", source);
    else
        say(visit, "note", "clock",
            "the " CLOCK_NAME " is not steady here: times of two cores may not compare");
}

static void look_at_cores(struct visit *visit)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                            : (int)sysconf(_SC_NPROCESSORS_ONLN);
    say(visit, "ok", "cores", "%d; ranks spin while they wait, so jobs of more than %d are slow",
        cores, cores);
}

static bool is_network(__fsword_t type)
{
    return type == NFS_SUPER_MAGIC || type == (__fsword_t)SMB2_SUPER_MAGIC ||
           type == (__fsword_t)CIFS_SUPER_MAGIC || type == CEPH_SUPER_MAGIC;
}

static void look_at_disk(struct visit *visit)
{
    struct statfs status;
    if (statfs(".", &status) != 0) {
        say(visit, "note", "disk", "this folder: %s", strerror(errno));
        return;
    }
    uint64_t free_bytes = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
    const char *mark =
        access(".", W_OK) != 0 || free_bytes < LEAST_FREE_BYTES || is_network(status.f_type)
            ? "note"
            : "ok";
    say(visit, mark, "disk", "%.1f GiB free in this folder, room for %.0f million events%s%s",
        (double)free_bytes / (double)(1u << 30), (double)free_bytes / TRACE_RECORD_BYTES / 1e6,
        is_network(status.f_type) ? "; a network file system: give --out a local one" : "",
        access(".", W_OK) != 0 ? "; it is not writable: give --out another" : "");
}

/* MPICH over UCX maps 4.3 MB a rank there; what a rank killed inside MPI_Init has made stays.
 * A job that finds no room aborts in MPI_Init. */
static void look_at_shared_memory(struct visit *visit)
{
    struct statfs status;
    if (statfs(SHARED_MEMORY, &status) != 0) {
        say(visit, "note", SHARED_MEMORY, "%s", strerror(errno));
        return;
    }
    uint64_t free_bytes = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
    bool little = free_bytes < LEAST_SHARED_BYTES;
    say(visit, little ? "note" : "ok", SHARED_MEMORY, "%.0f MiB free%s",
        (double)free_bytes / (double)(1u << 20),
        little ? ", jobs of more than a few ranks may abort in MPI_Init: enlarge it, or remove the "
                 "ucx_shm_* of ranks that were killed"
               : "");
}

/* ---- commands
 * ------------------------------------------------------------------------------------------------
 */

static bool in_search_path(const char *command)
{
    const char *folder = getenv("PATH");
    while (folder != NULL && *folder != '\0') {
        size_t length = strcspn(folder, ":");
        struct path path;
        if (path_format(&path, NULL, "%.*s/%s", (int)length, folder, command) == OK &&
            access(path.text, X_OK) == 0)
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

static void look_at_slurm(struct visit *visit)
{
    struct error error;
    if (campaign_check_slurm(&error) == OK)
        say(visit, "ok", "Slurm", "it answers: faultline campaign --slurm%s",
            in_search_path("srun") ? "; srun --mpi=pmi2 faultline exec -- ./program" : "");
    else
        say(visit, "note", "Slurm", "%s", error.text);
}

static void look_at_commands(struct visit *visit)
{
    static const struct {
        const char *command, *package;
    } commands[] = {
        {"gcc", "gcc"},
        {"make", "make"},
        {"mpicc", "libmpich-dev"},
        {"mpifort", "gfortran"},
        {"lua5.4", "lua5.4"},
        {"bats", "bats"},
        {"prove", "perl"},
        {"luacheck", "lua-check"},
        {"scdoc", "scdoc"},
        {"clang-format", "clang-format"},
    };
    char missing[256] = "";
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (in_search_path(commands[i].command))
            continue;
        strncat(missing, " ", sizeof missing - strlen(missing) - 1);
        strncat(missing, commands[i].command, sizeof missing - strlen(missing) - 1);
        want(visit, commands[i].package);
    }
    if (missing[0] == '\0')
        say(visit, "ok", "development", "compilers and tools for tests are there");
    else
        say(visit, "note", "development", "to build and test Faultline there is no%s", missing);
}

int doctor(FILE *out)
{
    struct visit visit = {.out = out};
    look_at_launcher(&visit);
    look_at_survivors(&visit);
    look_at_library(&visit);
    look_at_own_library(&visit);
    look_at_engine(&visit);
    look_at_stacks(&visit);
    look_at_unwinder(&visit);
    look_at_clock(&visit);
    look_at_cores(&visit);
    look_at_disk(&visit);
    look_at_shared_memory(&visit);
    look_at_slurm(&visit);
    look_at_commands(&visit);
    if (visit.packages[0] != '\0')
        fprintf(out, "\nto install what is missing:\n    %sapt-get install -y%.*s\n",
                geteuid() == 0 ? "" : "sudo ", (int)strlen(visit.packages) - 1, visit.packages);
    return visit.cannot_run ? STATUS_HARNESS : STATUS_PASS;
}

int verb_doctor(int argc, char **argv)
{
    static const struct argp argp = {
        NULL, NULL, NULL, "Says what this machine can do, and what to install for what it cannot.",
        NULL, NULL, NULL};
    arguments_parse(&argp, argc, argv, 0, NULL);
    return doctor(stdout);
}
