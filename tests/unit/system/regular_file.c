/* Only regular files are read, at once or not at all; what is written takes the place of the rest.
 */
#include "base/regular_file.h"
#include "base/number_set.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct error error;

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        exit(99);
}

static bool make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    return file >= 0 && bind(file, (const struct sockaddr *)&address, sizeof address) == 0;
}

/* It is refused with this code, and the text names it and says `what`. */
static void refused(const char *path, enum regular_links links, uint64_t most, enum error_code code,
                    const char *what)
{
    int file = 0;
    error = (struct error){0};
    check(regular_open(path, links, most, &file, &error) == code && file == -1 &&
              strstr(error.text, path) != NULL && strstr(error.text, what) != NULL,
          "%s: %s", path, error.text);
    check(regular_stream(path, links, most, NULL) == NULL, "%s: no stream either", path);
}

static void check_reading(void)
{
    char text[16] = "";
    put("file", "content");
    FILE *file = regular_stream("file", LINKS_REFUSED, 7, &error);
    check(file != NULL && fgets(text, sizeof text, file) != NULL && strcmp(text, "content") == 0,
          "a file of as many bytes as are allowed");
    if (file != NULL)
        fclose(file);
    refused("file", LINKS_REFUSED, 6, ERROR_LIMIT, "has more than");
    refused("none", LINKS_REFUSED, REGULAR_ANY, ERROR_IO, "No such file");
    check(errno == ENOENT, "and errno says so");
    check(mkfifo("fifo", 0600) == 0 && make_socket("socket") && symlink("file", "link") == 0 &&
              symlink("fifo", "link-to-fifo") == 0 && symlink("/dev/zero", "zero") == 0,
          "one of each kind");
    refused("fifo", LINKS_REFUSED, REGULAR_ANY, ERROR_FORMAT, "is a FIFO; only regular files");
    refused("link-to-fifo", LINKS_FOLLOWED, REGULAR_ANY, ERROR_FORMAT, "is a FIFO");
    refused("socket", LINKS_REFUSED, REGULAR_ANY, ERROR_FORMAT, "is a socket");
    refused(".", LINKS_REFUSED, REGULAR_ANY, ERROR_FORMAT, "is a folder");
    refused("zero", LINKS_FOLLOWED, REGULAR_ANY, ERROR_FORMAT, "is a device");
    refused("link", LINKS_REFUSED, REGULAR_ANY, ERROR_FORMAT, "is a symbolic link");
    int opened;
    check(regular_open("link", LINKS_FOLLOWED, REGULAR_ANY, &opened, &error) == OK,
          "a link that the user named leads to its file");
    close(opened);
}

/* Written, and the file that was there before has still `before` in it. */
static void check_made(const char *path, const char *before)
{
    struct stat facts;
    char text[16] = "";
    FILE *file = regular_create(path, &error);
    check(file != NULL && fputs("new", file) >= 0 && fclose(file) == 0 &&
              lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 3,
          "%s: a new file in its place", path);
    file = fopen("file", "re");
    check(file != NULL && fgets(text, sizeof text, file) != NULL && strcmp(text, before) == 0,
          "and nothing else was written: %s", text);
    if (file != NULL)
        fclose(file);
}

static void check_writing(void)
{
    check_made("fifo", "content");
    check_made("link", "content");
    check_made("socket", "content");
    check_made("fresh", "content");
    check(regular_create(".", &error) == NULL && error.code == ERROR_IO, "a folder stays: %s",
          error.text);
    check(mkfifo("fifo2", 0600) == 0 && regular_append("fifo2", &error) == NULL &&
              strstr(error.text, "fifo2: is a FIFO") != NULL,
          "nothing is added to a FIFO: %s", error.text);
    check(symlink("file", "link2") == 0 && regular_append("link2", &error) == NULL &&
              strstr(error.text, "is a symbolic link") != NULL,
          "nor through a link: %s", error.text);
    FILE *file = regular_append("fresh", &error);
    struct stat facts;
    check(file != NULL && fputs("er", file) >= 0 && fclose(file) == 0 &&
              stat("fresh", &facts) == 0 && facts.st_size == 5,
          "but to a file");
}

static void check_numbers(void)
{
    struct number_set set = {0};
    check(!number_set_has(&set, 0) && !number_set_has(&set, UINT64_MAX), "nothing in it");
    check(number_set_add(&set, 5, &error) == OK && number_set_add(&set, 5000, &error) == OK &&
              number_set_has(&set, 5) && number_set_has(&set, 5000) && !number_set_has(&set, 4) &&
              !number_set_has(&set, 6) && !number_set_has(&set, 4999),
          "what was added, and nothing else");
    check(number_set_add(&set, NUMBER_SET_MOST, &error) == ERROR_LIMIT && number_set_has(&set, 5) &&
              set.room < 20000,
          "a number that is too large takes no memory: %s", error.text);
    number_set_release(&set);
    check(!number_set_has(&set, 5), "released");
}

int main(void)
{
    char folder[] = "/tmp/faultline-regular.XXXXXX";
    if (!check(mkdtemp(folder) != NULL && chdir(folder) == 0, "a folder"))
        return done();
    check_reading();
    check_writing();
    check_numbers();
    if (chdir("/") != 0)
        return 99;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? done() : 99;
}
