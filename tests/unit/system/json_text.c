/* Texts of any bytes in JSON, and back. */
#include "system/json_text.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
    "",
    "plain",
    "rank 0 \xe2\x86\x92 rank 1, \xc3\xa4, \xf0\x9f\x99\x82",
    "\xff",
    "caf\xe9/r\xe9sultat.lua",               /* Latin-1 */
    "\xe2\x86",                              /* cut */
    "\xc0\xaf \xe0\x80\xaf",                 /* too long a form */
    "\xed\xa0\x80",                          /* a surrogate */
    "\xf4\x90\x80\x80",                      /* above U+10FFFF */
    "\x80\xbf\xc1\xf5\xfe\xff \xe2\x86\x92", /* and then one that is good */
};

static void check_text(const char *text)
{
    json_t *string = json_text(text);
    char *written = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    json_t *read = written != NULL ? json_loads(written, JSON_DECODE_ANY, NULL) : NULL;
    char *back = json_text_value(read);
    check(back != NULL && strcmp(back, text) == 0, "%s comes back", written ? written : "nothing");
    free(back);
    json_decref(read);
    free(written);
    json_decref(string);
}

int main(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_text(texts[i]);
    for (int byte = 1; byte < 256; byte++)
        check_text((const char[]){'a', (char)byte, (char)(byte ^ 0x5a ? byte ^ 0x5a : 1), 0});
    check(json_text(NULL) == NULL, "no text is none");
    json_t *number = json_integer(3);
    check(json_text_value(number) == NULL && json_text_value(NULL) == NULL, "nor is a number one");
    json_decref(number);
    return done();
}
