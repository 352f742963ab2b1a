/* See store_state.h. */
#include "run/store_state.h"

#include "base/mix.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define COPY_BYTES 65536

static enum error_code broken(const char *path, struct error *error)
{
    return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
}

static enum error_code hash_content(const char *path, uint64_t *hash, struct error *error)
{
    static char data[COPY_BYTES];
    ssize_t got;
    int file;
    enum error_code code = regular_open(path, LINKS_REFUSED, REGULAR_ANY, &file, error);
    if (code != OK)
        return code;
    *hash = 0;
    while ((got = read(file, data, sizeof data)) > 0)
        *hash = mix_two(*hash, XXH3_64bits(data, (size_t)got));
    if (got < 0)
        code = broken(path, error);
    close(file);
    return code;
}

/* The sum of what the entries are, so that the order in which a folder lists them is nothing. */
static enum error_code add_entry(const FTSENT *entry, size_t above, uint64_t *sum,
                                 struct error *error)
{
    uint64_t content = 0;
    enum error_code code = OK;
    if (entry->fts_info == FTS_DP || entry->fts_level == FTS_ROOTLEVEL)
        return OK;
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
        return error_set(error, ERROR_IO, "%s: %s", entry->fts_path, strerror(entry->fts_errno));
    if (entry->fts_info == FTS_F)
        code = hash_content(entry->fts_accpath, &content, error);
    const char *name = entry->fts_path + above;
    uint64_t own = mix_two(XXH3_64bits(name, strlen(name)), entry->fts_info == FTS_D);
    *sum += mix_two(own, content);
    return code;
}

enum error_code store_state_of(const char *store, uint64_t *state, struct error *error)
{
    char *const roots[] = {(char *)(uintptr_t)store, NULL};
    enum error_code code = OK;
    const FTSENT *entry;
    *state = 0;
    if (access(store, F_OK) != 0)
        return OK;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return broken(store, error);
    while (code == OK && (entry = fts_read(walk)) != NULL)
        code = add_entry(entry, strlen(store), state, error);
    fts_close(walk);
    return code;
}
