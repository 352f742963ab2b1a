/* For unit tests that draw runs at random: draws, the trace as text in memory, and how it is
 * judged. Seeded: the same runs every time. Must not know: what is drawn. */
#ifndef TESTS_GENERATED_H
#define TESTS_GENERATED_H

#include "oracles/oracle.h"
#include "tap.h"
#include "traces/text_trace.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    uint64_t state;
    int file;
    char path[64]; /* of the trace: in memory, for there are many, and a disk takes its time */
} generated;

static inline bool generated_open(void)
{
    generated.file = memfd_create("generated", 0);
    snprintf(generated.path, sizeof generated.path, "/proc/self/fd/%d", generated.file);
    return generated.file >= 0;
}

static inline void generated_close(void)
{
    close(generated.file);
}

static inline void begin_drawing(uint64_t seed)
{
    generated.state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
}

static inline int draw(int below)
{
    generated.state ^= generated.state << 13;
    generated.state ^= generated.state >> 7;
    generated.state ^= generated.state << 17;
    return (int)((generated.state >> 11) % (uint64_t)below);
}

/* For the trace of the next run. */
static inline FILE *generated_file(void)
{
    FILE *out = fopen(generated.path, "w");
    if (out == NULL)
        exit(1);
    return out;
}

/* That trace, of a run that has ended in order, against the claims; a violation that cannot be
 * derived again from its witness is none, but an error. */
static inline bool generated_judge(int ranks, int incarnations, const char *const *ids,
                                   size_t count, struct judgement *judgement)
{
    struct trace_set set;
    struct error error = {0};
    struct run_facts facts = {.ranks = ranks,
                              .incarnations = incarnations,
                              .end_text = "finished",
                              .unreceived_known = true};
    if (trace_set_parse(generated.path, &set, &error) != OK) {
        printf("# %s\n", error.text);
        return false;
    }
    bool judged = judge(&set, &facts, ids, count, judgement, &error) == OK;
    if (judged)
        verify_findings(&set, &facts, judgement);
    trace_set_release(&set);
    return judged;
}

static inline bool generated_found(const struct judgement *judgement, const char *claim)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == VERDICT_VIOLATION &&
            strcmp(judgement->findings[i].claim->id, claim) == 0)
            return true;
    return false;
}

/* The trace that was judged last, for whoever looks into it. */
static inline void generated_keep(uint64_t seed)
{
    char kept[64], line[512];
    snprintf(kept, sizeof kept, "/tmp/faultline-generated.%d", (int)getpid());
    FILE *in = fopen(generated.path, "r"), *out = fopen(kept, "w");
    while (in != NULL && out != NULL && fgets(line, sizeof line, in) != NULL)
        fputs(line, out);
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        fclose(out);
    printf("# drawn from %" PRIu64 ", the trace is %s\n", seed, kept);
}

static inline void generated_show(const struct judgement *judgement, uint64_t seed)
{
    generated_keep(seed);
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        printf("# %s %s\n", verdict_text(finding->verdict), finding->claim->id);
        for (unsigned k = 0; k < finding->why_count; k++)
            printf("#   %s\n", finding->why[k]);
    }
}

#endif
