/* See symbols.h. */
#include "stacks/symbols.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "stacks/elf_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_mpi_name(const char *name)
{
    name += *name == 'P';
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "MPIX_", 5) == 0;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void look(void *context, const char *name, const GElf_Sym *symbol)
{
    struct symbols *symbols = context;
    (void)symbol;
    if (!is_mpi_name(name))
        return;
    symbols->name =
        memory_room(symbols->name, symbols->count, &symbols->room, sizeof *symbols->name);
    symbols->name[symbols->count++] = memory_text(name);
}

/* Versions of a symbol give it several entries. */
static void make_unique(struct symbols *symbols)
{
    if (symbols->count == 0)
        return;
    qsort(symbols->name, symbols->count, sizeof *symbols->name, by_name);
    size_t kept = 1;
    for (size_t i = 1; i < symbols->count; i++) {
        if (strcmp(symbols->name[i], symbols->name[kept - 1]) == 0)
            free(symbols->name[i]);
        else
            symbols->name[kept++] = symbols->name[i];
    }
    symbols->count = kept;
}

enum error_code symbols_read(const char *path, struct symbols *symbols, struct error *error)
{
    *symbols = (struct symbols){0};
    elf_version(EV_CURRENT);
    int file;
    enum error_code code = regular_open(path, LINKS_FOLLOWED, REGULAR_ANY, &file, error);
    if (code != OK)
        return code;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        code = error_set(error, ERROR_FORMAT, "%s: no ELF file", path);
    else
        elf_functions(elf, SHT_DYNSYM, look, symbols);
    elf_end(elf);
    close(file);
    make_unique(symbols);
    return code;
}

void symbols_release(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        free(symbols->name[i]);
    free(symbols->name);
    *symbols = (struct symbols){0};
}

bool symbols_have(const struct symbols *symbols, const char *name)
{
    return symbols->count > 0 &&
           bsearch(&name, symbols->name, symbols->count, sizeof *symbols->name, by_name) != NULL;
}
