/* See replay.h. The log of a line is read as a whole and its entries are sorted by how they are
 * asked for; pointers to them stay valid until replay_close.
 *   - Outcomes of receives, by place: sorted, found by binary search. Receives complete in another
 *     order than they are posted in, so a queue would not do.
 *   - Answers of polls and decisions of the program: a queue. The program asks for them in the
 *     order in which they were logged, and what it asks for must be of the same kind. An answer
 *     "no" that was given n times is one entry, and is given n times again.
 *   - Results of collectives: by the id of the call; see replay_result.
 *   - Ids of early messages to be suppressed, which come from the receivers: sorted, each used
 * once.
 *
 * Recovery is over when all have been used up; counters make that one comparison (replay_over). */
#include "c3/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pointers go into `content`. */
static struct {
    void *content;                    /* the log file; owned */
    const struct log_entry **outcome; /* by place; owned */
    size_t outcomes;
    size_t outcomes_left;            /* not given to the program yet */
    const struct log_entry **answer; /* in order; owned */
    size_t answers;
    size_t answers_given;
    uint64_t repeated;               /* how often the next answer was given */
    const struct log_entry **result; /* in order; owned */
    size_t results;
    size_t results_given;
    struct early *sender; /* owned */
    size_t senders;
    uint64_t *id;  /* ascending, to be suppressed; owned */
    bool *id_used; /* owned */
    size_t ids;
    size_t ids_left;
} replay;

static int by_place(const void *a, const void *b)
{
    const struct log_entry *const *one = a, *const *other = b;
    return ((*one)->number > (*other)->number) - ((*one)->number < (*other)->number);
}

static int by_id(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static const struct log_entry *entry_at(const char *entries, uint64_t at, uint64_t bytes,
                                        uint64_t line)
{
    const struct log_entry *entry = (const struct log_entry *)(const void *)(entries + at);
    if (bytes - at < sizeof *entry || entry->kind == 0 || entry->kind >= LOG_KINDS ||
        entry->data_bytes > bytes - at - sizeof *entry ||
        log_padded(entry->data_bytes) > bytes - at - sizeof *entry)
        die("the log of line %" PRIu64 " has no entry at byte %" PRIu64, line, at);
    return entry;
}

static void sort_in(const struct log_entry *entry)
{
    if (entry->kind < LOG_TEST)
        replay.outcome[replay.outcomes++] = entry;
    else if (entry->kind == LOG_RESULT)
        replay.result[replay.results++] = entry;
    else if (entry->kind == LOG_SENDER)
        replay.sender[replay.senders++] =
            (struct early){.id = entry->number, .sender = entry->source};
    else
        replay.answer[replay.answers++] = entry;
}

static void sort_out(const char *entries, uint64_t bytes, uint64_t line)
{
    size_t most = (size_t)(bytes / sizeof(struct log_entry)) + 1;
    replay.outcome = memory(most, sizeof(void *));
    replay.answer = memory(most, sizeof(void *));
    replay.result = memory(most, sizeof(void *));
    replay.sender = memory(most, sizeof *replay.sender);
    for (uint64_t at = 0; at < bytes;) {
        const struct log_entry *entry = entry_at(entries, at, bytes, line);
        sort_in(entry);
        at += sizeof *entry + log_padded(entry->data_bytes);
    }
    qsort(replay.outcome, replay.outcomes, sizeof(void *), by_place);
    replay.outcomes_left = replay.outcomes;
}

void replay_open(uint64_t line)
{
    const char *entries;
    uint64_t bytes;
    replay_close();
    replay.content = log_load(line, &entries, &bytes);
    sort_out(entries, bytes, line);
}

const struct early *replay_senders(size_t *count)
{
    *count = replay.senders;
    return replay.sender;
}

void replay_suppress(const uint64_t *ids, size_t count)
{
    replay.id = memory(count, sizeof *ids);
    replay.id_used = memory(count, sizeof *replay.id_used);
    if (count > 0)
        memcpy(replay.id, ids, count * sizeof *ids);
    qsort(replay.id, count, sizeof *ids, by_id);
    replay.ids = replay.ids_left = count;
}

void replay_close(void)
{
    free(replay.content);
    free(replay.outcome);
    free(replay.answer);
    free(replay.result);
    free(replay.sender);
    free(replay.id);
    free(replay.id_used);
    memset(&replay, 0, sizeof replay);
}

const struct log_entry *replay_outcome(uint64_t place, const char **data)
{
    const struct log_entry wanted = {.number = place}, *key = &wanted;
    if (replay.outcomes == 0)
        return NULL;
    const struct log_entry *const *found =
        bsearch(&key, replay.outcome, replay.outcomes, sizeof(void *), by_place);
    if (!found)
        return NULL;
    *data = (const char *)(*found + 1);
    return *found;
}

void replay_outcome_used(const struct log_entry *entry)
{
    (void)entry;
    replay.outcomes_left--;
}

bool replay_answer(enum log_kind kind, struct log_entry *entry, const char **data)
{
    if (replay.answers_given == replay.answers)
        return false;
    const struct log_entry *given = replay.answer[replay.answers_given];
    if (given->kind != kind)
        die("in recovery the program does not do what it did: answer %zu of the log is of kind "
            "%u, asked for is kind %d; its decisions must go through checkpoint_decision",
            replay.answers_given, given->kind, (int)kind);
    *entry = *given;
    if (data)
        *data = (const char *)(given + 1);
    if (given->positive || ++replay.repeated == given->number) {
        replay.answers_given++;
        replay.repeated = 0;
    }
    return true;
}

/* Results were logged when the calls were complete, but are asked for when the calls begin, and
 * non-blocking calls may complete in another order. So the id is searched for, from the first
 * result not given yet; for calls that block that is always the right one. What is given is swapped
 * to the front part. */
const struct log_entry *replay_result(uint64_t id, const char **data)
{
    for (size_t i = replay.results_given; i < replay.results; i++) {
        const struct log_entry *found = replay.result[i];
        if (found->number != id)
            continue;
        replay.result[i] = replay.result[replay.results_given];
        replay.result[replay.results_given++] = found;
        *data = (const char *)(found + 1);
        return found;
    }
    return NULL;
}

bool replay_suppresses(uint64_t id)
{
    if (replay.ids_left == 0)
        return false;
    const uint64_t *found = bsearch(&id, replay.id, replay.ids, sizeof id, by_id);
    if (!found || replay.id_used[found - replay.id])
        return false;
    replay.id_used[found - replay.id] = true;
    replay.ids_left--;
    return true;
}

bool replay_over(void)
{
    return replay.outcomes_left == 0 && replay.ids_left == 0 &&
           replay.answers_given == replay.answers && replay.results_given == replay.results;
}
