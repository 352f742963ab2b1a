/* Family D as a whole: which incarnations are judged, and D.2.1, which asks of runs with
 * collectives what C.1.1 asks of all. See d_family.h. */
#include "oracles/collectives/d_family.h"

#include "oracles/c3/c_family.h"

#include <string.h>

static bool any_asked(const struct judging *judging)
{
    for (size_t claim = 0; claim < CLAIM_COUNT; claim++)
        if (judging->asked[claim] && strncmp(claims[claim].id, "D.", 2) == 0)
            return true;
    return false;
}

static bool has_collectives(const struct d_pass *pass)
{
    for (size_t i = 0; i < pass->call_count; i++)
        if (pass->call[i]->category != D_NO_CATEGORY && pass->call[i]->size > 1)
            return true;
    return false;
}

static enum error_code judge_stops(struct d_pass *pass, struct error *error)
{
    struct causal causal = {0};
    if (!pass->judging->asked[CLAIM_D_2_1] || !has_collectives(pass))
        return OK;
    enum error_code code = causal_read(pass->judging->traces, pass->incarnation, &causal, error);
    if (code == OK)
        c_judge_stops(pass->judging, &pass->lines, &causal, CLAIM_D_2_1);
    causal_release(&causal);
    return code;
}

static bool restores(const struct d_pass *pass)
{
    for (int rank = 0; rank < pass->lines.ranks; rank++)
        if (pass->lines.of[rank].restored.there && pass->lines.of[rank].base > 0)
            return true;
    return false;
}

static enum error_code judge_calls(struct d_pass *pass, struct error *error)
{
    enum error_code code = d_read_calls(pass, error);
    if (code == OK)
        code = d_read_wire(pass, error);
    if (code == OK)
        code = judge_stops(pass, error);
    if (code != OK)
        return code;
    d_judge_flows(pass);
    if (restores(pass))
        d_judge_recovery(pass);
    return pass->exhausted ? error_set(error, ERROR_MEMORY, "no memory for the collectives") : OK;
}

/* A line was restored that nobody took: what went before is not known. */
static bool tell_unknown(struct d_pass *pass)
{
    bool unknown = false;
    for (size_t claim = 0; claim < CLAIM_COUNT; claim++)
        if (strncmp(claims[claim].id, "D.", 2) == 0)
            unknown |=
                histories_tell_unknown(pass->judging, &pass->histories, (enum claim_id)claim);
    return unknown;
}

static enum error_code judge_incarnation(struct judging *judging, int incarnation, bool *native,
                                         struct error *error)
{
    struct d_pass pass = {.judging = judging, .incarnation = incarnation, .native = native};
    enum error_code code = lines_read(judging->traces, incarnation, &pass.lines, error);
    if (code == OK)
        code = histories_effective(judging->traces, incarnation, &pass.histories, error);
    if (code == OK && !tell_unknown(&pass))
        code = judge_calls(&pass, error);
    d_release_wire(&pass);
    d_release_calls(&pass);
    lines_release(&pass.lines);
    histories_release(&pass.histories);
    return code;
}

static enum error_code judge_family(struct judging *judging, struct error *error)
{
    bool native[D_CATEGORIES] = {false};
    enum error_code code = OK;
    if (judging->traces->count == 0 || !any_asked(judging))
        return OK;
    for (int i = 0; i < judging->traces->incarnations && code == OK; i++) {
        if (c_lives_on(judging, i)) {
            c_tell_lives_on(judging, i, "D.");
            break;
        }
        code = judge_incarnation(judging, i, native, error);
    }
    return code;
}

const struct oracle oracle_c3_collectives = {judge_family, true};
