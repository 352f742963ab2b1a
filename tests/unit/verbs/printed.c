/* What a rank prints, compared with what it prints without faults. */
#include "run/printed.h"
#include "tap.h"

#include <string.h>

#define PLAIN "output"

static struct printed compared(const char *result, const char *reference, const char *text,
                               bool after_restart)
{
    struct printed printed = {.rank = 1};
    printed_compare_texts(result, reference, text, after_restart, &printed);
    return printed;
}

static bool same(const char *result, const char *reference, const char *text, bool after_restart)
{
    return compared(result, reference, text, after_restart).state == PRINTED_SAME;
}

/* Line `reference_line` should be line `line`; 0: there is none. */
static void differs(const char *what, struct printed printed, unsigned line,
                    unsigned reference_line)
{
    check(printed.state == PRINTED_OTHER && printed.line == line &&
              printed.reference_line == reference_line,
          "%s: line %u and %u (expected %u and %u), \"%s\" and \"%s\"", what,
          (unsigned)printed.line, (unsigned)printed.reference_line, line, reference_line,
          printed.text, printed.reference_text);
    check((line == 0) != (reference_line == 0) || strcmp(printed.text, printed.reference_text) != 0,
          "%s: what is told of the two lines differs", what);
}

static void test_one_life(void)
{
    check(same(PLAIN, "a\nb\n", "a\nb\n", false) && same(PLAIN, "", "", false), "the same");
    check(same(PLAIN, "a\nb\n", "a\nb", false), "the end of the last line may be missing");
    differs("another line", compared(PLAIN, "a\nb\nc\n", "a\nx\nc\n", false), 2, 2);
    differs("a line less", compared(PLAIN, "a\nb\n", "a\n", false), 0, 2);
    differs("a line more", compared(PLAIN, "a\n", "a\nb\n", false), 2, 0);
    differs("an empty line more", compared(PLAIN, "a\nb\n", "a\n\nb\n", false), 2, 2);
    differs("no output", compared(PLAIN, "a\n", "", false), 0, 1);
    differs("without a restart there is no gap", compared(PLAIN, "a\nb\nc\n", "a\nc\n", false), 2,
            2);
}

static void test_after_restart(void)
{
    check(same(PLAIN, "a\nb\nc\n", "a\nb\nc\n", true), "from the beginning");
    check(same(PLAIN, "a\nb\nc\n", "c\n", true), "from where it was restored");
    check(same(PLAIN, "hello\na\nb\nc\n", "hello\nc\n", true), "after a line of the start");
    differs("the end", compared(PLAIN, "a\nb\nc\n", "b\nx\n", true), 2, 3);
    differs("the end is missing", compared(PLAIN, "a\nb\nc\n", "b\n", true), 1, 3);
    differs("two gaps", compared(PLAIN, "a\nb\nc\nd\ne\n", "a\nc\ne\n", true), 2, 4);
    differs("more than without faults", compared(PLAIN, "a\nb\n", "a\nb\nb\n", true), 3, 0);
    differs("a line in another place", compared(PLAIN, "a\nb\nc\n", "b\na\nc\n", true), 1, 1);
}

static void test_patterns(void)
{
    const char *seconds = PLAIN "\n[0-9.]+ s";
    check(same(seconds, "in 1.5 s: 42\n", "in 2.25 s: 42\n", false), "a time is left out");
    differs("and nothing else", compared(seconds, "in 1.5 s: 42\n", "in 2 s: 41\n", false), 1, 1);
    check(same(PLAIN "\n^#.*", "a\n# one\nb\n", "# two\n# three\na\nb\n", false),
          "a line of which nothing is left counts for nothing");
    differs("its number is that in the file",
            compared(PLAIN "\n^#.*", "# one\na\n", "# one\n# two\nb\n", false), 3, 2);
    check(same(PLAIN "\nx*", "axbx\n", "ab\n", false), "a pattern that matches nothing, too");
    check(same(PLAIN "\n^ab", "abab\n", "ab\n", false) == false, "a beginning is there once");
    check(same(PLAIN "\n[0-9]+\nms$", "12 ms\n", "7 \n", false), "one pattern after another");
    struct error error = {0};
    check(printed_check(seconds, &error) == OK && printed_check(PLAIN, &error) == OK,
          "patterns that are some");
    check(printed_check(PLAIN "\na\n(b", &error) == ERROR_USAGE &&
              strstr(error.text, "\"(b\" is no extended regular expression") != NULL,
          "one that is none: %s", error.text);
    check(compared(PLAIN "\n(b", "", "", false).state == PRINTED_UNKNOWN,
          "and one that a run folder has");
}

static void test_long_lines(void)
{
    char reference[1000], text[1000];
    memset(reference, 'x', sizeof reference - 1);
    reference[sizeof reference - 1] = '\0';
    memcpy(text, reference, sizeof text);
    text[700] = 'y';
    struct printed printed = compared(PLAIN, reference, text, false);
    differs("a long line", printed, 1, 1);
    check(strchr(printed.text, 'y') != NULL && strncmp(printed.text, "...", 3) == 0,
          "where a long line differs is told: %s", printed.text);
    text[700] = '\0';
    differs("an end of a long line", compared(PLAIN, reference, text, false), 1, 1);
}

int main(void)
{
    test_one_life();
    test_after_restart();
    test_patterns();
    test_long_lines();
    return done();
}
