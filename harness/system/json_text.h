/* Texts in JSON that may hold any bytes: paths, arguments, what programs say. JSON knows UTF-8
 * alone; a byte that is part of no UTF-8 character is written as the character U+F700 + byte (of
 * the private use area), and read back as the byte. Other texts are as they are. */
#ifndef SYSTEM_JSON_TEXT_H
#define SYSTEM_JSON_TEXT_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* NULL for NULL. */
json_t *json_text(const char *text);

/* An array of them. */
json_t *json_texts(char *const *texts, size_t count);

/* The text of a JSON string, to be freed; NULL if it is none. */
char *json_text_value(const json_t *string);

/* Writes `root` to `out`, then `after`, and releases it. flags: JSON_COMPACT and the like. Whether
 * the stream took it the stream says (ferror). */
void json_put(json_t *root, FILE *out, size_t flags, const char *after);

/* Writes `root` in place of the file `path`, whole or not at all, each level indented by `indent`.
 * ERROR_IO. */
enum error_code json_store(const json_t *root, const char *path, size_t indent,
                           struct error *error);

/* *root becomes the document in the file `path`, to be released with json_decref; NULL after an
 * error: ERROR_FORMAT with the line, or that it is no regular file; ERROR_IO where the file cannot
 * be opened; ERROR_LIMIT (regular_file.h). */
enum error_code json_fetch(const char *path, json_t **root, struct error *error);

/* The document in the file `name` of `folder`; NULL where there is none that can be read. */
json_t *json_fetch_from(const char *folder, const char *name);

#endif
