/* `within`: does the call stack of this thread hold a function? The driver wrote before the run
 * where each function lies, in a file `functions` of the run folder: a line per range,
 *     NAME BEGIN END MODULE
 * with addresses as the module's file has them. libunwind is opened at run time and only when a
 * plan asks: linked into this library it would take over the program's C++ exceptions. */
#include "injectors/rules/rules_parts.h"

#include "base/regular_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FRAMES_MAX 512
#define LINE_BYTES (PATH_MAX + 2 * PLAN_NAME_BYTES)

/* Addresses in this process. */
struct range {
    int function;
    uintptr_t begin, end;
};

static char (*names)[PLAN_NAME_BYTES];
static size_t name_count;
static struct range *ranges;
static size_t range_count;
static int (*backtrace_of)(void **, int);

static bool open_unwinder(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    *(void **)&backtrace_of = library != NULL ? dlsym(library, "unw_backtrace") : NULL;
    if (backtrace_of != NULL)
        return true;
    const char *why = dlerror();
    fprintf(stderr, "faultline: `within` needs libunwind.so.8: %s; no such step will be done\n",
            why != NULL ? why : "it has no unw_backtrace");
    return false;
}

int rules_within_find(const char *name)
{
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static int add_name(const char *name)
{
    int known = rules_within_find(name);
    if (known >= 0)
        return known;
    char(*grown)[PLAN_NAME_BYTES] = realloc(names, (name_count + 1) * sizeof *names);
    if (grown == NULL)
        return -1;
    names = grown;
    snprintf(names[name_count], PLAN_NAME_BYTES, "%s", name);
    return (int)name_count++;
}

static void add_range(int function, uintptr_t begin, uintptr_t end)
{
    struct range *grown = realloc(ranges, (range_count + 1) * sizeof *ranges);
    if (grown == NULL || function < 0)
        return;
    ranges = grown;
    ranges[range_count++] = (struct range){function, begin, end};
}

/* --- modules ---------------------------------------------------------------------------------- */
struct search {
    struct stat file;
    bool found;
    uintptr_t base;
};

/* The same file, whatever it is called here. */
static int is_module(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct search *search = argument;
    struct stat file;
    const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
    (void)bytes;
    if (stat(path, &file) != 0 || file.st_dev != search->file.st_dev ||
        file.st_ino != search->file.st_ino)
        return 0;
    search->found = true;
    search->base = info->dlpi_addr;
    return 1;
}

static void read_range(char *line)
{
    char name[PLAN_NAME_BYTES];
    uintptr_t begin, end;
    int path = 0;
    struct search search = {.found = false};
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%63s %" SCNxPTR " %" SCNxPTR " %n", name, &begin, &end, &path) != 3 ||
        path == 0 || stat(line + path, &search.file) != 0)
        return;
    dl_iterate_phdr(is_module, &search);
    if (search.found)
        add_range(add_name(name), search.base + begin, search.base + end);
}

void rules_within_open(const char *run_folder)
{
    char path[PATH_MAX];
    char line[LINE_BYTES];
    FILE *file = NULL;
    errno = ENOENT;
    if (run_folder != NULL &&
        snprintf(path, sizeof path, "%s/functions", run_folder) < (int)sizeof path)
        file = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, NULL);
    if (file == NULL) {
        fprintf(stderr,
                "faultline: `within` needs the file functions in the run folder%s%s: %s; no "
                "such step will be done\n",
                run_folder != NULL ? " " : "", run_folder != NULL ? run_folder : "",
                strerror(errno));
        return;
    }
    if (open_unwinder())
        while (fgets(line, sizeof line, file) != NULL)
            read_range(line);
    fclose(file);
}

/* A return address lies after its call, which may be the last instruction of the function. */
static bool is_in(int function, uintptr_t address)
{
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].function == function && address - 1 >= ranges[i].begin &&
            address - 1 < ranges[i].end)
            return true;
    return false;
}

bool rules_within(int function)
{
    void *frame[FRAMES_MAX];
    int count = backtrace_of != NULL ? backtrace_of(frame, FRAMES_MAX) : 0;
    for (int i = 0; i < count; i++)
        if (is_in(function, (uintptr_t)frame[i]))
            return true;
    return false;
}
