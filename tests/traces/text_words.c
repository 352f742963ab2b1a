/* The words of a text trace's line: see text_parse.h. */
#include "traces/text_parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) enum error_code text_fail(const struct parser *parser,
                                                                const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(parser->error, ERROR_FORMAT, "%s:%u: %s", parser->path, parser->line, text);
}

/* The next word. False at the end of the line; '#' between words begins a comment. */
bool text_next_word(struct parser *parser, char word[WORD_BYTES])
{
    const char *at = parser->at;
    while (*at == ' ' || *at == '\t')
        at++;
    size_t length = strcspn(at, " \t\r\n");
    if (length == 0 || *at == '#') {
        parser->at = "";
        return false;
    }
    if (length >= WORD_BYTES)
        length = WORD_BYTES - 1;
    memcpy(word, at, length);
    word[length] = '\0';
    parser->at = at + length;
    return true;
}

bool text_peek_word(const struct parser *parser, char word[WORD_BYTES])
{
    struct parser copy = *parser;
    return text_next_word(&copy, word);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* "text" with \" \\ \xHH. length of what was read in *length. */
enum error_code text_quoted(struct parser *parser, const char *field, char *text, size_t room,
                            size_t *length)
{
    const char *at = parser->at + strspn(parser->at, " \t");
    size_t used = 0;
    if (*at++ != '"')
        return text_fail(parser, "%s: must be a text in double quotes", field);
    for (; *at != '"'; at++) {
        char c = *at;
        if (c == '\0' || c == '\n')
            return text_fail(parser, "%s: the double quote at the end is missing", field);
        if (c == '\\' && (at[1] == '"' || at[1] == '\\')) {
            c = *++at;
        } else if (c == '\\') {
            if (at[1] != 'x' || !isxdigit((unsigned char)at[2]) || !isxdigit((unsigned char)at[3]))
                return text_fail(
                    parser, "%s: after \\ comes \", \\ or x and two hexadecimal digits", field);
            c = (char)(hex_digit(at[2]) * 16 + hex_digit(at[3]));
            at += 3;
        }
        if (used == room)
            return text_fail(parser, "%s: longer than %zu bytes", field, room);
        text[used++] = c;
    }
    parser->at = at + 1;
    *length = used;
    return OK;
}

enum error_code text_parse_number(const struct parser *parser, const char *field, const char *word,
                                  uint64_t highest, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoull(word, &end, 0);
    if (!isdigit((unsigned char)word[0]) || *end != '\0' || errno != 0 || *value > highest)
        return text_fail(parser, "%s: '%s' is not a number from 0 to %" PRIu64, field, word,
                         highest);
    return OK;
}

enum error_code text_number(struct parser *parser, const char *field, uint64_t highest,
                            uint64_t *value)
{
    char word[WORD_BYTES];
    if (!text_next_word(parser, word))
        return text_fail(parser, "%s: a number from 0 to %" PRIu64 " must follow", field, highest);
    return text_parse_number(parser, field, word, highest, value);
}

enum error_code text_peer(struct parser *parser, const char *field, int64_t *value)
{
    char word[WORD_BYTES] = "";
    uint64_t rank = 0;
    text_next_word(parser, word);
    for (*value = PEER_UNKNOWN; *value < 0; (*value)++)
        if (strcmp(word, peer_word(*value)) == 0)
            return OK;
    if (!isdigit((unsigned char)word[0]))
        return text_fail(parser, "%s: '%s' is not a rank (0 to %d), any, null, none or unknown",
                         field, word, TEXT_RANKS - 1);
    enum error_code code = text_parse_number(parser, field, word, TEXT_RANKS - 1, &rank);
    *value = (int64_t)rank;
    return code;
}

enum error_code text_tag(struct parser *parser, const char *field, int64_t *value)
{
    char word[WORD_BYTES] = "";
    char *end = NULL;
    text_next_word(parser, word);
    if (strcmp(word, "any") == 0) {
        *value = TAG_ANY;
        return OK;
    }
    *value = strtol(word, &end, 0);
    if (end == word || *end != '\0' || *value < INT32_MIN || *value > INT32_MAX)
        return text_fail(parser, "%s: '%s' is not a tag (a number, or any)", field, word);
    return OK;
}
