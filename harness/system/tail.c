/* See tail.h. */
#include "system/tail.h"

#include "base/memory.h"
#include "base/regular_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t read_end(const char *path, char text[TAIL_READ_BYTES + 1])
{
    FILE *file = regular_stream(path, LINKS_REFUSED, REGULAR_ANY, NULL);
    if (file == NULL)
        return 0;
    if (fseek(file, -TAIL_READ_BYTES, SEEK_END) != 0)
        rewind(file);
    size_t length = fread(text, 1, TAIL_READ_BYTES, file);
    fclose(file);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return length;
}

char *tail_read(const char *path, unsigned lines)
{
    char text[TAIL_READ_BYTES + 1];
    size_t length = read_end(path, text);
    char *start = text + length;
    for (unsigned seen = 0; start > text; start--)
        if (start[-1] == '\n' && ++seen == lines)
            break;
    return length > 0 ? memory_text(start) : NULL;
}
