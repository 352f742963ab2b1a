/* The table of predefined handles where they are addresses of data: prints what is wrong with it.
 * With LACKING the process has no MPI_PACKED. */
#include "injectors/record/handles.h"

#include <dlfcn.h>
#include <stdio.h>

#ifndef LACKING
struct address_of_MPI_Datatype {
    int one;
} mpi_packed_data;
#else
struct address_of_MPI_Datatype {
    int one;
};
#endif
struct address_of_MPI_Comm {
    int one;
} mpi_comm_null_data, mpi_comm_self_data, mpi_comm_world_data;
struct address_of_MPI_Request {
    int one;
} mpi_request_null_data;
struct address_of_MPI_Errhandler {
    int one;
} mpi_errors_return_data;
struct address_of_MPI_Message {
    int one;
} mpi_message_no_proc_data, mpi_message_null_data;
struct address_of_MPI_Datatype mpi_datatype_null_data, mpi_byte_data, mpi_long_double_data,
    mpi_long_double_int_data, mpi_c_long_double_complex_data, mpi_cxx_long_double_complex_data;

int main(void)
{
    const char *lacking = handles_resolve(RTLD_DEFAULT);
    printf("lacks %s\n", lacking != NULL ? lacking : "nothing");
#ifndef LACKING
#define COMPARE(type, name)                                                                        \
    if (handles.name != MPI_##name)                                                                \
        printf("%s is another\n", #name);
    PREDEFINED_HANDLES(COMPARE)
#endif
    return 0;
}
