/* Is the job deadlocked? Looks at the board only, and reads the traces when every live rank has
 * been inside the same blocking call for several looks. */
#ifndef DRIVER_WATCH_H
#define DRIVER_WATCH_H

#include "board/board.h"

#include <stdbool.h>
#include <stddef.h>

struct watch {
    uint64_t calls[BOARD_MAX_RANKS]; /* blocking_call at the last look */
    unsigned same;                   /* looks in a row that found the same */
    unsigned analyse_at;             /* `same` at which the traces are read next */
};

void watch_init(struct watch *watch);

/* One look, about WATCH_PERIOD_MS after the one before. True when the job is deadlocked; text then
 * tells the cycle. */
#define WATCH_PERIOD_MS 50
bool watch_look(struct watch *watch, const struct board *board, const char *run_folder, char *text,
                size_t bytes);

/* Writes the call stacks of all live ranks to stacks.txt of the run folder, or there the reason why
 * it could not. */
void watch_write_stacks(const struct board *board, const char *run_folder);

#endif
