/* reports/results/tap.c: what it writes can be read by anything that reads TAP. */
#include "reports/results/tap.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static char *text;
static size_t length;
static FILE *out;

static void begin(void)
{
    free(text);
    text = NULL;
    out = open_memstream(&text, &length);
}

static bool is(const char *expected)
{
    fclose(out);
    bool same = strcmp(text, expected) == 0;
    if (!same)
        printf("# got: %s\n", text);
    return same;
}

static void test_lines(void)
{
    begin();
    tap_header(out);
    tap_plan(out, 3);
    check(is("TAP version 13\n1..3\n"), "header and plan");
    begin();
    tap_line(out, true, 1, "plain name: a/b_c, 1.5 + x=2", NULL);
    check(is("ok 1 - plain name: a/b_c, 1.5 + x=2\n"), "a plain name stays");
    begin();
    tap_line(out, false, 2, "odd # TODO \"x\"\n\\ \xc3\xa9", "H.loss");
    check(is("not ok 2 - odd _ TODO _x___ __ # H.loss\n"), "a name cannot make a directive");
    begin();
    tap_bail_out(out, "nothing");
    check(is("Bail out! nothing\n"), "bail out");
    begin();
    tap_bail_out(out, "in o\nok 1 - x");
    check(is("Bail out! in o\\x0aok 1 - x\n"), "nor can what it is about make a line: bail out");
    begin();
    tap_comment(out, "runs in %s, seed %d", "a\nok 1 - x\x1b[2J\x7f\tb", 7);
    check(is("# runs in a\\x0aok 1 - x\\x1b[2J\\x7f\\x09b, seed 7\n"), "a comment");
    begin();
    tap_comment(out, "%s", "\xc3\xa9 \xc2\x9b \xe2\x80\xae \xe2\x80\xa8 \xff \\");
    check(is("# \xc3\xa9 \\xc2\\x9b \\xe2\\x80\\xae \\xe2\\x80\\xa8 \\xff \\\n"),
          "what is more than ASCII stays, but for controls, what turns text, and no UTF-8");
    begin();
    tap_line(out, false, 3, "n", "a\nok 4");
    check(is("not ok 3 - n # a\\x0aok 4\n"), "a remark");
    begin();
    char name[2 * TAP_NAME_BYTES];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tap_line(out, true, 1, name, NULL);
    fclose(out);
    check(length < TAP_NAME_BYTES + 16, "a long name is cut");
}

static void test_strings(void)
{
    begin();
    tap_string(out, "seed", "0x1234");
    check(is("  seed: \"0x1234\"\n"), "a number is a string");
    begin();
    tap_string(out, "why", "a \"quote\"\ttab\nline");
    check(is("  why: \"a \\\"quote\\\"\\ttab\\nline\"\n"), "escaped as JSON");
    begin();
    tap_string(out, "why",
               "late m(0\xe2\x86\x92"
               "2)");
    check(is("  why: \"late m(0\xe2\x86\x92"
             "2)\"\n"),
          "UTF-8 stays");
    begin();
    tap_string(out, "why", "bad \xff\xc3 bytes");
    check(is("  why: \"bad ?? bytes\"\n"), "what is no UTF-8 becomes question marks");
    begin();
    tap_row(out, "witness", (const char *const[]){"r0#0:e97", "r2#0:e118"}, 2);
    check(is("  witness: [ \"r0#0:e97\", \"r2#0:e118\" ]\n"), "a row");
    begin();
    char long_text[4 * TAP_STRING_BYTES];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    tap_string(out, "key", long_text);
    fclose(out);
    check(length < TAP_STRING_BYTES + 16, "a long string is cut");
}

static void test_block(void)
{
    begin();
    tap_block_begin(out);
    tap_list(out, "why");
    tap_item(out, "one");
    tap_block_end(out);
    check(is("  ---\n  why:\n    - \"one\"\n  ...\n"), "a block");
}

int main(void)
{
    test_lines();
    test_strings();
    test_block();
    free(text);
    return done();
}
