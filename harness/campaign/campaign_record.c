/* See campaign_record.h. */
#include "campaign/campaign_record.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "system/json_text.h"
#include "system/path.h"
#include "verdict/stored_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 200 /* what a killed campaign was running ends by itself meanwhile */
#define LOCK_PAUSE_NS 50000000L

static const char *const kind_names[] = {"run", "survey", "replays"};

void campaign_record_release(struct campaign_record *record)
{
    free(record->arose);
    free(record->situations);
    record->arose = NULL;
    record->situations = NULL;
    record->arose_count = 0;
}

/* --- from a run folder ------------------------------------------------------------------------ */

static void add_arose(struct campaign_record *record, const char *id, uint64_t situations)
{
    const struct claim *claim = id != NULL ? claim_find(id) : NULL;
    size_t count = record->arose_count + 1;
    if (claim == NULL)
        return;
    record->arose = memory_resized(record->arose, count, sizeof *record->arose);
    record->situations = memory_resized(record->situations, count, sizeof *record->situations);
    record->arose[record->arose_count] = claim->id;
    record->situations[record->arose_count++] = situations;
}

static void copy_text(const json_t *object, const char *field, char *text, size_t bytes)
{
    const char *value = json_string_value(json_object_get(object, field));
    snprintf(text, bytes, "%s", value != NULL ? value : "");
}

static void take_verdict(const struct stored_verdict *stored, struct campaign_record *record)
{
    record->verdict = stored->verdict;
    snprintf(record->fingerprint.text, sizeof record->fingerprint.text, "%s",
             stored->fingerprint != NULL ? stored->fingerprint : "");
    snprintf(record->claim, sizeof record->claim, "%s",
             claim_find(stored->remark) != NULL ? stored->remark : "");
    for (size_t i = 0; i < stored->result_count; i++)
        if (stored->result[i].situations > 0)
            add_arose(record, stored->result[i].claim, stored->result[i].situations);
}

static void take_steps(const json_t *root, struct campaign_record *record)
{
    const json_t *steps = json_object_get(root, "steps");
    record->asked = (unsigned)json_array_size(steps);
    for (size_t i = 0; i < json_array_size(steps); i++)
        record->done += json_is_true(json_object_get(json_array_get(steps, i), "done"));
}

/* Lines of a file; 0: there is none. */
static unsigned count_lines(const char *path)
{
    unsigned lines = 0;
    int byte;
    FILE *file = regular_stream(path, LINKS_REFUSED, REGULAR_ANY, NULL);
    while (file != NULL && (byte = getc_unlocked(file)) != EOF)
        lines += byte == '\n';
    if (file != NULL)
        fclose(file);
    return lines;
}

static void take_choices(const char *folder, struct campaign_record *record)
{
    struct path path;
    for (record->lives = 0; record->lives < GUIDED_LIVES; record->lives++) {
        if (path_format(&path, NULL, "%s/choices.%u", folder, record->lives) != OK ||
            !path_exists(path.text))
            return;
        record->choices[record->lives] = count_lines(path.text);
    }
}

void campaign_record_take(const char *folder, struct campaign_record *record)
{
    json_t *run = json_fetch_from(folder, "run.json");
    struct stored_verdict stored;
    (void)stored_verdict_load(folder, &stored, NULL);
    take_steps(run, record);
    if (record->guided)
        take_choices(folder, record);
    take_verdict(&stored, record);
    if (record->fingerprint.text[0] == '\0' && record->verdict != VERDICT_PASS)
        snprintf(record->fingerprint.text, sizeof record->fingerprint.text, "%s",
                 verdict_text(record->verdict));
    stored_verdict_release(&stored);
    json_decref(run);
}

/* --- a line ----------------------------------------------------------------------------------- */

static json_t *pack_replays(const struct campaign_record *record)
{
    return json_pack("{s:s, s:I, s:s, s:I, s:I, s:f, s:s*}", "kind", kind_names[record->of],
                     "number", (json_int_t)record->number, "fingerprint", record->fingerprint.text,
                     "asked", (json_int_t)record->asked, "same", (json_int_t)record->same,
                     "elapsed", record->elapsed_s, "mpiexec",
                     record->mpiexec[0] != '\0' ? record->mpiexec : NULL);
}

/* Of a guided run: how it was made, and what others may be made by. */
static void add_guided(const struct campaign_record *record, json_t *root)
{
    char branches[GUIDED_TEXT_BYTES];
    json_t *situations = json_array(), *choices = json_array();
    guided_text(&record->made, branches);
    for (size_t i = 0; i < record->arose_count; i++)
        json_array_append_new(situations, json_integer((json_int_t)record->situations[i]));
    for (unsigned i = 0; i < record->lives; i++)
        json_array_append_new(choices, json_integer(record->choices[i]));
    json_object_set_new(root, "root", json_integer((json_int_t)record->made.root));
    json_object_set_new(root, "other", json_integer((json_int_t)record->made.other));
    json_object_set_new(root, "branches", json_string(branches));
    json_object_set_new(root, "situations", situations);
    json_object_set_new(root, "choices", choices);
}

static json_t *pack_run(const struct campaign_record *record)
{
    json_t *arose = json_array();
    for (size_t i = 0; i < record->arose_count; i++)
        json_array_append_new(arose, json_string(record->arose[i]));
    json_t *root = json_pack(
        "{s:s, s:I, s:I, s:I, s:s, s:s, s:f, s:f, s:I, s:I, s:o}", "kind", kind_names[record->of],
        "number", (json_int_t)record->number, "subject", (json_int_t)record->subject + 1, "index",
        (json_int_t)record->index, "plan", record->plan, "verdict", verdict_text(record->verdict),
        "seconds", record->seconds, "elapsed", record->elapsed_s, "asked",
        (json_int_t)record->asked, "done", (json_int_t)record->done, "arose", arose);
    if (record->claim[0] != '\0')
        json_object_set_new(root, "claim", json_string(record->claim));
    if (record->fingerprint.text[0] != '\0')
        json_object_set_new(root, "fingerprint", json_string(record->fingerprint.text));
    if (record->folder[0] != '\0')
        json_object_set_new(root, "folder", json_string(record->folder));
    if (record->guided)
        add_guided(record, root);
    return root;
}

static enum error_code unpack_guided(const json_t *root, struct campaign_record *record,
                                     struct error *error)
{
    const json_t *choices = json_object_get(root, "choices");
    const char *branches = json_string_value(json_object_get(root, "branches"));
    record->guided = branches != NULL;
    if (branches == NULL)
        return OK;
    record->made.root = (uint64_t)json_integer_value(json_object_get(root, "root"));
    record->made.other = (uint64_t)json_integer_value(json_object_get(root, "other"));
    if (!guided_parse(branches, &record->made))
        return error_set(error, ERROR_FORMAT, "field \"branches\" is no list of branches");
    for (size_t i = 0; i < json_array_size(choices) && i < GUIDED_LIVES; i++)
        record->choices[record->lives++] = (unsigned)json_integer_value(json_array_get(choices, i));
    return OK;
}

static enum error_code unpack_run(const json_t *root, struct campaign_record *record,
                                  struct error *error)
{
    const json_t *arose = json_object_get(root, "arose");
    const json_t *situations = json_object_get(root, "situations");
    record->subject = (size_t)json_integer_value(json_object_get(root, "subject")) - 1;
    record->index = (uint64_t)json_integer_value(json_object_get(root, "index"));
    record->done = (unsigned)json_integer_value(json_object_get(root, "done"));
    record->seconds = json_real_value(json_object_get(root, "seconds"));
    record->verdict = verdict_from_text(json_string_value(json_object_get(root, "verdict")));
    copy_text(root, "plan", record->plan, sizeof record->plan);
    copy_text(root, "claim", record->claim, sizeof record->claim);
    copy_text(root, "folder", record->folder, sizeof record->folder);
    if (record->verdict == VERDICT_COUNT)
        return error_set(error, ERROR_FORMAT, "field \"verdict\" is missing or none");
    for (size_t i = 0; i < json_array_size(arose); i++)
        add_arose(record, json_string_value(json_array_get(arose, i)),
                  (uint64_t)json_integer_value(json_array_get(situations, i)));
    return unpack_guided(root, record, error);
}

static enum error_code unpack(const json_t *root, struct campaign_record *record,
                              struct error *error)
{
    const char *kind = json_string_value(json_object_get(root, "kind"));
    *record = (struct campaign_record){.of = RECORD_OF_KINDS};
    for (int i = 0; kind != NULL && i < RECORD_OF_KINDS; i++)
        if (strcmp(kind_names[i], kind) == 0)
            record->of = (enum record_of)i;
    if (record->of == RECORD_OF_KINDS)
        return error_set(error, ERROR_FORMAT,
                         "field \"kind\" is missing or not one of run, survey, replays");
    record->number = (uint64_t)json_integer_value(json_object_get(root, "number"));
    record->asked = (unsigned)json_integer_value(json_object_get(root, "asked"));
    record->same = (unsigned)json_integer_value(json_object_get(root, "same"));
    record->elapsed_s = json_number_value(json_object_get(root, "elapsed"));
    copy_text(root, "fingerprint", record->fingerprint.text, sizeof record->fingerprint.text);
    copy_text(root, "mpiexec", record->mpiexec, sizeof record->mpiexec);
    return record->of == RECORD_OF_REPLAYS ? OK : unpack_run(root, record, error);
}

/* --- the journal ------------------------------------------------------------------------------ */

enum error_code campaign_journal_open(const char *path, struct campaign_journal *journal,
                                      struct error *error)
{
    journal->path = path;
    journal->file =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (journal->file < 0)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    enum error_code code = regular_check(journal->file, path, REGULAR_ANY, error);
    if (code != OK)
        return code;
    for (int i = 0; flock(journal->file, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK)
            return error_set(error, ERROR_IO, "%s: flock: %s", path, strerror(errno));
        if (i == LOCK_TRIES)
            return error_set(error, ERROR_USAGE, "%s: this campaign is going on already", path);
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
    }
    return OK;
}

void campaign_journal_close(struct campaign_journal *journal)
{
    if (journal->file >= 0)
        close(journal->file);
    journal->file = -1;
}

bool campaign_journal_is_locked(const char *path)
{
    int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0)
        close(file);
    return locked;
}

/* What a full disk took half of is cut off again. */
static enum error_code write_whole(struct campaign_journal *journal, const char *text, size_t bytes,
                                   struct error *error)
{
    off_t before = lseek(journal->file, 0, SEEK_END);
    ssize_t written = write(journal->file, text, bytes);
    if (written == (ssize_t)bytes)
        return OK;
    int why = written < 0 ? errno : ENOSPC;
    if (before < 0 || ftruncate(journal->file, before) != 0)
        why = errno;
    return error_set(error, ERROR_IO, "%s: %s", journal->path, strerror(why));
}

enum error_code campaign_journal_add(struct campaign_journal *journal,
                                     const struct campaign_record *record, struct error *error)
{
    json_t *root = record->of == RECORD_OF_REPLAYS ? pack_replays(record) : pack_run(record);
    char *line;
    size_t bytes;
    FILE *out = memory_stream(&line, &bytes);
    json_put(root, out, JSON_COMPACT, "\n");
    memory_stream_end(out);
    enum error_code code = write_whole(journal, line, bytes, error);
    free(line);
    return code;
}

static enum error_code take_line(const char *line, campaign_record_taken *take, void *context,
                                 struct error *error)
{
    json_error_t where;
    struct campaign_record record;
    json_t *root = json_loads(line, 0, &where);
    if (root == NULL)
        return error_set(error, ERROR_FORMAT, "%s", where.text);
    enum error_code code = unpack(root, &record, error);
    if (code == OK)
        code = take(context, &record, error);
    campaign_record_release(&record);
    json_decref(root);
    return code;
}

enum error_code campaign_journal_follow(const char *path, struct campaign_journal_place *place,
                                        campaign_record_taken *take, void *context,
                                        struct error *error)
{
    struct error inner = {0};
    FILE *in = regular_stream(path, LINKS_REFUSED, CAMPAIGN_JOURNAL_MOST, &inner);
    if (in == NULL)
        return error_set(error, inner.code, "%s", inner.text);
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    enum error_code code = OK;
    if (fseeko(in, place->bytes, SEEK_SET) != 0)
        code = error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    while (code == OK && (length = getline(&line, &room, in)) > 0 && line[length - 1] == '\n') {
        code = take_line(line, take, context, &inner);
        if (code != OK)
            error_set(error, code, "%s:%d: %.400s", path, place->lines + 1, inner.text);
        place->bytes += length;
        place->lines++;
    }
    free(line);
    fclose(in);
    return code;
}

enum error_code campaign_journal_read(struct campaign_journal *journal, campaign_record_taken *take,
                                      void *context, struct error *error)
{
    struct campaign_journal_place end = {0};
    enum error_code code = campaign_journal_follow(journal->path, &end, take, context, error);
    if (code == OK && ftruncate(journal->file, end.bytes) != 0)
        code = error_set(error, ERROR_IO, "%s: %s", journal->path, strerror(errno));
    return code;
}
