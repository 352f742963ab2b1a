/* See prose.h. */
#include "reports/text/prose.h"

#include "system/printable.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Below 0xa0 only the C1 controls have two bytes. */
static bool is_control(const unsigned char *text, size_t bytes)
{
    if (bytes == 1)
        return text[0] < ' ' || text[0] == 0x7f;
    return (bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0) || character_turns(text, bytes);
}

/* Prints, unless `out` is NULL; returns the columns it takes. *text moves on. */
static size_t put_character(FILE *out, const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    size_t bytes = character_bytes(at), columns = 1;
    bool plain = bytes > 0 && !is_control(at, bytes);
    if (!plain) {
        bytes = 1;
        columns = sizeof "\\xNN" - 1;
    }
    if (out != NULL && plain)
        fwrite(*text, 1, bytes, out);
    else if (out != NULL)
        fprintf(out, "\\x%02x", *at);
    *text += bytes;
    return columns;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t';
}

static size_t put_word(FILE *out, const char **text)
{
    size_t columns = 0;
    while (**text != '\0' && !is_blank(**text))
        columns += put_character(out, text);
    return columns;
}

void prose_print(FILE *out, const char *first, const char *text)
{
    size_t indent = strlen(first), used = indent;
    bool begun = false;
    fputs(first, out);
    while (*text != '\0') {
        if (is_blank(*text)) {
            text++;
            continue;
        }
        const char *ahead = text;
        size_t columns = put_word(NULL, &ahead);
        if (begun && used + 1 + columns > PROSE_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            used = indent;
        } else if (begun) {
            putc(' ', out);
            used++;
        }
        used += put_word(out, &text);
        begun = true;
    }
    putc('\n', out);
}
