/* See objects.h. */
#include "stacks/objects.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "system/tool.h"

#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTED_BYTES 65536

/* The path of the dynamic linker, as the program says it (PT_INTERP). */
static bool read_linker(int file, Elf *elf, char path[PATH_MAX])
{
    size_t count = 0;
    GElf_Phdr header;
    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_INTERP &&
            header.p_filesz < PATH_MAX) {
            ssize_t got = pread(file, path, header.p_filesz, (off_t)header.p_offset);
            path[got > 0 ? got : 0] = '\0';
            return path[0] == '/';
        }
    return false;
}

static bool find_linker(const char *program, char path[PATH_MAX])
{
    int file;
    elf_version(EV_CURRENT);
    if (regular_open(program, LINKS_FOLLOWED, REGULAR_ANY, &file, NULL) != OK)
        return false;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool found = read_linker(file, elf, path);
    elf_end(elf);
    close(file);
    return found;
}

static void add(const char *path, char ***objects, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*objects)[i], path) == 0)
            return;
    *objects = memory_resized(*objects, *count + 1, sizeof **objects);
    (*objects)[(*count)++] = memory_text(path);
}

void objects_add(const char *program, const char *module, char ***objects, size_t *count)
{
    char linker[PATH_MAX], *rest = NULL;
    char *listed = memory_new(LISTED_BYTES, 1);
    const char *const command[] = {linker, "--list", module, NULL};
    if (find_linker(program, linker) && tool_run(command, listed, LISTED_BYTES, NULL) == OK)
        for (char *line = strtok_r(listed, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            char *path = strstr(line, "=> /"), *end = strstr(line, " (0x");
            if (path == NULL || end == NULL || end < path)
                continue; /* the kernel's own, or the linker */
            *end = '\0';
            add(path + strlen("=> "), objects, count);
        }
    free(listed);
}
