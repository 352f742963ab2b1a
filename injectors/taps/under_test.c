/* See under_test.h. Everything is found with dl_iterate_phdr, and asked under its lock: a library
 * may be opened or closed meanwhile by another thread. */
#include "injectors/taps/under_test.h"

#include "injectors/taps/tap_communicator.h"

#include <ctype.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define NAMES_MAX 16
#define RANGES_MAX 64

static const char *libraries, *helpers; /* as named; never NULL once they were read */

/* A loaded segment of a named library. */
struct range {
    uintptr_t begin, end;
};

/* Of the objects in the process, as they were when they were looked at last. */
static struct {
    unsigned long long opened, closed;
    size_t count;
    struct range range[RANGES_MAX];
} known;

/* --- names ------------------------------------------------------------------------------------ */

/* The program may change its environment. */
static const char *kept(const char *name)
{
    const char *value = getenv(name);
    char *copy = value != NULL ? strdup(value) : NULL;
    return copy != NULL ? copy : "";
}

void under_test_read(void)
{
    libraries = kept(LIBRARY_ENVIRONMENT);
    helpers = kept(HELPERS_ENVIRONMENT);
}

/* Which of the names the object has; -1: none. */
static int named(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    const char *at = libraries;
    for (int i = 0; i < NAMES_MAX && *at != '\0'; i++) {
        size_t length = strcspn(at, ":");
        const char *rest = file + length;
        if (length > 0 && strncmp(file, at, length) == 0 &&
            (*rest == '\0' || (*rest == '.' && isdigit((unsigned char)rest[1]))))
            return i;
        at += length + (at[length] == ':');
    }
    return -1;
}

bool under_test_is_helper(int rank)
{
    return helpers_have(helpers, rank);
}

/* --- binding ---------------------------------------------------------------------------------- */

struct function {
    const char *name;
    const void *const *from_library; /* NULL: written by hand, and not recorded */
};

static const struct function functions[] = {
#define FUNCTION(member, name, lower, from_library) {name, from_library},
    LIBRARY_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct function *)left)->name, ((const struct function *)right)->name);
}

/* What the object refers to, as its dynamic section has it. */
struct references {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * list[2];
    size_t bytes[2];
};

static const void *place(uintptr_t base, uintptr_t address)
{
    return (const void *)(address < base ? base + address : address);
}

static void read_references(const struct dl_phdr_info *object, const ElfW(Dyn) * entry,
                            struct references *to)
{
    for (; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            to->symbols = place(object->dlpi_addr, entry->d_un.d_ptr);
            break;
        case DT_STRTAB:
            to->names = place(object->dlpi_addr, entry->d_un.d_ptr);
            break;
        case DT_RELA:
            to->list[0] = place(object->dlpi_addr, entry->d_un.d_ptr);
            break;
        case DT_RELASZ:
            to->bytes[0] = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            to->list[1] = place(object->dlpi_addr, entry->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            to->bytes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
}

static uintptr_t page_of(uintptr_t address)
{
    return address & ~((uintptr_t)getauxval(AT_PAGESZ) - 1);
}

/* On a page that the loader has made read-only; it leaves out the last one if that is not full. */
static bool is_guarded(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_RELRO && address >= page_of(begin) &&
            address < page_of(begin + part->p_memsz))
            return true;
    }
    return false;
}

static void store(const struct dl_phdr_info *object, uintptr_t at, const void *address)
{
    const void **slot = (const void **)at;
    void *page = (void *)page_of(at);
    bool guarded = is_guarded(object, at);
    if (*slot == address || (guarded && mprotect(page, sizeof *slot, PROT_READ | PROT_WRITE) != 0))
        return;
    __atomic_store_n(slot, address, __ATOMIC_RELEASE);
    if (guarded)
        mprotect(page, sizeof *slot, PROT_READ);
}

static void bind(const struct dl_phdr_info *object, const struct references *from)
{
    for (size_t part = 0; part < 2; part++)
        for (size_t i = 0; i < from->bytes[part] / sizeof *from->list[part]; i++) {
            const ElfW(Rela) *at = &from->list[part][i];
            size_t symbol = ELF64_R_SYM(at->r_info);
            struct function wanted = {from->names + from->symbols[symbol].st_name, NULL};
            if (symbol == 0 || at->r_addend != 0 || strncmp(wanted.name, "MPI", 3) != 0)
                continue;
            const struct function *found =
                bsearch(&wanted, functions, sizeof functions / sizeof functions[0],
                        sizeof functions[0], by_name);
            if (found != NULL && found->from_library != NULL)
                store(object, object->dlpi_addr + at->r_offset, *found->from_library);
        }
}

/* --- objects ---------------------------------------------------------------------------------- */

static void add_object(const struct dl_phdr_info *object, int name)
{
    struct references references = {0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_DYNAMIC)
            read_references(object, (const void *)begin, &references);
        else if (part->p_type == PT_LOAD && known.count < RANGES_MAX)
            known.range[known.count++] = (struct range){begin, begin + part->p_memsz};
    }
    if (references.symbols != NULL && references.names != NULL)
        bind(object, &references);
    atomic_fetch_or(&runtime_trace.header->libraries, 1u << name);
}

/* A look through all objects, or none of them where they are as they were. */
struct look {
    bool changed;
    uintptr_t address; /* the question, answered where the objects are known */
    bool inside;
};

static bool is_inside(uintptr_t address)
{
    for (size_t i = 0; i < known.count; i++)
        if (address >= known.range[i].begin && address < known.range[i].end)
            return true;
    return false;
}

static int look_at(struct dl_phdr_info *object, size_t bytes, void *argument)
{
    struct look *look = argument;
    (void)bytes;
    if (!look->changed && object->dlpi_adds == known.opened && object->dlpi_subs == known.closed) {
        look->inside = is_inside(look->address);
        return 1;
    }
    if (!look->changed)
        known.count = 0;
    look->changed = true;
    known.opened = object->dlpi_adds;
    known.closed = object->dlpi_subs;
    int name = named(object->dlpi_name);
    if (name >= 0)
        add_object(object, name);
    return 0;
}

bool under_test_calls(const void *returns_to)
{
    /* The call may be the last instruction of the object's code: what counts is where it lies. */
    struct look look = {.address = (uintptr_t)returns_to - 1};
    do {
        look.changed = false;
        dl_iterate_phdr(look_at, &look);
    } while (look.changed);
    if (look.inside)
        under_test_took();
    return look.inside;
}

void under_test_took(void)
{
    if (runtime_recording)
        atomic_fetch_add_explicit(&runtime_trace.header->taken, 1, memory_order_relaxed);
}

bool under_test_open(void)
{
    if (*libraries != '\0')
        under_test_calls(NULL);
    return *libraries != '\0';
}

/* --- ranks ------------------------------------------------------------------------------------ */

void under_test_look_at_world(int rank, int size)
{
    int given = size, members = 0, own = 0;
    int *world = NULL;
    bool direct = (uintptr_t)upper.Comm_size == (uintptr_t)lower_address_Comm_size;
    bool noted = communicator_world[LEVEL_APP].local != &group_world;
    if (*helpers == '\0' || direct || noted || under_test_is_helper(rank))
        return;
    thread_state.app_depth++;
    upper.Comm_size(handles.COMM_WORLD, &given);
    thread_state.app_depth--;
    world = calloc((size_t)size + 1, sizeof *world);
    for (int process = 0; process < size && world != NULL; process++) {
        if (under_test_is_helper(process))
            continue;
        own = process == rank ? members : own;
        world[members++] = process;
    }
    if (world != NULL && given == members && given < size)
        tap_handle_members(HANDLE(handles.COMM_WORLD), world, members, own);
    free(world);
}
