/* See pack.h. */
#include "replay/pack.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "base/whole_file.h"
#include "decisions/decisions.h"
#include "system/path.h"
#include "system/status.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536
#define TRACE_FOLDER "trace"
#define TRACE_NAMES TRACE_FOLDER "/r[0-9]*.trace"
#define CHOICE_NAMES "choices.[0-9]*" /* of the step engine */
#define PRINTED_FOLDER "reference"
#define PRINTED_NAMES PRINTED_FOLDER "/r[0-9]*.out"

/* Parts without which there is nothing to replay. */
static const char *const parts[] = {"plan", "run.json", "verdict.json", DECISIONS_FILE};
#define PART_COUNT (sizeof parts / sizeof parts[0])

static enum error_code archive_failed(struct archive *archive, const char *file,
                                      enum error_code code, struct error *error)
{
    const char *why = archive_error_string(archive);
    return error_set(error, code, "%s: %s", file, why != NULL ? why : "cannot be read or written");
}

/* --- the library ------------------------------------------------------------------------------ */
/* Where libarchive has no memory it says so and calls exit(1), which is a verdict here. */
static bool in_library;

static void end_as_ours(int status, void *nothing)
{
    (void)status;
    (void)nothing;
    if (!in_library)
        return;
    whole_file_abandon();
    _exit(STATUS_HARNESS);
}

static void library_begin(void)
{
    static bool watched;
    watched = watched || on_exit(end_as_ours, NULL) == 0;
    in_library = true;
}

static void library_end(void)
{
    in_library = false;
}

/* --- packing ---------------------------------------------------------------------------------- */
static enum error_code copy_in(struct archive *archive, const char *file, int from, uint64_t bytes,
                               struct error *error)
{
    static char data[COPY_BYTES];
    while (bytes > 0) {
        size_t most = bytes < sizeof data ? (size_t)bytes : sizeof data;
        ssize_t length = read(from, data, most);
        if (length <= 0)
            return error_set(error, ERROR_IO, "%s: a part became shorter while it was read", file);
        if (archive_write_data(archive, data, (size_t)length) != length)
            return archive_failed(archive, file, ERROR_IO, error);
        bytes -= (uint64_t)length;
    }
    return OK;
}

static enum error_code add_open(struct archive *archive, const char *file, const char *name,
                                int from, struct error *error)
{
    struct stat status;
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL || fstat(from, &status) != 0) {
        archive_entry_free(entry);
        return error_set(error, ERROR_IO, "%s: %s", name, strerror(errno));
    }
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, status.st_size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    enum error_code code = archive_write_header(archive, entry) == ARCHIVE_OK
                               ? copy_in(archive, file, from, (uint64_t)status.st_size, error)
                               : archive_failed(archive, file, ERROR_IO, error);
    archive_entry_free(entry);
    return code;
}

static enum error_code add(struct archive *archive, const char *file, const char *folder,
                           const char *name, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/%s", folder, name);
    if (code != OK)
        return code;
    int from;
    code = regular_open(path.text, LINKS_REFUSED, PACK_MAX_BYTES, &from, error);
    if (code == ERROR_IO && errno == ENOENT)
        return error_set(error, ERROR_USAGE,
                         "%s: %s; packed is a run that did not pass, or was kept with --keep",
                         path.text, strerror(errno));
    if (code != OK)
        return code;
    code = add_open(archive, file, name, from, error);
    close(from);
    return code;
}

/* The whole of `trace`, or nothing. */
static bool are_small(const char *folder)
{
    struct path path;
    return path_format(&path, NULL, "%s/" TRACE_FOLDER, folder) == OK && path_exists(path.text) &&
           path_bytes_in(path.text) <= PACK_TRACES_MAX_BYTES;
}

/* Those files of a part that have the names; none where there is no such part. "": the folder. */
static enum error_code add_part(struct archive *archive, const char *file, const char *folder,
                                const char *part, const char *names, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/%s", folder, part);
    DIR *files = code == OK ? opendir(path.text) : NULL;
    if (files == NULL)
        return code;
    for (const struct dirent *entry; code == OK && (entry = readdir(files)) != NULL;) {
        code = path_format(&path, error, "%s%s%s", part, part[0] != '\0' ? "/" : "", entry->d_name);
        if (code == OK && fnmatch(names, path.text, FNM_PATHNAME) == 0)
            code = add(archive, file, folder, path.text, error);
    }
    closedir(files);
    return code;
}

static enum error_code write_all(struct archive *archive, const char *file, FILE *out,
                                 const char *folder, struct error *error)
{
    enum error_code code = OK;
    if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
        archive_write_add_filter_zstd(archive) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK ||
        archive_write_open_FILE(archive, out) != ARCHIVE_OK)
        return archive_failed(archive, file, ERROR_IO, error);
    for (size_t i = 0; code == OK && i < PART_COUNT; i++)
        code = add(archive, file, folder, parts[i], error);
    if (code == OK)
        code = add_part(archive, file, folder, "", CHOICE_NAMES, error);
    if (code == OK)
        code = add_part(archive, file, folder, PRINTED_FOLDER, PRINTED_NAMES, error);
    if (code == OK && are_small(folder))
        code = add_part(archive, file, folder, TRACE_FOLDER, TRACE_NAMES, error);
    if (code == OK && archive_write_close(archive) != ARCHIVE_OK)
        code = archive_failed(archive, file, ERROR_IO, error);
    return code;
}

enum error_code pack_write(const char *folder, const char *file, struct error *error)
{
    struct whole_file packed;
    enum error_code code = whole_file_begin(&packed, file, WHOLE_NAMED, error);
    if (code != OK)
        return code;
    library_begin();
    struct archive *archive = archive_write_new();
    if (archive == NULL)
        memory_refused();
    code = write_all(archive, file, packed.out, folder, error);
    archive_write_free(archive);
    code = whole_file_end(&packed, code, error);
    library_end();
    return code;
}

/* --- unpacking -------------------------------------------------------------------------------- */
static bool is_ours(const char *name)
{
    for (size_t i = 0; i < PART_COUNT; i++)
        if (strcmp(name, parts[i]) == 0)
            return true;
    return fnmatch(CHOICE_NAMES, name, FNM_PATHNAME | FNM_PERIOD) == 0 ||
           fnmatch(TRACE_NAMES, name, FNM_PATHNAME | FNM_PERIOD) == 0 ||
           fnmatch(PRINTED_NAMES, name, FNM_PATHNAME | FNM_PERIOD) == 0;
}

static enum error_code copy_out(struct archive *archive, const char *file, const char *to,
                                uint64_t *left, struct error *error)
{
    static char data[COPY_BYTES];
    FILE *out = fopen(to, "wxe");
    la_ssize_t length = 0;
    bool good = out != NULL;
    while (good && (length = archive_read_data(archive, data, sizeof data)) > 0) {
        if ((uint64_t)length > *left)
            break;
        *left -= (uint64_t)length;
        good = fwrite(data, 1, (size_t)length, out) == (size_t)length;
    }
    int reason = errno;
    if (out != NULL && fclose(out) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (!good)
        return error_set(error, ERROR_IO, "%s: %s", to, strerror(reason));
    if (length > 0)
        return error_set(error, ERROR_LIMIT, "%s: holds more than %llu bytes", file,
                         (unsigned long long)PACK_MAX_BYTES);
    return length == 0 ? OK : archive_failed(archive, file, ERROR_FORMAT, error);
}

static enum error_code read_all(struct archive *archive, const char *file, const char *folder,
                                struct error *error)
{
    struct archive_entry *entry;
    struct path path;
    uint64_t left = PACK_MAX_BYTES;
    int result;
    while ((result = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        if (name == NULL || !is_ours(name) || archive_entry_filetype(entry) != AE_IFREG)
            return error_set(error, ERROR_FORMAT, "%s is no packed run: it holds \"%.100s\"", file,
                             name != NULL ? name : "");
        enum error_code code = path_format(&path, error, "%s/%s", folder, name);
        if (code == OK)
            code = copy_out(archive, file, path.text, &left, error);
        if (code != OK)
            return code;
    }
    return result == ARCHIVE_EOF ? OK : archive_failed(archive, file, ERROR_FORMAT, error);
}

static enum error_code unpack(const char *file, const char *folder, struct error *error)
{
    int from;
    enum error_code code = regular_open(file, LINKS_FOLLOWED, PACK_MAX_BYTES, &from, error);
    if (code != OK)
        return code;
    struct archive *archive = archive_read_new();
    if (archive == NULL)
        memory_refused();
    if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(archive) != ARCHIVE_OK ||
        archive_read_open_fd(archive, from, COPY_BYTES) != ARCHIVE_OK)
        code = archive_failed(archive, file, ERROR_FORMAT, error);
    else
        code = read_all(archive, file, folder, error);
    archive_read_free(archive);
    close(from);
    return code;
}

enum error_code pack_read(const char *file, const char *folder, struct error *error)
{
    static const char *const inner[] = {TRACE_FOLDER, PRINTED_FOLDER};
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < sizeof inner / sizeof inner[0]; i++) {
        struct path path;
        code = path_format(&path, error, "%s/%s", folder, inner[i]);
        if (code == OK)
            code = path_make_folder(path.text, error);
    }
    if (code != OK)
        return code;
    library_begin();
    code = unpack(file, folder, error);
    library_end();
    return code;
}
