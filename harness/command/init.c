/* The verb `faultline init`: a folder with a protocol, a program, scenarios, a Makefile and files
 * for CI servers, which pass as they are. It is examples/own-protocol under another name. */
#include "base/memory.h"
#include "base/whole_file.h"
#include "cli/arguments.h"
#include "cli/verb.h"
#include "command/init_files.h"
#include "system/path.h"
#include "system/status.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MAX_BYTES 40
#define EXAMPLE "my"
#define INSTALLED "/lib/faultline" /* below the prefix: where the command is */

static error_t parse_init(int key, char *argument, struct argp_state *state)
{
    const char **name = state->input;
    if (key == ARGP_KEY_ARG && *name == NULL)
        *name = argument;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "one NAME is enough: \"%s\"", argument);
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "NAME is missing");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* It is part of names of files, of texts in Lua and of a Makefile. */
static enum error_code check_name(const char *name, struct error *error)
{
    size_t length = strlen(name);
    bool fits = length <= NAME_MAX_BYTES && isalpha((unsigned char)name[0]);
    for (size_t i = 0; i < length; i++)
        fits = fits && (isalnum((unsigned char)name[i]) || strchr("_-", name[i]) != NULL);
    if (fits)
        return OK;
    return error_set(error, ERROR_USAGE,
                     "\"%.60s\" is no name for it; accepted: a letter, and up to %d letters, "
                     "digits, _ and - after it",
                     name, NAME_MAX_BYTES - 1);
}

/* The name of the example begins at `here`: "my_program", "libmy_protocol.so", "my:mid-write". */
static bool is_name(const char *text, const char *here)
{
    size_t length = strlen(EXAMPLE);
    bool begins = here == text || !isalnum((unsigned char)here[-1]) ||
                  (here - text >= 3 && strncmp(here - 3, "lib", 3) == 0);
    return begins && strncmp(here, EXAMPLE, length) == 0 && !isalnum((unsigned char)here[length]);
}

static void print_renamed(FILE *out, const char *text, const char *name)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (is_name(text, at)) {
            fputs(name, out);
            at += strlen(EXAMPLE) - 1;
        } else {
            fputc(*at, out);
        }
    }
}

/* --- where Faultline is, for the Makefile ---------------------------------------------------- */

struct place {
    bool in_search_path; /* `faultline` is this command */
    struct path self;
    struct path pkgconfig; /* the folder of faultline.pc; empty: where pkg-config looks anyway */
};

/* In a tree that was built it is beside the command; else below the folder that all is below. */
static enum error_code find_pkgconfig(struct place *place, struct error *error)
{
    static const char *const usual[] = {"/usr", "/usr/local"};
    struct path folder = place->self;
    *strrchr(folder.text, '/') = '\0';
    enum error_code code = path_format(&place->pkgconfig, error, "%s/pkgconfig", folder.text);
    if (code != OK || path_exists(place->pkgconfig.text))
        return code;
    size_t length = strlen(folder.text), tail = strlen(INSTALLED);
    char *end = length > tail ? folder.text + length - tail : folder.text;
    if (strcmp(end, INSTALLED) != 0)
        return error_set(error, ERROR_USAGE,
                         "%s: faultline.pc is neither beside it nor where `make install` puts it",
                         place->self.text);
    *end = '\0';
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(folder.text, usual[i]) == 0)
            place->pkgconfig.text[0] = '\0';
    return place->pkgconfig.text[0] == '\0'
               ? OK
               : path_format(&place->pkgconfig, error, "%s/share/pkgconfig", folder.text);
}

static enum error_code find_place(struct place *place, struct error *error)
{
    struct path found, absolute;
    enum error_code code = path_self(&place->self, error);
    place->in_search_path = code == OK && path_executable("faultline", &found, NULL) == OK &&
                            path_absolute(found.text, &absolute, NULL) == OK &&
                            strcmp(absolute.text, place->self.text) == 0;
    if (code == OK)
        code = find_pkgconfig(place, error);
    const char *odd = code == OK ? strpbrk(place->self.text, " \t\n'\"$#\\:;&|<>()*?") : NULL;
    if (odd != NULL)
        code = error_set(error, ERROR_USAGE, "%s: a path with \"%c\" cannot stand in a Makefile",
                         place->self.text, *odd);
    return code;
}

/* The two lines of the example's Makefile that say where Faultline is. */
static bool print_own_line(FILE *out, const char *line, const struct place *place)
{
    if (strncmp(line, "FAULTLINE ", strlen("FAULTLINE ")) == 0)
        fprintf(out, "FAULTLINE  = %s\n", place->in_search_path ? "faultline" : place->self.text);
    else if (strncmp(line, "PKG_CONFIG ", strlen("PKG_CONFIG ")) == 0)
        fprintf(out, "PKG_CONFIG = %s%s%spkg-config\n",
                place->pkgconfig.text[0] != '\0' ? "PKG_CONFIG_PATH=" : "", place->pkgconfig.text,
                place->pkgconfig.text[0] != '\0' ? " " : "");
    else
        return false;
    return true;
}

static void print_makefile(FILE *out, const char *text, const char *name, const struct place *place)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n") + 1;
        char *line = memory_format("%.*s", (int)length, text);
        if (!print_own_line(out, line, place))
            print_renamed(out, line, name);
        free(line);
        text += length;
    }
}

/* --- the folder ------------------------------------------------------------------------------ */

static enum error_code write_file(const char *folder, const struct file *from, const char *name,
                                  const struct place *place, struct error *error)
{
    char *file_name;
    size_t bytes;
    FILE *stream = memory_stream(&file_name, &bytes);
    print_renamed(stream, from->name, name);
    memory_stream_end(stream);
    struct path path, above;
    struct whole_file file;
    enum error_code code = path_format(&path, error, "%s/%s", folder, file_name);
    if (code == OK) {
        above = path;
        *strrchr(above.text, '/') = '\0';
        code = path_make_folder(above.text, error);
    }
    if (code == OK)
        code = whole_file_begin(&file, path.text, WHOLE_OURS, error);
    if (code == OK) {
        if (strcmp(from->name, "Makefile") == 0)
            print_makefile(file.out, from->text, name, place);
        else
            print_renamed(file.out, from->text, name);
        code = whole_file_end(&file, OK, error);
    }
    free(file_name);
    return code;
}

static enum error_code write_all(const char *name, const struct place *place, struct error *error)
{
    if (mkdir(name, 0777) != 0)
        return error_set(error, errno == EEXIST ? ERROR_USAGE : ERROR_IO, "%s: %s%s", name,
                         strerror(errno), errno == EEXIST ? "; init makes a new folder" : "");
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < sizeof files / sizeof files[0]; i++)
        code = write_file(name, &files[i], name, place, error);
    if (code != OK)
        path_remove(name, NULL);
    return code;
}

int verb_init(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_init,
        .args_doc = "NAME",
        .doc = "Makes a folder NAME with a protocol, a program, scenarios, a Makefile (`make test` "
               "in it passes), and files for the CI of GitHub and GitLab."};
    const char *name = NULL;
    struct place place;
    struct error error = {0};
    arguments_parse(&argp, argc, argv, 0, &name);
    enum error_code code = check_name(name, &error);
    if (code == OK)
        code = find_place(&place, &error);
    if (code == OK)
        code = write_all(name, &place, &error);
    if (code != OK)
        return (int)status_of_error(&error);
    printf("%s: a protocol, a program and four scenarios. Next: make -C %s test\n", name, name);
    return STATUS_PASS;
}
