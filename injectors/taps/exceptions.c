/* The functions that the generator cannot wrap: a variable argument list, or a result that is not
 * an error code. All but MPI_Pcontrol are answered without another rank and are called often, so
 * they are passed on without a record. */
#include "injectors/taps/tap.h"

/* The names stand in parentheses because a library may have macros of these names, too. */
#define PASS_ON(type, name, declared, named)                                                       \
    EXPORTED type(PMPI_##name) declared                                                            \
    {                                                                                              \
        if (unlikely(!library_found))                                                              \
            library_require();                                                                     \
        return library.name named;                                                                 \
    }                                                                                              \
    EXPORTED type(MPI_##name) declared                                                             \
    {                                                                                              \
        if (unlikely(!library_found))                                                              \
            library_require();                                                                     \
        return upper.name named;                                                                   \
    }

PASS_ON(double, Wtime, (void), ())
PASS_ON(double, Wtick, (void), ())
PASS_ON(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint displacement), (base, displacement))
PASS_ON(MPI_Aint, Aint_diff, (MPI_Aint a, MPI_Aint b), (a, b))
PASS_ON(MPI_Fint, File_c2f, (MPI_File file), (file))
PASS_ON(MPI_File, File_f2c, (MPI_Fint file), (file))

/* What stands after `level` has a meaning to whoever defines it; the compiler passes it on as it
 * came. A macro, because the arguments are those of the function it stands in. */
#define PCONTROL_STACK_BYTES 128
#define PCONTROL_PASS_ON(next)                                                                     \
    __builtin_apply((void (*)())(void (*)(void))(next), __builtin_apply_args(),                    \
                    PCONTROL_STACK_BYTES)

static void record_control(enum level level)
{
    call_end(call_begin(level, CALL_MPI_Pcontrol, handles.COMM_NULL), MPI_SUCCESS);
}

EXPORTED int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    if (lower_records())
        record_control(LEVEL_WIRE);
    lower_pass();
    void *result = PCONTROL_PASS_ON(library.Pcontrol);
    lower_return();
    __builtin_return(result);
}

/* Where no protocol defines it, upper.Pcontrol is the library's: then the lower level is recorded
 * here. */
EXPORTED int MPI_Pcontrol(const int level, ...)
{
    (void)level;
    thread_state.returns_to = __builtin_return_address(0);
    if (upper_records() || upper_records_else()) {
        record_control(LEVEL_APP);
        if (upper.Pcontrol == library.Pcontrol)
            record_control(LEVEL_WIRE);
    }
    upper_pass();
    void *result = PCONTROL_PASS_ON(upper.Pcontrol);
    upper_return();
    __builtin_return(result);
}
