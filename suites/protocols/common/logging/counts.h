/* What a rank has logged and sent along, for measurements. Must not know: what it is for. */
#ifndef COMMON_LOGGING_COUNTS_H
#define COMMON_LOGGING_COUNTS_H

#include <stdint.h>

struct counts {
    uint64_t messages;     /* packets of the program that were sent by themselves */
    uint64_t logged;       /* bytes that came into the log, with the heads of packets */
    uint64_t forgotten;    /* of these: of reductions that are finished */
    uint64_t given;        /* bytes of contributions that this rank keeps as their root */
    uint64_t determinants; /* made here: of messages that came, and of choices */
    uint64_t carried;      /* determinants in all that was sent, each as often as it was */
};

extern struct counts counts;

/* Appends a line "RANK MESSAGES LOGGED FORGOTTEN GIVEN DETERMINANTS CARRIED" to the file that
 * LOGGING_COUNTS names, if it names one. */
void counts_write(int rank);

#endif
