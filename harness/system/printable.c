/* See printable.h. */
#include "system/printable.h"

#include <string.h>

/* The shortest form only, no surrogates, at most U+10FFFF. */
size_t character_bytes(const unsigned char *text)
{
    static const struct {
        unsigned char mask, first;
        unsigned least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if ((text[0] & forms[i].mask) != forms[i].first)
            continue;
        unsigned code = text[0] & (unsigned char)~forms[i].mask;
        for (size_t k = 1; k <= i; k++) {
            if ((text[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[k] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code < forms[i].least || code > 0x10ffff || surrogate ? 0 : i + 1;
    }
    return 0;
}

bool character_turns(const unsigned char *text, size_t bytes)
{
    if (bytes != 3 || text[0] != 0xe2)
        return false;
    unsigned last = text[2];
    return (text[1] == 0x80 && (last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae))) ||
           (text[1] == 0x81 && last >= 0xa6 && last <= 0xa9);
}

/* U+0080 to U+009F are controls: some terminals take U+009B for ESC [. */
static bool is_control(const unsigned char *at, size_t bytes)
{
    if (bytes == 1)
        return *at < 0x20 || *at == 0x7f;
    return bytes == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

/* U+2028 and U+2029 end lines. */
static bool is_separator(const unsigned char *at, size_t bytes)
{
    return bytes == 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9);
}

void printable_write(FILE *out, const char *text, const char *kept)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        size_t bytes = character_bytes(at);
        bool plain = bytes > 0 && !is_control(at, bytes) && !is_separator(at, bytes) &&
                     !character_turns(at, bytes);
        size_t length = bytes > 0 ? bytes : 1;
        if (plain || (bytes == 1 && strchr(kept, *at) != NULL))
            fwrite(at, 1, length, out);
        else
            for (size_t i = 0; i < length; i++)
                fprintf(out, "\\x%02x", at[i]);
        at += length;
    }
}
