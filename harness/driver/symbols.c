/* See symbols.h. */
#include "driver/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
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

static bool add(struct symbols *symbols, const char *name)
{
    char **larger = realloc(symbols->name, (symbols->count + 1) * sizeof *larger);
    if (larger == NULL)
        return false;
    symbols->name = larger;
    larger[symbols->count] = strdup(name);
    return larger[symbols->count] != NULL && ++symbols->count > 0;
}

/* All functions of one symbol table. */
static bool add_table(struct symbols *symbols, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize > 0 ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL && is_mpi_name(name) && !add(symbols, name))
            return false;
    }
    return true;
}

static enum error_code read_tables(Elf *elf, const char *path, struct symbols *symbols,
                                   struct error *error)
{
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF)
        return error_set(error, ERROR_FORMAT, "%s: no ELF file", path);
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_DYNSYM &&
            !add_table(symbols, elf, section, &header))
            return error_set(error, ERROR_MEMORY, "%s", path);
    }
    return OK;
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
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    enum error_code code = read_tables(elf, path, symbols, error);
    elf_end(elf);
    close(file);
    make_unique(symbols);
    if (code != OK)
        symbols_release(symbols);
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
