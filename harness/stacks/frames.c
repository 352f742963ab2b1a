/* See frames.h. elfutils' libdw walks and names; this file says what to print. */
#include "stacks/frames.h"

#include "stacks/stacks.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define OWN_LIBRARY "libfaultline.so"
#define OWN_FUNCTION "faultline_" /* of faultline.h, compiled into a protocol */

static const char *module_name(Dwfl_Module *module)
{
    if (module == NULL)
        return "?";
    const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    if (path == NULL)
        return "?";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_own(Dwfl_Module *module)
{
    return strncmp(module_name(module), OWN_LIBRARY, sizeof OWN_LIBRARY - 1) == 0;
}

static bool is_mpi(Dwfl_Module *module)
{
    return strncmp(module_name(module), STACKS_MPI_LIBRARY, sizeof STACKS_MPI_LIBRARY - 1) == 0;
}

int frames_take(Dwfl_Frame *state, void *argument)
{
    struct frames *frames = argument;
    Dwarf_Addr address;
    bool activation; /* interrupted there, not calling from there */
    if (frames->count == FRAMES_MOST) {
        frames->more = true;
        return DWARF_CB_ABORT;
    }
    if (!dwfl_frame_pc(state, &address, &activation))
        return DWARF_CB_ABORT;
    if (!activation)
        address--;
    Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    frames->frame[frames->count++] = (struct frame){address, module};
    frames->inside_mpi = frames->inside_mpi || is_mpi(module);
    return DWARF_CB_OK;
}

/* --- names ------------------------------------------------------------------------------------ */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* " at file:line", where it is known. */
static void print_line(FILE *out, const struct frame *frame)
{
    int line;
    Dwfl_Line *found = dwfl_module_getsrc(frame->module, frame->address);
    const char *file = found ? dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
    if (file != NULL)
        fprintf(out, " at %s:%d", base_name(file), line);
}

/* " at file:line" of the call that was inlined. */
static void print_call_line(FILE *out, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, NULL) != 0)
        return;
    const char *name = dwarf_filesrc(files, file, NULL, NULL);
    if (name != NULL)
        fprintf(out, " at %s:%u", base_name(name), (unsigned)line);
}

static const char *name_of(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
    return name ? name : "?";
}

static bool is_own_name(const char *function)
{
    return strncmp(function, OWN_FUNCTION, sizeof OWN_FUNCTION - 1) == 0;
}

/* Without what the compiler (".isra.0") and the linker ("@@GLIBC_2.34") have added. */
static void print_symbol(FILE *out, const struct frame *frame)
{
    const char *symbol = dwfl_module_addrname(frame->module, frame->address);
    if (symbol == NULL) {
        Dwarf_Addr offset = frame->address;
        dwfl_module_relocate_address(frame->module, &offset);
        fprintf(out, "0x%llx", (unsigned long long)offset);
        return;
    }
    size_t length = strcspn(symbol, ".@");
    fprintf(out, "%.*s", length > 0 ? (int)length : (int)strlen(symbol), symbol);
}

/* A line for each function that the compiler has inlined at that place, innermost first, and the
 * beginning of a line for the one that it has inlined them into. */
static void print_functions(FILE *out, const struct frame *frame, size_t number)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(frame->module, frame->address, &bias);
    Dwarf_Die *scopes = NULL;
    int count = unit ? dwarf_getscopes(unit, frame->address - bias, &scopes) : 0;
    Dwarf_Die *inlined = NULL;
    for (int i = 0; i < count; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            break;
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        Dwarf_Die *within = inlined;
        inlined = &scopes[i];
        if (is_own_name(name_of(inlined)))
            continue;
        fprintf(out, "    #%-2zu %s", number, name_of(inlined));
        if (within == NULL)
            print_line(out, frame);
        else
            print_call_line(out, unit, within);
        fprintf(out, " (inlined)\n");
    }
    fprintf(out, "    #%-2zu ", number);
    print_symbol(out, frame);
    if (inlined == NULL)
        print_line(out, frame);
    else
        print_call_line(out, unit, inlined);
    free(scopes);
}

static void print_frame(FILE *out, const struct frame *frame, size_t number)
{
    if (frame->module == NULL) {
        fprintf(out, "    #%-2zu 0x%llx\n", number, (unsigned long long)frame->address);
        return;
    }
    print_functions(out, frame, number);
    fprintf(out, " (%s)\n", module_name(frame->module));
}

/* What called main says nothing about the program either. */
static bool is_main(const struct frame *frame)
{
    const char *symbol = frame->module ? dwfl_module_addrname(frame->module, frame->address) : NULL;
    return symbol != NULL && strcmp(symbol, "main") == 0;
}

/* --- folding ---------------------------------------------------------------------------------- */

/* Libraries that MPI libraries and Faultline call: the C library, and what MPI libraries are made
 * of. Whatever else is called from MPI (the function of an operation, say) is the program's. */
static bool is_below(Dwfl_Module *module)
{
    static const char *const prefixes[] = {
        "libc.",    "libm.",  "libpthread", "librt.",    "ld-linux", "linux-vdso", "[vdso",
        "libuc",    "libpsm", "libfabric",  "libopen-",  "mca_",     "libpmix",    "libevent",
        "libhwloc", "libnl-", "libibverbs", "librdmacm", "libefa"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(module_name(module), prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

enum owner { OF_PROGRAM, OF_MPI, OF_FAULTLINE };

/* outer: whose the frame is that called it. */
static enum owner owner_of(const struct frame *frame, enum owner outer)
{
    const char *symbol = frame->module ? dwfl_module_addrname(frame->module, frame->address) : NULL;
    if (is_own(frame->module) || (symbol != NULL && is_own_name(symbol)))
        return OF_FAULTLINE;
    if (is_mpi(frame->module))
        return OF_MPI;
    return is_below(frame->module) ? outer : OF_PROGRAM;
}

static void print_folded(FILE *out, size_t count, const char *whose)
{
    if (count > 0)
        fprintf(out, STACKS_FOLDED "%zu of %s\n", count, whose);
}

/* Frames of Faultline and of MPI are counted, not shown: they say nothing about the program. Of MPI
 * the outermost is shown, which is the function that was called. */
void frames_print(FILE *out, const struct frames *frames)
{
    enum owner owner[FRAMES_MOST + 1] = {OF_PROGRAM};
    for (size_t i = frames->count; i > 0; i--)
        owner[i - 1] = owner_of(&frames->frame[i - 1], owner[i]);
    size_t folded = 0;
    for (size_t i = 0; i < frames->count; i++) {
        bool last = i + 1 == frames->count || owner[i + 1] != owner[i];
        if (owner[i] == OF_PROGRAM) {
            print_frame(out, &frames->frame[i], i);
        } else if (!last) {
            folded++;
        } else {
            bool own = owner[i] == OF_FAULTLINE;
            print_folded(out, folded + own, own ? "Faultline" : "MPI");
            if (!own)
                print_frame(out, &frames->frame[i], i);
            folded = 0;
        }
        if (is_main(&frames->frame[i]))
            return;
    }
    if (frames->more)
        fprintf(out, "    ... and more than %d frames\n", FRAMES_MOST);
}
