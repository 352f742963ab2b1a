/* Running text: broken between words, and nothing in it that a terminal would obey. */
#include "reports/text/prose.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

static char *printed(const char *first, const char *text)
{
    char *printed_text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&printed_text, &bytes);
    prose_print(out, first, text);
    fclose(out);
    return printed_text;
}

static void test_is(const char *text, const char *expected, const char *what)
{
    char *is = printed("", text);
    if (!check(strcmp(is, expected) == 0, "%s", what))
        printf("# %s", is);
    free(is);
}

static void test_lines(void)
{
    char *text = printed("  - ", "one two three four five six seven eight nine ten eleven twelve "
                                 "thirteen fourteen fifteen sixteen");
    const char *second = strchr(text, '\n') + 1;
    check(strncmp(text, "  - one two", 11) == 0, "the first line has what stands in front");
    check(strncmp(second, "    ", 4) == 0 && second[4] != ' ', "the second has as many blanks");
    check(strcspn(text, "\n") <= PROSE_WIDTH, "no line is too long");
    free(text);
    char word[200];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    text = printed("", word);
    check(strlen(text) == sizeof word, "a word that is too long stays whole");
    free(text);
    char arrows[PROSE_WIDTH * 3 + 1] = "";
    for (int i = 0; i < PROSE_WIDTH; i++)
        memcpy(arrows + 3 * i, i % 2 == 0 ? "\u2192" : " ab", 4);
    text = printed("", arrows);
    check(strchr(text, '\n') != NULL, "characters of several bytes are characters");
    free(text);
}

int main(void)
{
    test_lines();
    test_is("a\x1b[31m b\x01", "a\\x1b[31m b\\x01\n", "control characters are told, not sent");
    test_is("\xff\xc0\xaf \xed", "\\xff\\xc0\\xaf \\xed\n", "what is no UTF-8 is told");
    test_is("m(0\u21921)", "m(0\u21921)\n", "what is UTF-8 stays");
    test_is("a \u202e b \xc2\x85 c", "a \\xe2\\x80\\xae b \\xc2\\x85 c\n",
            "nor is what turns the line around, or ends it");
    test_is("  a\n b  ", "a b\n", "blanks and ends of lines are blanks between words");
    return done();
}
