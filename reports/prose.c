/* See prose.h. */
#include "reports/prose.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Length of the character of UTF-8 at `text`, 0: it is none. */
static size_t character_bytes(const char *text)
{
    static const struct {
        unsigned char mask, lead, second_least;
    } forms[] = {{0xe0, 0xc2, 0x80}, {0xf0, 0xe0, 0x80}, {0xf8, 0xf0, 0x80}};
    unsigned char byte = (unsigned char)text[0];
    if (byte < 0x80)
        return 1;
    for (size_t i = 0; i < 3; i++) {
        size_t bytes = i + 2;
        if ((byte & forms[i].mask) != (forms[i].lead & forms[i].mask) || byte < forms[i].lead)
            continue;
        for (size_t k = 1; k < bytes; k++)
            if (((unsigned char)text[k] & 0xc0) != 0x80)
                return 0;
        bool is_short = (byte == 0xe0 && (unsigned char)text[1] < 0xa0) ||
                        (byte == 0xf0 && (unsigned char)text[1] < 0x90);
        return is_short ? 0 : bytes;
    }
    return 0;
}

/* Below 0xa0 only the C1 controls have two bytes. */
static bool is_control(const char *text, size_t bytes)
{
    unsigned char byte = (unsigned char)text[0];
    return bytes == 1 ? byte < ' ' || byte == 0x7f : byte == 0xc2 && (unsigned char)text[1] < 0xa0;
}

/* Prints, unless `out` is NULL; returns the columns it takes. *text moves on. */
static size_t put_character(FILE *out, const char **text)
{
    size_t bytes = character_bytes(*text), columns = 1;
    bool plain = bytes > 0 && !is_control(*text, bytes);
    if (!plain) {
        bytes = 1;
        columns = sizeof "\\xNN" - 1;
    }
    if (out != NULL && plain)
        fwrite(*text, 1, bytes, out);
    else if (out != NULL)
        fprintf(out, "\\x%02x", (unsigned char)**text);
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
