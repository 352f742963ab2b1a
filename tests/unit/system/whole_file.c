/* A file is there whole or not at all: after a write that fails, a disk that is full, and a process
 * that ends in the middle. */
#include "base/whole_file.h"
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "page.html"

static struct error error;
static struct whole_file file;

/* NAME holds `text`, and is alone in the folder. */
static bool is_all(const char *text)
{
    char read[64] = "";
    int entries = 0;
    FILE *in = fopen(NAME, "re");
    bool same = in != NULL && fgets(read, sizeof read, in) != NULL && strcmp(read, text) == 0;
    if (in != NULL)
        fclose(in);
    DIR *folder = opendir(".");
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        entries += entry->d_name[0] != '.';
    closedir(folder);
    return same && entries == 1;
}

static enum error_code write_text(const char *path, const char *text, enum error_code came_of_it)
{
    error = (struct error){0};
    enum error_code code = whole_file_begin(&file, path, WHOLE_NAMED, &error);
    if (code != OK)
        return code;
    fputs(text, file.out);
    return whole_file_end(&file, came_of_it, &error);
}

static void check_failures(void)
{
    check(write_text(NAME, "one", OK) == OK && is_all("one"), "written");
    check(write_text(NAME, "two", OK) == OK && is_all("two"), "and replaced");
    check(write_text(NAME, "three", ERROR_MEMORY) == ERROR_MEMORY && is_all("two"),
          "what could not be made leaves what was there");
    check(write_text("none/x", "", OK) == ERROR_IO && strstr(error.text, "none/x: No such") != NULL,
          "a folder that is not there: %s", error.text);
    check(mkdir(NAME ".d", 0700) == 0 && write_text(NAME ".d", "x", OK) == ERROR_IO &&
              rmdir(NAME ".d") == 0 && is_all("two"),
          "a folder is not replaced: %s", error.text);
}

static void check_devices(void)
{
    struct stat facts;
    check(write_text("/dev/null", "x", OK) == OK && stat("/dev/null", &facts) == 0 &&
              S_ISCHR(facts.st_mode),
          "a device is written into, and stays");
    check(write_text("/dev/full", "x", OK) == ERROR_IO &&
              strstr(error.text, "/dev/full: No space left") != NULL &&
              stat("/dev/full", &facts) == 0,
          "one that is full is told: %s", error.text);
}

/* Lost in the middle, where closing finds nothing more to write. */
static void check_lost(void)
{
    whole_file_begin(&file, "/dev/full", WHOLE_NAMED, &error);
    fputs("x", file.out);
    fflush(file.out);
    check(whole_file_end(&file, OK, &error) == ERROR_IO &&
              strstr(error.text, "No space left") != NULL,
          "what was lost before the end: %s", error.text);
    whole_file_begin(&file, "/dev/full", WHOLE_NAMED, &error);
    fputs("x", file.out);
    fflush(file.out);
    check(whole_file_end(&file, ERROR_IO, &error) == ERROR_IO &&
              strstr(error.text, "/dev/full") != NULL,
          "and what its writer has seen: %s", error.text);
}

static void check_abandoned(void)
{
    whole_file_begin(&file, NAME, WHOLE_OURS, &error);
    fputs("three", file.out);
    check(access(file.fresh, F_OK) == 0, "half of it stands beside its place");
    whole_file_abandon();
    check(is_all("two"), "and is gone when the process ends");
    whole_file_end(&file, ERROR_MEMORY, &error);
    whole_file_abandon();
    check(is_all("two"), "what is over is not abandoned");
}

/* "error" is to standard error what /dev/stderr is, which may lead to a regular file. */
static void check_standard(void)
{
    struct stat link;
    char read[64] = "";
    int before = dup(STDERR_FILENO);
    FILE *to = fopen(NAME, "we");
    dup2(fileno(to), STDERR_FILENO);
    fclose(to);
    fputs("one ", stderr);
    bool written = symlink("/proc/self/fd/2", "error") == 0 &&
                   write_text("error", "two ", OK) == OK && fputs("three", stderr) >= 0;
    dup2(before, STDERR_FILENO);
    close(before);
    FILE *in = fopen(NAME, "re");
    check(written && fgets(read, sizeof read, in) != NULL && strcmp(read, "one two three") == 0,
          "standard error is written on by another name: '%s'", read);
    fclose(in);
    check(lstat("error", &link) == 0 && S_ISLNK(link.st_mode), "and the name stays what it was");
    unlink("error");
}

int main(void)
{
    char folder[] = "/tmp/faultline-whole.XXXXXX";
    if (!check(mkdtemp(folder) != NULL && chdir(folder) == 0, "a folder"))
        return done();
    check_failures();
    check_devices();
    check_lost();
    check_abandoned();
    check_standard();
    unlink(NAME);
    rmdir(folder);
    return done();
}
