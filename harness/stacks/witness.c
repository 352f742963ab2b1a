/* See witness.h. */
#include "stacks/witness.h"

#include "system/json_text.h"
#include "system/path.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static bool take_event(const char *text, struct event_ref *event)
{
    size_t bytes = text != NULL ? event_parse(text, event) : 0;
    return bytes > 0 && text[bytes] == '\0';
}

enum error_code witness_read(const char *run, struct witness *witness, struct error *error)
{
    struct path path;
    *witness = (struct witness){0};
    enum error_code code = path_format(&path, error, "%s/verdict.json", run);
    if (code != OK || !path_exists(path.text))
        return code;
    json_t *root;
    code = json_fetch(path.text, &root, error);
    if (code != OK)
        return code;
    const json_t *finding = json_array_get(json_object_get(root, "findings"), 0);
    const json_t *events = json_object_get(finding, "witness");
    for (size_t i = 0; code == OK && i < json_array_size(events) && i < WITNESS_MOST; i++) {
        const char *text = json_string_value(json_array_get(events, i));
        if (take_event(text, &witness->event[witness->count]))
            witness->count++;
        else
            code = error_set(error, ERROR_FORMAT, "%s: \"%.64s\" is no event (r2#1:e9)", path.text,
                             text != NULL ? text : "");
    }
    json_decref(root);
    return code;
}
