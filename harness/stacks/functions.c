/* See functions.h. */
#include "stacks/functions.h"

#include "base/memory.h"
#include "base/nearest.h"
#include "base/regular_file.h"
#include "stacks/elf_functions.h"
#include "stacks/objects.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS_MAX (2 * PLAN_MAX_STEPS)

/* What is looked for, and what was found. */
struct search {
    size_t count;
    const char *name[FUNCTIONS_MAX]; /* each once; the plan's */
    size_t found[FUNCTIONS_MAX];     /* ranges of each */
    const char *module;              /* the one being read */
    FILE *out;                       /* NULL: only counted */
    size_t known_count, known_room;  /* all functions seen, for "did you mean" */
    char **known;
};

static void add_name(struct search *search, const char *name)
{
    if (name[0] == '\0')
        return;
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->name[i], name) == 0)
            return;
    search->name[search->count++] = name;
}

static void add_known(struct search *search, const char *name)
{
    search->known =
        memory_room(search->known, search->known_count, &search->known_room, sizeof *search->known);
    search->known[search->known_count++] = memory_text(name);
}

static void add_range(struct search *search, size_t index, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return;
    search->found[index]++;
    if (search->out != NULL)
        fprintf(search->out, "%s %" PRIx64 " %" PRIx64 " %s\n", search->name[index], begin, end,
                search->module);
}

/* Length of a symbol's name without what the compiler adds: foo.part.0, foo.constprop.1. */
static size_t plain_length(const char *name)
{
    return name[0] == '.' ? strlen(name) : strcspn(name, ".@");
}

/* --- symbol tables ---------------------------------------------------------------------------- */
static void look_at_symbol(void *context, const char *name, const GElf_Sym *symbol)
{
    struct search *search = context;
    size_t length = plain_length(name);
    for (size_t i = 0; i < search->count; i++)
        if (strlen(search->name[i]) == length && strncmp(search->name[i], name, length) == 0)
            add_range(search, i, symbol->st_value, symbol->st_value + symbol->st_size);
    if (length == strlen(name))
        add_known(search, name);
}

static bool has_table(Elf *elf, unsigned type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == type)
            return true;
    return false;
}

/* The full table where it was not stripped: it has the static functions, and all others too. */
static void read_tables(struct search *search, Elf *elf)
{
    unsigned type = has_table(elf, SHT_SYMTAB) ? SHT_SYMTAB : SHT_DYNSYM;
    elf_functions(elf, type, look_at_symbol, search);
}

/* --- debugging information: what was inlined -------------------------------------------------- */
static void look_at_instance(struct search *search, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die); /* of the function that was inlined */
    Dwarf_Addr base, begin, end;
    for (size_t i = 0; name != NULL && i < search->count; i++) {
        ptrdiff_t offset = 0;
        if (strcmp(search->name[i], name) != 0)
            continue;
        while ((offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0)
            add_range(search, i, begin, end);
    }
}

/* The tree below `parent`; as deep as the program's blocks are. */
static void walk(struct search *search, Dwarf_Die *parent)
{
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
            look_at_instance(search, &die);
            walk(search, &die);
            break;
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            walk(search, &die);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void read_debugging(struct search *search, Elf *elf)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf != NULL && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        walk(search, &die);
    dwarf_end(dwarf);
}

/* --- modules ---------------------------------------------------------------------------------- */
static enum error_code read_module(struct search *search, const char *path, struct error *error)
{
    elf_version(EV_CURRENT);
    int file;
    enum error_code code = regular_open(path, LINKS_FOLLOWED, REGULAR_ANY, &file, error);
    if (code != OK)
        return code;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    search->module = path;
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF) {
        code = error_set(error, ERROR_FORMAT, "%s: no ELF file, so nothing is known of `within`",
                         path);
    } else {
        read_tables(search, elf);
        read_debugging(search, elf);
    }
    elf_end(elf);
    close(file);
    return code;
}

static enum error_code report_missing(const struct search *search, const char *name,
                                      const char *const *modules, size_t count, struct error *error)
{
    char where[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof where; i++)
        used += (size_t)snprintf(where + used, sizeof where - used, "%s%s", i > 0 ? " nor " : "",
                                 modules[i]);
    for (size_t i = 0; i < search->known_count; i++)
        if (strcmp(search->known[i], name) == 0)
            return error_set(
                error, ERROR_USAGE,
                "within: the symbol tables give the beginning of function \"%s\" and not its end",
                name);
    const char *near = nearest_name(name, (const char *const *)search->known, search->known_count);
    if (near != NULL)
        return error_set(error, ERROR_USAGE,
                         "within: function \"%s\" is neither in %s nor in what they are linked "
                         "with; did you mean \"%s\"?",
                         name, where, near);
    return error_set(error, ERROR_USAGE,
                     "within: function \"%s\" is neither in %s nor in what they are linked with (a "
                     "function that was inlined "
                     "everywhere is known only with -g)",
                     name, where);
}

static bool found_all(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->found[i] == 0)
            return false;
    return true;
}

/* What the modules, of which the first is the program, are linked with. One that cannot be read has
 * nothing of what is looked for. */
static void read_linked(struct search *search, const char *const *modules, size_t count)
{
    char **object = NULL;
    size_t objects = 0;
    for (size_t i = 0; i < count; i++)
        objects_add(modules[0], modules[i], &object, &objects);
    for (size_t i = 0; i < objects; i++) {
        (void)read_module(search, object[i], NULL);
        free(object[i]);
    }
    free(object);
}

static enum error_code find(struct search *search, const struct plan *plan,
                            const char *const *modules, size_t count, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; i < plan->count; i++) {
        add_name(search, plan->steps[i].when.within);
        add_name(search, plan->steps[i].release.within);
    }
    for (size_t i = 0; search->count > 0 && code == OK && i < count; i++)
        code = read_module(search, modules[i], error);
    if (code == OK && !found_all(search))
        read_linked(search, modules, count);
    for (size_t i = 0; code == OK && i < search->count; i++)
        if (search->found[i] == 0)
            code = report_missing(search, search->name[i], modules, count, error);
    for (size_t i = 0; i < search->known_count; i++)
        free(search->known[i]);
    free(search->known);
    return code;
}

enum error_code functions_check(const struct plan *plan, const char *const *modules, size_t count,
                                struct error *error)
{
    struct search search = {0};
    return find(&search, plan, modules, count, error);
}

static bool asks(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].when.within[0] != '\0' || plan->steps[i].release.within[0] != '\0')
            return true;
    return false;
}

enum error_code functions_write(const char *path, const struct plan *plan,
                                const char *const *modules, size_t count, struct error *error)
{
    struct search search = {0};
    if (!asks(plan))
        return OK;
    search.out = regular_create(path, error);
    if (search.out == NULL)
        return ERROR_IO;
    enum error_code code = find(&search, plan, modules, count, error);
    if (fclose(search.out) != 0 && code == OK)
        code = error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    return code;
}
