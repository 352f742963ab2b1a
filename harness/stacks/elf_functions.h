/* The functions that an ELF file defines, by its symbol tables. Must not know: what they are looked
 * at for. */
#ifndef STACKS_ELF_FUNCTIONS_H
#define STACKS_ELF_FUNCTIONS_H

#include <gelf.h>

/* Every function in the tables of that type (SHT_SYMTAB, SHT_DYNSYM) is shown to `look`. */
void elf_functions(Elf *elf, unsigned type,
                   void (*look)(void *context, const char *name, const GElf_Sym *symbol),
                   void *context);

#endif
