/* The end of requests: MPI_Wait and MPI_Test in all forms. Wait and Test of a known request are one
 * COMPLETE record; the forms for many are a CALL record and a COMPLETE without duration per request
 * that they completed. A Test that says no may be counted on in an earlier record. */
#ifndef INJECTORS_TAPS_TAP_COMPLETION_H
#define INJECTORS_TAPS_TAP_COMPLETION_H

#include "injectors/taps/tap.h"
#include "injectors/taps/tap_request.h"

/* Around MPI_Wait and MPI_Test. *waited is the request, claimed by this call until its _end; NULL:
 * not known. `flag`, `status`: as the library has filled them in. */
struct record *wait_begin(enum level level, unsigned call, const MPI_Request *request,
                          struct request **waited);
void wait_end(struct record *r, struct request *waited, const MPI_Request *request,
              const MPI_Status *status, int result);

struct record *test_begin(enum level level, unsigned call, const MPI_Request *request,
                          struct request **waited);
void test_end(struct record *r, struct request *waited, const MPI_Request *request, const int *flag,
              const MPI_Status *status, int result);

/* Around MPI_Request_get_status, which completes nothing but may say that a request is complete: a
 * CALL record with the request's number. */
struct record *get_status_begin(enum level level, unsigned call, const MPI_Request *request,
                                struct request **asked);
void get_status_end(struct record *r, struct request *asked, const int *flag, int result);

/* The requests that one call is given, claimed, and room for their statuses. Beyond BATCH_FEW both
 * are allocated; without memory the requests count as unknown. */
#define BATCH_FEW 32
struct batch {
    enum level level;
    unsigned call;
    int asked;                /* as the program says */
    int count;                /* of those that are known of; asked, or 0 */
    struct request **request; /* NULL entries: not known, or inactive */
    MPI_Status *own;          /* NULL: the program's own statuses are used */
    struct request *few_requests[BATCH_FEW];
    MPI_Status few_statuses[BATCH_FEW];
};

/* Returns the statuses to pass on: `statuses`, or the batch's own where that is
 * MPI_STATUSES_IGNORE. Ended by one of the _end functions below. */
MPI_Status *batch_begin(enum level level, unsigned call, struct batch *batch, int count,
                        const MPI_Request *requests, MPI_Status *statuses);

/* Around the forms for many: the record of the call; then a record for each request that it has
 * completed. Each _end releases the batch. */
struct record *wait_many_begin(const struct batch *batch);
struct record *test_many_begin(const struct batch *batch);

void waitall_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const MPI_Status *statuses, int result);
void waitany_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const int *index, const MPI_Status *status, int result);
void waitsome_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                  const int *count, const int *indices, const MPI_Status *statuses, int result);
void testall_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const int *flag, const MPI_Status *statuses, int result);
void testany_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const int *index, const int *flag, const MPI_Status *status, int result);
void testsome_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                  const int *count, const int *indices, const MPI_Status *statuses, int result);

#endif
