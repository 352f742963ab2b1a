/* S.done: of a line of whose channels something was told, every rank takes its checkpoint once, and
 * is told once of each channel into it that it is clear, before it says that its part is saved; and
 * the line is committed only when all have, causally. Must not know: messages. */
#include "oracles/cuts/s_family.h"

#include <inttypes.h>

static struct finding *find(const struct s_pass *pass, int rank, uint64_t line, const char *what)
{
    struct finding *finding = judging_find(pass->judging, CLAIM_S_DONE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d %s line %" PRIu64, rank, what, line);
    return finding;
}

static void report_twice(const struct s_pass *pass, const struct s_note *first,
                         const struct s_note *second, const char *what)
{
    char one[EVENT_TEXT_BYTES], other[EVENT_TEXT_BYTES];
    struct finding *finding = find(pass, first->rank, first->line, what);
    finding_say(finding, "%s and again %s", event_text(first->event, one),
                event_text(second->event, other));
    finding_show(finding, first->event);
    finding_show(finding, second->event);
}

static void judge_once(const struct s_pass *pass, int rank, uint64_t line)
{
    const struct s_note *first = s_find(pass, NOTE_CHECKPOINT, line, rank, PEER_ANY);
    const struct s_note *again = first == NULL ? NULL : s_next(pass, first, PEER_ANY);
    if (again != NULL)
        report_twice(pass, first, again, "took more than one checkpoint of");
    for (int peer = 0; peer < pass->histories->ranks; peer++) {
        first = s_find(pass, NOTE_CLEAR, line, rank, peer);
        again = first == NULL ? NULL : s_next(pass, first, peer);
        if (again != NULL)
            report_twice(pass, first, again,
                         "was told more than once that a channel into it is clear, of");
    }
}

/* `done`: the note before which all of it must be told. */
static void report_open(const struct s_pass *pass, int rank, int peer, const struct s_note *clear,
                        const struct s_note *done)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, CLAIM_S_DONE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d %s line %" PRIu64 ": %s", done->rank,
                done->kind == NOTE_SAVED ? "had saved its part of" : "committed", done->line,
                event_text(done->event, event));
    finding_show(finding, done->event);
    if (clear == NULL) {
        finding_say(finding, "it is never told that the channel from rank %d to rank %d is clear",
                    peer, rank);
        return;
    }
    finding_say(finding, "only then the channel from rank %d to rank %d was clear: %s", peer, rank,
                event_text(clear->event, event));
    finding_show(finding, clear->event);
}

static void judge_saved(const struct s_pass *pass, int rank, uint64_t line)
{
    const struct s_note *saved = s_find(pass, NOTE_SAVED, line, rank, PEER_ANY);
    if (saved == NULL)
        return;
    judging_saw(pass->judging, CLAIM_S_DONE, 1);
    for (int peer = 0; peer < pass->histories->ranks; peer++) {
        const struct s_note *clear = s_find(pass, NOTE_CLEAR, line, rank, peer);
        if (peer != rank && s_is_rank(pass, peer) && (clear == NULL || clear->ticks > saved->ticks))
            report_open(pass, rank, peer, clear, saved);
    }
}

/* --- commit -------------------------------------------------------------------------------- */

static const struct known *known_at(const struct causal *causal, const struct s_note *commit)
{
    for (size_t i = 0; i < causal->note_count; i++)
        if (causal->note[i].event.rank == commit->event.rank &&
            causal->note[i].event.index == commit->event.index)
            return causal->note[i].known;
    return NULL;
}

static void report_commit(const struct s_pass *pass, int rank, const struct s_note *commit,
                          const struct s_note *missing, const char *what, enum verdict verdict)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, CLAIM_S_DONE, verdict);
    finding_say(finding, "rank %d committed line %" PRIu64 ": %s", commit->rank, commit->line,
                event_text(commit->event, event));
    finding_show(finding, commit->event);
    if (missing == NULL) {
        finding_say(finding, "rank %d never %s", rank, what);
        return;
    }
    finding_say(finding, "rank %d %s: %s; nothing that rank %d had heard by then tells it so", rank,
                what, event_text(missing->event, event), commit->rank);
    finding_show(finding, missing->event);
}

/* The rank had done its part, and whoever committed knew. */
static void judge_before(const struct s_pass *pass, const struct causal *causal, int rank,
                         const struct s_note *commit)
{
    const struct s_note *taken = s_find(pass, NOTE_CHECKPOINT, commit->line, rank, PEER_ANY);
    const struct s_note *saved = s_find(pass, NOTE_SAVED, commit->line, rank, PEER_ANY);
    const struct known *known = known_at(causal, commit);
    if (taken == NULL) {
        report_commit(pass, rank, commit, NULL, "took its checkpoint of it", VERDICT_VIOLATION);
        return;
    }
    if (saved == NULL) {
        report_commit(pass, rank, commit, NULL, "saved its part of it", VERDICT_VIOLATION);
        return;
    }
    /* One that has saved a later line need not have saved this one. */
    bool late = saved->ticks > commit->ticks;
    if (!late && (known == NULL || known[saved->event.rank].saved >= commit->line))
        return;
    bool sure = late || !causal->uncertain;
    report_commit(pass, rank, commit, saved, "saved its part of it",
                  sure ? VERDICT_VIOLATION : VERDICT_UNKNOWN);
}

/* A protocol may tell its commit more than once; the first counts. */
static void judge_commit(const struct s_pass *pass, const struct causal *causal, uint64_t line)
{
    const struct s_note *first = NULL;
    for (size_t i = 0; i < pass->note_count; i++)
        if (pass->note[i].kind == NOTE_COMMIT && pass->note[i].line == line &&
            (first == NULL || pass->note[i].ticks < first->ticks))
            first = &pass->note[i];
    for (int rank = 0; rank < pass->histories->ranks && first != NULL; rank++)
        if (s_is_rank(pass, rank))
            judge_before(pass, causal, rank, first);
}

void s_judge_done(const struct s_pass *pass)
{
    for (size_t i = 0; i < pass->line_count && pass->judging->asked[CLAIM_S_DONE]; i++) {
        uint64_t line = pass->line[i];
        if (!s_tells_channels(pass, line))
            continue;
        for (int rank = 0; rank < pass->histories->ranks; rank++) {
            judge_once(pass, rank, line);
            judge_saved(pass, rank, line);
        }
        judge_commit(pass, &pass->judging->causal[pass->incarnation], line);
    }
}
