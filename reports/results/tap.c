/* See tap.h. */
#include "reports/results/tap.h"

#include "base/memory.h"
#include "system/json_text.h"
#include "system/printable.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tap_header(FILE *out)
{
    fprintf(out, "TAP version 13\n");
}

void tap_plan(FILE *out, size_t count)
{
    fprintf(out, "1..%zu\n", count);
}

void tap_bail_out(FILE *out, const char *why)
{
    fputs("Bail out! ", out);
    printable_write(out, why, "");
    fputc('\n', out);
}

void tap_comment(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = memory_vformat(format, arguments);
    va_end(arguments);
    fputs("# ", out);
    printable_write(out, text, "");
    fputc('\n', out);
    free(text);
}

static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("_./:+=,() -", c) != NULL);
}

void tap_line(FILE *out, bool ok, int number, const char *name, const char *remark)
{
    char plain[TAP_NAME_BYTES];
    size_t length = 0;
    for (; name[length] != '\0' && length + 1 < sizeof plain; length++)
        plain[length] = is_plain(name[length]) ? name[length] : '_';
    plain[length] = '\0';
    fprintf(out, "%s %d - %s%s", ok ? "ok" : "not ok", number, plain, remark != NULL ? " # " : "");
    if (remark != NULL)
        printable_write(out, remark, "");
    fputc('\n', out);
}

/* A JSON string. Output of programs may hold any bytes: those that are no UTF-8 become '?'. */
static void quote(FILE *out, const char *text)
{
    char copy[TAP_STRING_BYTES];
    size_t length = strnlen(text, sizeof copy - 1);
    memcpy(copy, text, length);
    json_t *string = json_stringn(copy, length);
    if (string == NULL) {
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)copy[i] >= 0x80)
                copy[i] = '?';
        string = json_stringn(copy, length);
    }
    json_put(string, out, JSON_ENCODE_ANY, "");
}

void tap_block_begin(FILE *out)
{
    fprintf(out, "  ---\n");
}

void tap_string(FILE *out, const char *key, const char *text)
{
    fprintf(out, "  %s: ", key);
    quote(out, text);
    fprintf(out, "\n");
}

void tap_row(FILE *out, const char *key, const char *const *texts, size_t count)
{
    fprintf(out, "  %s: [", key);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s", i > 0 ? ", " : " ");
        quote(out, texts[i]);
    }
    fprintf(out, " ]\n");
}

void tap_list(FILE *out, const char *key)
{
    fprintf(out, "  %s:\n", key);
}

void tap_item(FILE *out, const char *text)
{
    fprintf(out, "    - ");
    quote(out, text);
    fprintf(out, "\n");
}

void tap_block_end(FILE *out)
{
    fprintf(out, "  ...\n");
}
