/* What a guided campaign tries next: runs that brought what few had brought are kept, and most
 * later ones are made from them, with another end of the schedule or another fault. Fuzzers do that
 * with inputs ("coverage-guided": Zalewski's AFL). What is kept and made depends on the seed and on
 * what earlier runs brought, in their order: not on how many were under way at once. Must not know:
 * how runs are made, what the things are that they bring. */
#ifndef STRATEGY_GUIDE_H
#define STRATEGY_GUIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUIDE_LAG 16          /* a run is made of what those before brought, but for the newest */
#define GUIDED_BRANCHES 8     /* of one run, at most */
#define GUIDED_LIVES 8        /* of a run: in later ones it does not branch */
#define GUIDED_TEXT_BYTES 320 /* of the branches of one run */

/* From this choice of this incarnation on all is decided at random, from another seed. */
struct guided_branch {
    unsigned incarnation;
    unsigned choice;
    uint64_t seed;
};

/* How a run is made. */
struct guided_run {
    uint64_t root;  /* its plan, and what its decisions are drawn from, are those of this plan */
    uint64_t other; /* one fault is drawn as that plan has it; `root`: none is */
    unsigned branches;
    struct guided_branch branch[GUIDED_BRANCHES]; /* each later in the run than the one before */
};

/* What became of a run. */
struct guided_seen {
    const uint32_t *thing; /* what it brought, by numbers of the caller's; borrowed */
    size_t things;
    unsigned lives;
    unsigned choices[GUIDED_LIVES]; /* in each */
};

/* The run that plan `index` alone makes. */
struct guided_run guided_plain(uint64_t index);

/* The branches: "+0.12:9a3f+1.30:77", incarnation, choice, and the seed in base 16; "": none. As
 * the step engine takes it behind the name of a policy. false: it is none of these. */
void guided_text(const struct guided_run *run, char text[GUIDED_TEXT_BYTES]);
bool guided_parse(const char *text, struct guided_run *run);

struct guide;

/* Runs have the plans first, first + stride, ... Owned by the caller: guide_release. */
struct guide *guide_new(uint64_t seed, uint64_t first, uint64_t stride);
void guide_release(struct guide *guide);

/* What became of the run of plan `index`, which was made so. In any order; what came earlier under
 * the same number stays. */
void guide_take(struct guide *guide, uint64_t index, const struct guided_run *made,
                const struct guided_seen *seen);

/* guide_next can say: GUIDE_LAG runs before it all were taken. */
bool guide_is_ready(const struct guide *guide);

/* How the run of the next plan is to be made. */
struct guided_run guide_next(struct guide *guide);

#endif
