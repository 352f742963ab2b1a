/* See trust.h. */
#include "replay/trust.h"

#include "base/regular_file.h"
#include "decisions/decisions.h"
#include "system/printable.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536
#define ANSWER_BYTES 16

/* --- runs of our own -------------------------------------------------------------------------- */

/* What decides on what a replay does. */
static const char *const parts[] = {"run.json", "plan", DECISIONS_FILE};
#define PART_COUNT (sizeof parts / sizeof parts[0])

static bool same_bytes(FILE *a, FILE *b)
{
    static char left[COPY_BYTES], right[COPY_BYTES];
    size_t length;
    do {
        length = fread(left, 1, sizeof left, a);
        if (fread(right, 1, sizeof right, b) != length || memcmp(left, right, length) != 0)
            return false;
    } while (length > 0);
    return ferror(a) == 0 && ferror(b) == 0;
}

static bool same_part(const char *one, const char *other, const char *name)
{
    struct path path;
    FILE *a = path_format(&path, NULL, "%s/%s", one, name) == OK
                  ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                  : NULL;
    FILE *b = path_format(&path, NULL, "%s/%s", other, name) == OK
                  ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                  : NULL;
    bool same = a != NULL && b != NULL && same_bytes(a, b);
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return same;
}

/* A folder of somebody else proves nothing. */
static bool is_packed_from(const char *run, const char *unpacked)
{
    struct stat status;
    bool same = lstat(run, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
    for (size_t i = 0; same && i < PART_COUNT; i++)
        same = same_part(run, unpacked, parts[i]);
    return same;
}

/* OUT/<id>/<number>: the number stands in run.json, and <id> can be any of them. */
static bool is_ours(const char *out, int number, const char *unpacked)
{
    struct path run;
    bool found = false;
    DIR *folder = opendir(out);
    if (folder == NULL)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(folder)) != NULL;)
        found = entry->d_name[0] != '.' &&
                path_format(&run, NULL, "%s/%s/%d", out, entry->d_name, number) == OK &&
                is_packed_from(run.text, unpacked);
    closedir(folder);
    return found;
}

/* --- asking ----------------------------------------------------------------------------------- */

static void say(const char *key, const char *text)
{
    fprintf(stderr, "  %s: ", key);
    printable_write(stderr, text, "");
    fputc('\n', stderr);
}

/* What the names lead to here, which is what would be run. */
static void print_what(const char *file, const struct scenario *scenario)
{
    struct path path;
    fputs("faultline: ", stderr);
    printable_write(stderr, file, "");
    fputs(": no run of this folder; its replay runs, with all your rights:\n", stderr);
    bool there = path_program(scenario->program, scenario->file, &path, NULL) == OK;
    say("program", there ? path.text : scenario->program);
    for (size_t i = 0; i < scenario->argument_count; i++)
        say("argument", scenario->argument[i]);
    there = path_protocol(scenario->protocol, scenario->file, &path, NULL) == OK;
    say("protocol", there ? path.text : scenario->protocol);
    for (size_t i = 0; i < scenario->environment_count; i++)
        say("environment", scenario->environment[i]);
    for (size_t i = 0; i < scenario->restart_argument_count; i++)
        say("argument after a restart", scenario->restart_argument[i]);
    for (size_t i = 0; i < scenario->restart_environment_count; i++)
        say("environment after a restart", scenario->restart_environment[i]);
    for (size_t i = 0; i < scenario->file_count; i++)
        say("file", scenario->files[i]);
    for (size_t i = 0; i < scenario->setup_count; i++)
        say("setup", scenario->setup[i]);
}

/* Anything but yes is no. */
static bool answers_yes(void)
{
    char answer[ANSWER_BYTES];
    fputs("Run it? [y/N] ", stderr);
    if (fgets(answer, sizeof answer, stdin) == NULL)
        return false;
    answer[strcspn(answer, "\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

enum error_code trust_ask(const char *file, const char *unpacked, const char *out, bool trusted,
                          const struct recorded *recorded, struct error *error)
{
    if (is_ours(out, recorded->run.number, unpacked))
        return OK;
    print_what(file, recorded->run.scenario);
    if (trusted)
        return OK;
    if (isatty(STDIN_FILENO) == 0)
        return error_set(error, ERROR_USAGE,
                         "%s: not run: standard input is no terminal where you could be asked; "
                         "with --trust it is run",
                         file);
    return answers_yes() ? OK : error_set(error, ERROR_USAGE, "%s: not run", file);
}
