/* See words.h. */
#include "reports/text/words.h"

#include "reports/glossary.h" /* generated: `words` */

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

const struct word *words_all(size_t *count)
{
    *count = sizeof words / sizeof words[0];
    return words;
}

/* What belongs to a word, or to a name of which it would be a part: "line-2", "event=send". */
static bool goes_on(char next)
{
    return isalnum((unsigned char)next) || (next != '\0' && strchr("_-/#=", next) != NULL);
}

const struct word *words_at(const char *text, size_t *bytes)
{
    const struct word *found = NULL;
    *bytes = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].form);
        if (length <= *bytes || strncasecmp(text, words[i].form, length) != 0)
            continue;
        length += text[length] == 's';
        if (goes_on(text[length]))
            continue;
        found = &words[i];
        *bytes = length;
    }
    return found;
}
