/* See kept_stacks.h. */
#include "stacks/kept_stacks.h"

#include "base/regular_file.h"
#include "decisions/decisions.h"
#include "stacks/snapshot.h"
#include "stacks/unwind.h"
#include "system/json_text.h"
#include "system/path.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define OF_WITNESS "the witness"

static FILE *open_text(const char *folder)
{
    struct path path;
    return path_format(&path, NULL, "%s/" KEPT_STACKS_FILE, folder) == OK
               ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
               : NULL;
}

static FILE *append_text(const char *folder)
{
    struct path path;
    return path_format(&path, NULL, "%s/" KEPT_STACKS_FILE, folder) == OK
               ? regular_append(path.text, NULL)
               : NULL;
}

/* The snapshot has printed all that it can. */
static void write_one(FILE *out, const char *heading, const char *snapshot)
{
    struct error error = {0};
    fprintf(out, "%s\n", heading);
    if (unwind_write(snapshot, out, &error) != OK)
        fprintf(out, "  no call stack: %s\n", error.text);
    unlink(snapshot);
}

/* --- kills ------------------------------------------------------------------------------------ */
void kept_stacks_of_kills(const char *folder)
{
    struct path pattern;
    glob_t found = {0};
    FILE *out = NULL;
    if (path_format(&pattern, NULL, "%s/" SNAPSHOT_FOLDER "/*.killed", folder) == OK &&
        glob(pattern.text, 0, NULL, &found) == 0)
        out = append_text(folder);
    for (size_t i = 0; out != NULL && i < found.gl_pathc; i++) {
        char heading[EVENT_TEXT_BYTES];
        int rank, incarnation;
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        if (sscanf(name, "r%d.%d.killed", &rank, &incarnation) != 2)
            continue;
        snprintf(heading, sizeof heading, "r%d#%d, when it was killed", rank, incarnation);
        write_one(out, heading, found.gl_pathv[i]);
    }
    if (out != NULL)
        fclose(out);
    globfree(&found);
    if (path_format(&pattern, NULL, "%s/" SNAPSHOT_FOLDER, folder) == OK)
        rmdir(pattern.text); /* if nothing else is in there */
}

/* --- the witness ------------------------------------------------------------------------------ */
static bool has_line(const char *folder, const char *begins)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *in = open_text(folder);
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL)
        found = strncmp(line, begins, strlen(begins)) == 0;
    if (in != NULL)
        fclose(in);
    return found;
}

static bool has_event(const char *folder, const struct event_ref *event)
{
    char line[EVENT_TEXT_BYTES + 1];
    event_text(*event, line);
    strcat(line, "\n");
    return has_line(folder, line);
}

bool kept_stacks_have(const char *folder, const struct event_list *witness)
{
    for (size_t i = 0; i < witness->count; i++)
        if (has_event(folder, &witness->event[i]))
            return true;
    return false;
}

/* false: that run was not there. */
static bool find_snapshot(const char *from, const struct event_ref *event, struct path *path)
{
    return path_format(path, NULL, "%s/" SNAPSHOT_FOLDER "/r%d.%d.e%" PRIu64, from, event->rank,
                       event->incarnation, event->index) == OK &&
           path_exists(path->text);
}

size_t kept_stacks_of_witness(const char *from, const char *folder,
                              const struct event_list *witness)
{
    size_t count = 0;
    FILE *out = NULL;
    for (size_t i = 0; i < witness->count; i++) {
        char heading[EVENT_TEXT_BYTES];
        struct path path;
        if (has_event(folder, &witness->event[i]) ||
            !find_snapshot(from, &witness->event[i], &path))
            continue;
        if (out == NULL)
            out = append_text(folder);
        if (out == NULL)
            return 0;
        event_text(witness->event[i], heading);
        write_one(out, heading, path.text);
        fflush(out); /* the next event may be the same */
        count++;
    }
    if (out != NULL)
        fclose(out);
    return count;
}

void kept_stacks_note(const char *folder, const char *text)
{
    FILE *out = has_line(folder, OF_WITNESS) ? NULL : append_text(folder);
    if (out == NULL)
        return;
    fprintf(out, OF_WITNESS ": no call stacks, %s\n", text);
    fclose(out);
}

enum error_code kept_stacks_want(const char *folder, const struct event_list *witness,
                                 struct error *error)
{
    char path[PATH_MAX];
    FILE *out = NULL;
    errno = ENAMETOOLONG;
    if (snapshot_wanted_path(path, sizeof path, folder))
        out = regular_create(path, NULL);
    for (size_t i = 0; out != NULL && i < witness->count; i++) {
        char text[EVENT_TEXT_BYTES];
        event_text(witness->event[i], text);
        fprintf(out, "%s\n", text);
    }
    if (out == NULL || fclose(out) != 0)
        return error_set(error, ERROR_IO, "%s/" SNAPSHOT_FOLDER ": %s", folder, strerror(errno));
    return OK;
}

/* --- for programs ----------------------------------------------------------------------------- */
/* "    #3  exchange at ring.c:42 (ring)" without its number. NULL: the line is no frame. */
static const char *frame_of(const char *line)
{
    line += strspn(line, " ");
    if (*line != '#')
        return NULL;
    line += strcspn(line, " ");
    return line + strspn(line, " ");
}

json_t *kept_stacks_read(const char *folder)
{
    char line[LINE_BYTES];
    json_t *stacks = json_object(), *frames = NULL;
    FILE *in = open_text(folder);
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *frame = frame_of(line);
        if (line[0] != ' ' && strncmp(line, OF_WITNESS, strlen(OF_WITNESS)) != 0) {
            frames = json_array();
            json_object_set_new(stacks, line, frames);
        } else if (frame != NULL && frames != NULL) {
            json_array_append_new(frames, json_text(frame));
        }
    }
    if (in != NULL)
        fclose(in);
    return stacks;
}
