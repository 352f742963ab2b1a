/* See preload.h. */
#include "launch/preload.h"

#include "base/regular_file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINKER_PREFIX "ERROR: ld.so: object '"
#define LINE_BYTES (PATH_MAX + 512)

enum error_code preload_check(const struct path *library, struct error *error)
{
    if (strpbrk(library->text, PRELOAD_SEPARATORS) != NULL)
        return error_set(error, ERROR_USAGE,
                         "%.900s: LD_PRELOAD cannot hold a path with a blank or ':'; move the file",
                         library->text);
    Elf64_Ehdr header = {0};
    struct error why = {0};
    FILE *file = regular_stream(library->text, LINKS_FOLLOWED, REGULAR_ANY, &why);
    if (file == NULL)
        return error_set(error, ERROR_USAGE, "%s", why.text);
    bool whole = fread(&header, sizeof header, 1, file) == 1;
    fclose(file);
    if (!whole || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
        return error_set(error, ERROR_USAGE, "%s: not a 64-bit ELF shared object (lib*.so)",
                         library->text);
    return OK;
}

/* The linker speaks before the program does: its lines stand first, one for each library. */
bool preload_was_ignored(const char *error_output, const struct path *library, char *said,
                         size_t bytes)
{
    char line[LINE_BYTES];
    bool ignored = false;
    size_t length = strlen(library->text);
    FILE *file = regular_stream(error_output, LINKS_REFUSED, REGULAR_ANY, NULL);
    while (file != NULL && !ignored && fgets(line, sizeof line, file) != NULL &&
           strncmp(line, LINKER_PREFIX, strlen(LINKER_PREFIX)) == 0) {
        const char *name = line + strlen(LINKER_PREFIX);
        ignored = strncmp(name, library->text, length) == 0 && name[length] == '\'' &&
                  strstr(name, "cannot be preloaded") != NULL;
    }
    if (file != NULL)
        fclose(file);
    if (ignored) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(said, bytes, "%s", line);
    }
    return ignored;
}
