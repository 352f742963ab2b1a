/* See json_text.h. */
#include "system/json_text.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "base/whole_file.h"
#include "system/path.h"
#include "system/printable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WRITTEN_BYTES 3 /* of U+F780 .. U+F7FF: EF 9E 80 .. EF 9F BF */

json_t *json_text(const char *text)
{
    json_t *string = text != NULL ? json_string(text) : NULL;
    if (string != NULL || text == NULL)
        return string;
    char *written = memory_new(WRITTEN_BYTES, strlen(text) + 1);
    size_t used = 0;
    while (*text != '\0') {
        size_t bytes = character_bytes((const unsigned char *)text);
        if (bytes > 0) {
            memcpy(written + used, text, bytes);
            used += bytes;
            text += bytes;
            continue;
        }
        unsigned byte = (unsigned char)*text++; /* 0x80 .. 0xff */
        written[used++] = (char)0xef;
        written[used++] = (char)(0x9c | byte >> 6);
        written[used++] = (char)(0x80 | (byte & 0x3f));
    }
    string = json_string(written);
    free(written);
    return string;
}

json_t *json_texts(char *const *texts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_text(texts[i]));
    return array;
}

char *json_text_value(const json_t *string)
{
    const char *from = json_string_value(string);
    if (from == NULL)
        return NULL;
    char *text = memory_text(from);
    unsigned char *to = (unsigned char *)text;
    for (const unsigned char *at = (const unsigned char *)from; *at != '\0';) {
        if (at[0] == 0xef && (at[1] == 0x9e || at[1] == 0x9f)) {
            *to++ = (unsigned char)((at[1] & 3) << 6 | (at[2] & 0x3f));
            at += WRITTEN_BYTES;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    return text;
}

/* A document that is not there was put together without memory. */
static void dump(const json_t *root, FILE *out, size_t flags)
{
    if (root == NULL || (json_dumpf(root, out, flags) != 0 && !ferror(out)))
        memory_refused();
}

void json_put(json_t *root, FILE *out, size_t flags, const char *after)
{
    dump(root, out, flags);
    fputs(after, out);
    json_decref(root);
}

enum error_code json_store(const json_t *root, const char *path, size_t indent, struct error *error)
{
    struct whole_file file;
    enum error_code code = whole_file_begin(&file, path, WHOLE_OURS, error);
    if (code != OK)
        return code;
    dump(root, file.out, JSON_INDENT(indent));
    return whole_file_end(&file, OK, error);
}

enum error_code json_fetch(const char *path, json_t **root, struct error *error)
{
    json_error_t where;
    struct error inner = {0};
    FILE *file = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, &inner);
    *root = file != NULL ? json_loadf(file, 0, &where) : NULL;
    if (file == NULL)
        return error_set(error, inner.code, "%s", inner.text);
    fclose(file);
    if (*root != NULL)
        return OK;
    return error_set(error, ERROR_FORMAT, "%s:%d: %s", path, where.line, where.text);
}

json_t *json_fetch_from(const char *folder, const char *name)
{
    struct path path;
    json_t *root = NULL;
    if (path_format(&path, NULL, "%s/%s", folder, name) == OK)
        (void)json_fetch(path.text, &root, NULL);
    return root;
}
