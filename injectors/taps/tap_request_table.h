/* The table behind tap_request.h: requests by handle, and by handle and variable. It grows, so that
 * a request is found as quickly among a hundred thousand. */
#ifndef INJECTORS_TAPS_TAP_REQUEST_TABLE_H
#define INJECTORS_TAPS_TAP_REQUEST_TABLE_H

#include "injectors/taps/tap_request.h"

/* level, kind, handle and where are set. If a persistent request has the same handle, it is taken
 * out and returned, else NULL. Such a request is gone, for a handle is not given to a second one
 * before: in a restart a protocol replaces the program's requests with those of its checkpoint. */
struct request *request_table_insert(struct request *request);

/* The request of this handle that is not claimed, now claimed: the newest of the same variable,
 * else the oldest. NULL: none. */
struct request *request_table_claim(enum level level, uint64_t handle, const void *where,
                                    bool message);

/* The same, claimed or not, and left as it is but for `cancel`. 0: none, else its number. */
uint32_t request_table_cancel(enum level level, uint64_t handle, const void *where);

void request_table_remove(struct request *request);

/* For each request, of both levels, while its part of the table is locked. */
void request_table_each(void (*visit)(struct request *request, MPI_Datatype type),
                        MPI_Datatype type);

#endif
