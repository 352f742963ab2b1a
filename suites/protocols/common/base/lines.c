/* See lines.h. */
#include "common/base/lines.h"

#include "common/base/durable.h"
#include "faultline.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIND_CHECKPOINT "FLCKPT"
#define KIND_COMMIT "FLCOMMIT"
#define NAME_ROOM 64 /* bytes that a file's name adds to the folder's */
#define PHASE_BYTES 64

/* Whose a file is: the payload of a commit record, the head of a checkpoint's. rank is the writer.
 */
struct line_head {
    uint64_t line;
    int32_t rank;
    int32_t ranks;
};

enum error_code line_store_open(struct line_store *store, const char *protocol, int rank, int ranks,
                                struct error *error)
{
    const char *folder = getenv("FAULTLINE_STORE");
    if (!folder || !*folder)
        folder = "checkpoints";
    if (strlen(folder) + NAME_ROOM > PATH_MAX)
        return error_set(error, ERROR_LIMIT, "FAULTLINE_STORE: longer than %d bytes",
                         PATH_MAX - NAME_ROOM);
    *store = (struct line_store){.protocol = protocol, .rank = rank, .ranks = ranks};
    strcpy(store->folder, folder);
    return durable_folder(store->folder, error);
}

void line_phase(const struct line_store *store, const char *name)
{
    char full[PHASE_BYTES];
    if (!faultline_present())
        return;
    snprintf(full, sizeof full, "%s:%s", store->protocol, name);
    faultline_phase(full);
}

static void checkpoint_path(const struct line_store *store, uint64_t line, char *path)
{
    snprintf(path, PATH_MAX, "%.*s/line-%" PRIu64 ".rank-%d", PATH_MAX - NAME_ROOM, store->folder,
             line, store->rank);
}

static void commit_path(const struct line_store *store, char *path)
{
    snprintf(path, PATH_MAX, "%.*s/commit", PATH_MAX - NAME_ROOM, store->folder);
}

static struct line_head head_of(const struct line_store *store, uint64_t line)
{
    return (struct line_head){.line = line, .rank = store->rank, .ranks = store->ranks};
}

/* The file's content up to, but without, its checksum. */
static enum error_code write_checkpoint(const struct line_store *store, uint64_t line,
                                        const struct state *state, const void *extra,
                                        uint64_t extra_bytes, struct durable_file *file,
                                        struct error *error)
{
    struct line_head head = head_of(store, line);
    enum error_code code = durable_write(file, &head, sizeof head, error);
    if (code == OK)
        code = state_write_table(state, file, error);
    line_phase(store, "mid-write");
    if (code == OK)
        code = state_write_data(state, file, error);
    if (code == OK && extra_bytes > 0)
        code = durable_write(file, extra, extra_bytes, error);
    return code;
}

enum error_code line_save(const struct line_store *store, uint64_t line, const struct state *state,
                          struct error *error)
{
    return line_save_with(store, line, state, NULL, 0, error);
}

enum error_code line_save_with(const struct line_store *store, uint64_t line,
                               const struct state *state, const void *extra, uint64_t extra_bytes,
                               struct error *error)
{
    char path[PATH_MAX];
    struct durable_file file;
    checkpoint_path(store, line, path);
    line_phase(store, "before-write");
    uint64_t bytes =
        sizeof(struct line_head) + state_table_bytes(state) + state_data_bytes(state) + extra_bytes;
    enum error_code code = durable_create(&file, path, KIND_CHECKPOINT, bytes, error);
    if (code == OK)
        code = write_checkpoint(store, line, state, extra, extra_bytes, &file, error);
    if (code != OK)
        return code;
    line_phase(store, "before-sync");
    code = durable_finish(&file, error);
    line_phase(store, "before-rename");
    if (code == OK)
        code = durable_publish(&file, error);
    line_phase(store, "after-rename");
    return code;
}

/* Reads a file that begins with a head and checks that it belongs to this job. *payload is owned
 * by the caller. */
static enum error_code read_own(const struct line_store *store, const char *path, const char *kind,
                                struct line_head *head, void **payload, uint64_t *bytes,
                                struct error *error)
{
    enum error_code code = durable_read(path, kind, payload, bytes, error);
    if (code != OK)
        return code;
    if (*bytes < sizeof *head)
        code = error_set(error, ERROR_FORMAT, "%s: too short: it does not say whose it is", path);
    else
        memcpy(head, *payload, sizeof *head);
    if (code == OK && head->ranks != store->ranks)
        code = error_set(error, ERROR_FORMAT, "%s: of a job of %d ranks, this one has %d", path,
                         head->ranks, store->ranks);
    if (code != OK) {
        free(*payload);
        *payload = NULL;
    }
    return code;
}

/* Loads the state, whose end is *state_end bytes into *payload. *payload is owned by the caller. */
static enum error_code load(const struct line_store *store, uint64_t line, struct state *state,
                            bool may_have_more, void **payload, uint64_t *bytes,
                            uint64_t *state_end, struct error *error)
{
    char path[PATH_MAX];
    struct line_head head;
    checkpoint_path(store, line, path);
    enum error_code code = read_own(store, path, KIND_CHECKPOINT, &head, payload, bytes, error);
    if (code != OK)
        return code;
    *state_end = sizeof head + state_table_bytes(state) + state_data_bytes(state);
    if (!may_have_more || *state_end > *bytes)
        *state_end = *bytes;
    if (head.line != line || head.rank != store->rank)
        code = error_set(error, ERROR_FORMAT,
                         "%s: foreign: holds line %" PRIu64 " of rank %d, not line %" PRIu64
                         " of rank %d",
                         path, head.line, head.rank, line, store->rank);
    else
        code = state_load(state, (const char *)*payload + sizeof head, *state_end - sizeof head,
                          path, error);
    if (code != OK)
        free(*payload);
    return code;
}

enum error_code line_load(const struct line_store *store, uint64_t line, struct state *state,
                          struct error *error)
{
    void *payload;
    uint64_t bytes, state_end;
    enum error_code code = load(store, line, state, false, &payload, &bytes, &state_end, error);
    if (code == OK)
        free(payload);
    return code;
}

enum error_code line_load_with(const struct line_store *store, uint64_t line, struct state *state,
                               void **extra, uint64_t *extra_bytes, struct error *error)
{
    void *payload;
    uint64_t bytes, state_end;
    enum error_code code = load(store, line, state, true, &payload, &bytes, &state_end, error);
    if (code != OK)
        return code;
    *extra_bytes = bytes - state_end;
    memmove(payload, (char *)payload + state_end, *extra_bytes);
    *extra = payload;
    return OK;
}

enum error_code line_commit(const struct line_store *store, uint64_t line, struct error *error)
{
    char path[PATH_MAX];
    struct durable_file file;
    struct line_head head = head_of(store, line);
    commit_path(store, path);
    enum error_code code = durable_create(&file, path, KIND_COMMIT, sizeof head, error);
    line_phase(store, "mid-commit");
    if (code == OK)
        code = durable_write(&file, &head, sizeof head, error);
    if (code == OK)
        code = durable_finish(&file, error);
    line_phase(store, "before-commit-rename");
    if (code == OK)
        code = durable_publish(&file, error);
    line_phase(store, "after-commit-rename");
    return code;
}

enum error_code line_newest(const struct line_store *store, uint64_t *line, struct error *error)
{
    char path[PATH_MAX];
    struct line_head head;
    void *payload;
    uint64_t bytes;
    *line = LINE_NONE;
    commit_path(store, path);
    if (!durable_exists(path))
        return OK;
    enum error_code code = read_own(store, path, KIND_COMMIT, &head, &payload, &bytes, error);
    if (code != OK)
        return code;
    free(payload);
    if (bytes != sizeof head || head.line == LINE_NONE)
        return error_set(error, ERROR_FORMAT, "%s: names no recovery line", path);
    *line = head.line;
    return OK;
}

bool line_is_saved(const struct line_store *store, uint64_t line)
{
    char path[PATH_MAX];
    checkpoint_path(store, line, path);
    return durable_exists(path);
}

enum error_code line_newest_saved(const struct line_store *store, uint64_t *line,
                                  struct error *error)
{
    const struct dirent *entry;
    DIR *folder = opendir(store->folder);
    *line = LINE_NONE;
    if (!folder)
        return error_set(error, ERROR_IO, "%s: cannot read the folder: %s", store->folder,
                         strerror(errno));
    while ((entry = readdir(folder))) {
        uint64_t found;
        int rank, end = 0;
        bool is = sscanf(entry->d_name, "line-%" SCNu64 ".rank-%d%n", &found, &rank, &end) == 2 &&
                  entry->d_name[end] == 0 && rank == store->rank;
        if (is && found > *line)
            *line = found;
    }
    closedir(folder);
    return OK;
}

void line_remove(const struct line_store *store, uint64_t line)
{
    char path[PATH_MAX];
    checkpoint_path(store, line, path);
    unlink(path);
}
