/* Every trace of oracles/golden is judged as it says itself: the verdict, and each finding with
 * exactly its witness, and none besides; the sentences of all findings are those of
 * oracles/said.txt. And each claim has one that breaks it and a near miss that does not; for a cell
 * of coverage, one that has it and one that has not. */
#include "oracles/judging.h"
#include "shown_again.h"
#include "tap.h"

#include <ctype.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void show(const struct finding *finding)
{
    printf("# %s %s:", verdict_text(finding->verdict), finding->claim->id);
    for (unsigned i = 0; i < finding->witness_count; i++)
        printf(" r%d#%d:e%" PRIu64, finding->witness[i].rank, finding->witness[i].incarnation,
               finding->witness[i].index);
    printf("\n");
    for (unsigned i = 0; i < finding->why_count; i++)
        printf("#   %s\n", finding->why[i]);
}

static void compare(const char *name, const struct example *example,
                    const struct judgement *judgement)
{
    bool good = check(example->has_verdict, "%s says its verdict", name);
    good &= check(judgement->verdict == example->verdict, "%s: verdict %s (expected %s)", name,
                  verdict_text(judgement->verdict), verdict_text(example->verdict));
    for (size_t i = 0; i < example->expected_count; i++)
        good &= check(example_found(&example->expected[i], judgement), "%s: %s with its witness",
                      name, example->expected[i].claim->id);
    for (size_t i = 0; i < judgement->finding_count; i++)
        good &= check(example_expects(example, &judgement->findings[i]) &&
                          judgement->findings[i].why_count > 0,
                      "%s: nothing else is found", name);
    good &=
        check(judgement->finding_count == example->expected_count, "%s: %zu findings, %zu expected",
              name, judgement->finding_count, example->expected_count);
    for (size_t i = 0; i < example->situations_count; i++) {
        const struct expected_situations *expected = &example->situations[i];
        uint64_t seen = example_situations(expected->claim, judgement);
        check(seen == expected->count, "%s: %s arose %" PRIu64 " times, %" PRIu64 " expected", name,
              expected->claim->id, seen, expected->count);
    }
    for (size_t i = 0; i < judgement->finding_count && !good; i++)
        show(&judgement->findings[i]);
}

/* --- the verifier ----------------------------------------------------------------------- */

static bool is_derived_again(const struct example *example, const struct finding *finding)
{
    struct witness_reference references[EXAMPLE_MAX];
    struct witness witness = witness_of(example, finding, references);
    return witness_holds(&witness);
}

static void look_again(const char *name, const struct example *example,
                       const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == VERDICT_VIOLATION &&
            !check(is_derived_again(example, &judgement->findings[i]),
                   "%s: its violation of %s is derived again from the witness", name,
                   judgement->findings[i].claim->id))
            show(&judgement->findings[i]);
}

/* --- one of each for each claim ------------------------------------------------------------ */

#define CELL_MARK ".cell." /* in the id of a claim that is coverage */

static struct {
    unsigned rejected;
    unsigned near;
} held[CLAIM_COUNT];

/* The near misses of a claim are the files "c_late_log*near*.txt" for C.late.log. */
static bool is_near_miss(const char *name, const char *id)
{
    size_t length = strlen(id);
    for (size_t i = 0; i < length; i++)
        if (name[i] != (id[i] == '.' ? '_' : tolower((unsigned char)id[i])))
            return false;
    return (name[length] == '_' || name[length] == '.') && strstr(name + length, "near") != NULL;
}

/* Judged always, whatever arises. */
static bool needs_no_situation(const char *id)
{
    return id[0] == 'I' || strcmp(id, "H.progress") == 0;
}

static void count_held(const char *name, const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        held[finding->claim - claims].rejected +=
            finding->verdict == VERDICT_VIOLATION || finding->verdict == VERDICT_HARNESS_ERROR;
    }
    for (size_t i = 0; i < judgement->result_count; i++) {
        const struct claim_result *result = &judgement->results[i];
        size_t claim = (size_t)(result->claim - claims);
        const char *id = result->claim->id;
        bool arose = result->situations > 0;
        if (strstr(id, CELL_MARK) != NULL) {
            held[claim].near += arose;
            held[claim].rejected += !arose;
        } else if (judgement->verdict == VERDICT_PASS && result->verdict == VERDICT_PASS &&
                   (arose || needs_no_situation(id))) {
            held[claim].near += is_near_miss(name, id);
        }
    }
}

static void check_held(void)
{
    for (size_t i = 0; i < claim_count; i++) {
        bool cell = strstr(claims[i].id, CELL_MARK) != NULL;
        check(held[i].rejected > 0, "%s: %u traces %s", claims[i].id, held[i].rejected,
              cell ? "without it" : "are rejected");
        check(held[i].near > 0, "%s: %u traces %s", claims[i].id, held[i].near,
              cell ? "have it" : "are near misses that are accepted");
    }
}

/* --- what is said -------------------------------------------------------------------------- */

#define SAID "oracles/said.txt"

static void say(FILE *said, const char *name, const struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        fprintf(said, "%s: %s %s\n", name, verdict_text(finding->verdict), finding->claim->id);
        for (unsigned k = 0; k < finding->why_count; k++)
            fprintf(said, "  %s\n", finding->why[k]);
    }
}

/* Length of the first line of both, if it is the same; 0: it is not, or one of them has no more. */
static size_t same_line(const char *a, const char *b)
{
    size_t length = strcspn(a, "\n") + 1;
    return *a != '\0' && strncmp(a, b, length) == 0 ? length : 0;
}

/* Where they differ the new ones are left beside this program. */
static void check_said(const char *program, const char *now)
{
    char path[4096];
    static char then[1 << 20];
    FILE *file = fopen(SAID, "r");
    const char *a = then, *b = now;
    if (file != NULL)
        then[fread(then, 1, sizeof then - 1, file)] = '\0';
    if (file != NULL)
        fclose(file);
    for (size_t length; (length = same_line(a, b)) > 0; b += length)
        a += length;
    if (check(*a == '\0' && *b == '\0', "findings have the sentences that " SAID " has"))
        return;
    printf("# there: %.*s\n# now:   %.*s\n", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    snprintf(path, sizeof path, "%s.said", program);
    file = fopen(path, "w");
    if (file != NULL && fputs(now, file) >= 0 && fclose(file) == 0)
        printf("# If it is right now: mv %s " SAID "\n", path);
    else
        printf("# %s cannot be written\n", path);
}

/* --- all ----------------------------------------------------------------------------------- */

static void run(const char *path, FILE *said)
{
    static struct example example;
    struct judgement judgement = {0};
    struct error error = {0};
    const char *name = strrchr(path, '/') + 1;
    if (check(example_read(path, &example, &error) == OK, "%s is read", name)) {
        enum error_code code = judge(&example.traces, &example.facts, example.id, example.id_count,
                                     &judgement, &error);
        if (check(code == OK, "%s is judged", name)) {
            compare(name, &example, &judgement);
            look_again(name, &example, &judgement);
            count_held(name, &judgement);
            say(said, name, &judgement);
        }
        judgement_release(&judgement);
    }
    if (error.code != OK)
        printf("# %s\n", error.text);
    example_release(&example);
}

int main(int argc, char **argv)
{
    glob_t found;
    char *now = NULL;
    size_t length = 0;
    FILE *said = open_memstream(&now, &length);
    if (!check(glob("oracles/golden/*.txt", 0, NULL, &found) == 0, "there are golden traces"))
        return done();
    for (size_t i = 0; i < found.gl_pathc; i++)
        run(found.gl_pathv[i], said);
    globfree(&found);
    check_held();
    fclose(said);
    check_said(argc > 0 ? argv[0] : "golden", now);
    free(now);
    return done();
}
