/* Calls of the library with as many elements as the program may give. MPI-3 has none with a count
 * above INT_MAX: then its program cannot give more either, but a message of many elements that is
 * sent as bytes may come to more. */
#ifndef INJECTORS_STEER_STEER_WIDE_H
#define INJECTORS_STEER_STEER_WIDE_H

#include "injectors/record/library.h"

#include <limits.h>

/* steer_wide(Isend, buffer, count, type, ...) is library.Isend with an MPI_Count;
 * steer_wide_pair(Isendrecv, ...) that of a call which has two. */
#if MPI_VERSION >= 4
#define steer_wide(call, buffer, count, ...) library.call##_c(buffer, count, __VA_ARGS__)
#define steer_wide_pair(call, ...) library.call##_c(__VA_ARGS__)
#else
#define steer_wide(call, buffer, count, ...)                                                       \
    ((count) > INT_MAX ? MPI_ERR_COUNT : library.call(buffer, (int)(count), __VA_ARGS__))
#define steer_wide_pair(call, out, sent, type, peer, tag, in, received, ...)                       \
    ((sent) > INT_MAX || (received) > INT_MAX                                                      \
         ? MPI_ERR_COUNT                                                                           \
         : library.call(out, (int)(sent), type, peer, tag, in, (int)(received), __VA_ARGS__))
#endif

#endif
