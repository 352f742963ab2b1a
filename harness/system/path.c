/* See path.h. */
#include "system/path.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ID_BYTES 64
#define REMOVE_OPEN_FOLDERS 16

/* What a name may stand for: a folder of ours, and how files are called there. */
struct place {
    const char *what;     /* "protocol" */
    const char *variable; /* names another folder */
    const char *folder;   /* beside the command */
    const char *before;   /* of a name: "lib" */
    const char *after;    /* ".so" */
    int access;           /* what access(2) must allow */
};

static const struct place protocol_place = {
    "protocol", "FAULTLINE_PROTOCOLS", "protocols", "lib", ".so", R_OK};
static const struct place program_place = {"program", "FAULTLINE_PROGRAMS", "programs", "", "",
                                           X_OK};

enum error_code path_format(struct path *path, struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path->text, sizeof path->text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof path->text)
        return error_set(error, ERROR_LIMIT, "a path is longer than %d bytes: %.200s...",
                         PATH_MAX - 1, path->text);
    return OK;
}

enum error_code path_self(struct path *path, struct error *error)
{
    ssize_t length = readlink("/proc/self/exe", path->text, sizeof path->text - 1);
    if (length < 0)
        return error_set(error, ERROR_IO, "/proc/self/exe: %s", strerror(errno));
    path->text[length] = '\0';
    return OK;
}

/* `name` in the folder of the command. */
static enum error_code beside_self(const char *name, struct path *path, struct error *error)
{
    struct path self;
    enum error_code code = path_self(&self, error);
    if (code != OK)
        return code;
    *strrchr(self.text, '/') = '\0';
    return path_format(path, error, "%s/%s", self.text, name);
}

enum error_code path_absolute(const char *path, struct path *absolute, struct error *error)
{
    if (realpath(path, absolute->text) == NULL)
        return error_set(error, errno == ENOENT ? ERROR_USAGE : ERROR_IO, "%s: %s", path,
                         strerror(errno));
    return OK;
}

bool path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool path_holds(const char *folder, const char *name)
{
    struct path path;
    return path_format(&path, NULL, "%s/%s", folder, name) == OK && path_exists(path.text);
}

enum error_code path_rank_parent(struct path *path, struct error *error)
{
    enum error_code code = beside_self("faultline-rank", path, error);
    if (code == OK && access(path->text, X_OK) != 0)
        code = error_set(error, ERROR_LAUNCH, "%s: %s; it belongs beside the command", path->text,
                         strerror(errno));
    return code;
}

enum error_code path_library(struct path *path, struct error *error)
{
    const char *named = getenv("FAULTLINE_TAPS");
    struct path found;
    enum error_code code = named != NULL ? path_format(&found, error, "%s", named)
                                         : beside_self("libfaultline.so", &found, error);
    if (code == OK && access(found.text, R_OK) != 0)
        code = error_set(error, ERROR_LAUNCH,
                         "%s: %s; it belongs beside the command, FAULTLINE_TAPS names another",
                         found.text, strerror(errno));
    return code != OK ? code : path_absolute(found.text, path, error);
}

static enum error_code place_folder(const struct place *place, struct path *folder,
                                    struct error *error)
{
    const char *named = getenv(place->variable);
    if (named != NULL)
        return path_format(folder, error, "%s", named);
    return beside_self(place->folder, folder, error);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strstr(entry->d_name, ".d") == NULL;
}

/* The names on a place, sorted; how many, in *count. Array and names are owned by the caller. */
static char **place_names(const struct place *place, const char *folder, size_t *count)
{
    struct dirent **entries;
    int found = scandir(folder, &entries, not_hidden, alphasort);
    char **names = memory_new(found > 0 ? (size_t)found : 0, sizeof *names);
    size_t before = strlen(place->before), after = strlen(place->after);
    *count = 0;
    for (int i = 0; i < found; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(name);
        bool fits = length > before + after && strncmp(name, place->before, before) == 0 &&
                    strcmp(name + length - after, place->after) == 0;
        if (fits)
            names[(*count)++] =
                memory_format("%.*s", (int)(length - before - after), name + before);
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    return names;
}

/* Whether a name is a known one, "-", and more: so suites/protocols names broken variants. */
static bool is_variant(const char *name, char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && name[length] == '-')
            return true;
    }
    return false;
}

/* The names, with commas, but no broken variants: there are too many. Owned by the caller. */
static char *known_names(char *const names[], size_t count)
{
    char *known;
    size_t bytes, listed = 0;
    FILE *stream = memory_stream(&known, &bytes);
    for (size_t i = 0; i < count; i++)
        if (!is_variant(names[i], names, count))
            fprintf(stream, "%s%s", listed++ > 0 ? ", " : "", names[i]);
    if (listed == 0)
        fputs("none", stream);
    memory_stream_end(stream);
    return known;
}

/* "there is no protocol "nul" (did you mean "null"?); known are: blocking, null". */
static enum error_code place_error(const struct place *place, const char *name, const char *folder,
                                   struct error *error)
{
    size_t count;
    char **names = place_names(place, folder, &count);
    const char *near = nearest_name(name, (const char *const *)names, count);
    char *known = known_names(names, count);
    enum error_code code = error_set(
        error, ERROR_USAGE, "there is no %s \"%s\"%s%s%s%s; known are: %s; or give a path with '/'",
        place->what, name, near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
        near != NULL ? "\"?)" : "",
        place == &protocol_place && is_variant(name, names, count)
            ? "; `make variants` builds the protocols that are broken on purpose"
            : "",
        known);
    free(known);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return code;
}

static bool usable(const char *path, int how)
{
    struct stat status;
    return access(path, how) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* A path as given, else from the folder of the scenario. */
static enum error_code given_path(const struct place *place, const char *name,
                                  const char *scenario_file, struct path *path, struct error *error)
{
    if (usable(name, place->access))
        return path_absolute(name, path, error);
    const char *slash = strrchr(scenario_file, '/');
    int folder_length = slash != NULL ? (int)(slash - scenario_file) : 1;
    struct path other;
    enum error_code code = path_format(&other, error, "%.*s/%s", folder_length,
                                       slash != NULL ? scenario_file : ".", name);
    if (code != OK)
        return code;
    if (name[0] != '/' && usable(other.text, place->access))
        return path_absolute(other.text, path, error);
    return error_set(error, ERROR_USAGE,
                     "%s \"%s\" is no %s file, neither from here nor from the scenario's folder",
                     place->what, name, place->access == X_OK ? "executable" : "readable");
}

static enum error_code place_find(const struct place *place, const char *name,
                                  const char *scenario_file, struct path *path, struct error *error)
{
    if (strchr(name, '/') != NULL)
        return given_path(place, name, scenario_file, path, error);
    struct path folder = {""}, found;
    enum error_code code = place_folder(place, &folder, error);
    if (code == OK)
        code =
            path_format(&found, error, "%s/%s%s%s", folder.text, place->before, name, place->after);
    if (code == OK && !usable(found.text, place->access))
        code = place_error(place, name, folder.text, error);
    return code != OK ? code : path_absolute(found.text, path, error);
}

enum error_code path_protocol(const char *name, const char *scenario_file, struct path *path,
                              struct error *error)
{
    return place_find(&protocol_place, name, scenario_file, path, error);
}

enum error_code path_program(const char *name, const char *scenario_file, struct path *path,
                             struct error *error)
{
    return place_find(&program_place, name, scenario_file, path, error);
}

static void drop_ending(char *text, const char *ending)
{
    size_t length = strlen(text), drop = strlen(ending);
    if (length > drop && strcmp(text + length - drop, ending) == 0)
        text[length - drop] = '\0';
}

/* What lies beside the library of a protocol, under its name. A protocol without '/' need not be
 * built: scenarios that name a message of it can be listed. */
static enum error_code beside_protocol(const char *name, const char *scenario_file,
                                       const char *ending, struct path *path, struct error *error)
{
    struct path beside = {""};
    enum error_code code;
    if (strchr(name, '/') == NULL) {
        code = place_folder(&protocol_place, &beside, error);
        if (code == OK)
            code = path_format(path, error, "%s/%s%s", beside.text, name, ending);
        if (code != OK || access(path->text, R_OK) == 0)
            return code;
    }
    code = path_protocol(name, scenario_file, &beside, error);
    if (code != OK || strchr(name, '/') == NULL)
        return code;
    drop_ending(strrchr(beside.text, '/') + 1, protocol_place.after);
    return path_format(path, error, "%s%s", beside.text, ending);
}

enum error_code path_wire(const char *name, const char *scenario_file, char *text, size_t bytes,
                          struct error *error)
{
    struct path wire;
    enum error_code code = beside_protocol(name, scenario_file, ".wire.lua", &wire, error);
    if (code == OK && (size_t)snprintf(text, bytes, "%s", wire.text) >= bytes)
        code = error_set(error, ERROR_LIMIT, "a path is too long: %.200s...", wire.text);
    return code;
}

enum error_code path_canary(const char *name, const char *scenario_file, struct path *path,
                            struct error *error)
{
    return beside_protocol(name, scenario_file, ".canary.lua", path, error);
}

/* First executable `name` in PATH. */
static bool in_search_path(const char *name, struct path *path)
{
    const char *folder = getenv("PATH");
    while (folder != NULL && *folder != '\0') {
        size_t length = strcspn(folder, ":");
        struct path candidate;
        if (path_format(&candidate, NULL, "%.*s/%s", (int)length, folder, name) == OK &&
            usable(candidate.text, X_OK)) {
            *path = candidate;
            return true;
        }
        folder += length + (folder[length] == ':');
    }
    return false;
}

enum error_code path_command(const char *name, const char *variable, struct path *path,
                             struct error *error)
{
    const char *named = getenv(variable);
    if (named == NULL || *named == '\0') {
        if (in_search_path(name, path))
            return OK;
        return error_set(error, ERROR_LAUNCH, "there is no %s in PATH; %s names one elsewhere",
                         name, variable);
    }
    if (strchr(named, '/') == NULL ? in_search_path(named, path) : usable(named, X_OK))
        return strchr(named, '/') == NULL ? OK : path_absolute(named, path, error);
    return error_set(error, ERROR_LAUNCH, "%s=%s: there is no such executable", variable, named);
}

enum error_code path_executable(const char *name, struct path *path, struct error *error)
{
    if (strchr(name, '/') == NULL ? in_search_path(name, path) : usable(name, X_OK))
        return strchr(name, '/') == NULL ? OK : path_absolute(name, path, error);
    return error_set(error, ERROR_LAUNCH, "there is no executable %s%s", name,
                     strchr(name, '/') == NULL ? " in PATH" : "");
}

static enum error_code make_one(const char *path, struct error *error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return OK;
    return error_set(error, ERROR_IO, "cannot create the folder %s: %s", path, strerror(errno));
}

enum error_code path_make_folder(const char *path, struct error *error)
{
    struct path part;
    enum error_code code = path_format(&part, error, "%s", path);
    for (char *slash = part.text; code == OK && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        code = make_one(part.text, error);
        *slash = '/';
    }
    return code != OK ? code : make_one(path, error);
}

enum error_code path_link_latest(const char *out, const struct path *folder, struct error *error)
{
    struct path latest, fresh;
    const char *id = strrchr(folder->text, '/') + 1; /* path_new_output put it there */
    enum error_code code = path_format(&latest, error, "%s/latest", out);
    if (code == OK)
        code = path_format(&fresh, error, "%s/latest.%d", out, (int)getpid());
    if (code != OK)
        return code;
    if (symlink(id, fresh.text) == 0 && rename(fresh.text, latest.text) == 0)
        return OK;
    code = error_set(error, ERROR_IO, "%s: %s", latest.text, strerror(errno));
    unlink(fresh.text);
    return code;
}

enum error_code path_new_output(const char *out, struct path *folder, struct error *error)
{
    char id[ID_BYTES];
    time_t now = time(NULL);
    struct tm local;
    size_t used = strftime(id, sizeof id, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    snprintf(id + used, sizeof id - used, "-%d", (int)getpid());
    enum error_code code = path_format(folder, error, "%s/%s", out, id);
    return code == OK ? path_make_folder(folder->text, error) : code;
}

enum error_code path_make_output(const char *out, struct path *folder, struct error *error)
{
    enum error_code code = path_new_output(out, folder, error);
    return code == OK ? path_link_latest(out, folder, error) : code;
}

enum error_code path_make_run(const char *path, struct error *error)
{
    static const char *const parts[] = {"trace", "output", "store"};
    enum error_code code = path_make_folder(path, error);
    for (size_t i = 0; code == OK && i < sizeof parts / sizeof parts[0]; i++) {
        struct path part;
        code = path_format(&part, error, "%s/%s", path, parts[i]);
        if (code == OK)
            code = make_one(part.text, error);
    }
    return code;
}

uint64_t path_bytes_in(const char *folder)
{
    uint64_t bytes = 0;
    DIR *files = opendir(folder);
    if (files == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
        struct stat status;
        if (fstatat(dirfd(files), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    }
    closedir(files);
    return bytes;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void path_give_access(const char *path, mode_t files)
{
    char root[PATH_MAX];
    char *const roots[] = {root, NULL};
    snprintf(root, sizeof root, "%s", path);
    FTS *all = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (all == NULL)
        return;
    for (const FTSENT *entry; (entry = fts_read(all)) != NULL;) {
        mode_t needed = entry->fts_info == FTS_D ? S_IRWXU : entry->fts_info == FTS_F ? files : 0;
        if (needed != 0 && (entry->fts_statp->st_mode & needed) != needed)
            (void)chmod(entry->fts_path, (entry->fts_statp->st_mode | needed) & 07777);
    }
    fts_close(all);
}

static bool removed(const char *path)
{
    return nftw(path, remove_one, REMOVE_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0 ||
           errno == ENOENT;
}

enum error_code path_remove(const char *path, struct error *error)
{
    if (removed(path))
        return OK;
    path_give_access(path, 0);
    if (removed(path))
        return OK;
    return error_set(error, ERROR_IO, "cannot remove %s: %s", path, strerror(errno));
}
