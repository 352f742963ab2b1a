/* Every trace of oracles/golden is judged as it says itself: the verdict, and each finding with
 * exactly its witness, and none besides. */
#include "oracles/example.h"
#include "tap.h"

#include <glob.h>
#include <inttypes.h>
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

static void run(const char *path)
{
    static struct example example;
    struct judgement judgement = {0};
    struct error error = {0};
    const char *name = strrchr(path, '/') + 1;
    if (check(example_read(path, &example, &error) == OK, "%s is read", name)) {
        enum error_code code = judge(&example.traces, &example.facts, example.id, example.id_count,
                                     &judgement, &error);
        if (check(code == OK, "%s is judged", name))
            compare(name, &example, &judgement);
        judgement_release(&judgement);
    }
    if (error.code != OK)
        printf("# %s\n", error.text);
    example_release(&example);
}

int main(void)
{
    glob_t found;
    if (!check(glob("oracles/golden/*.txt", 0, NULL, &found) == 0, "there are golden traces"))
        return done();
    for (size_t i = 0; i < found.gl_pathc; i++)
        run(found.gl_pathv[i]);
    globfree(&found);
    return done();
}
