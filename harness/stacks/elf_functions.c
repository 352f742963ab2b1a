/* See elf_functions.h. */
#include "stacks/elf_functions.h"

#include <stdbool.h>
#include <stddef.h>

typedef void look_at(void *context, const char *name, const GElf_Sym *symbol);

static bool is_function(const GElf_Sym *symbol)
{
    return symbol->st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static void read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, look_at *look,
                       void *context)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize > 0 ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL || !is_function(&symbol))
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL)
            look(context, name, &symbol);
    }
}

void elf_functions(Elf *elf, unsigned type, look_at *look, void *context)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == type)
            read_table(elf, section, &header, look, context);
}
