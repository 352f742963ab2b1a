/* MPI_Pcontrol, which the generator cannot wrap: it has a variable argument list. */
#include "injectors/taps/tap.h"

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
