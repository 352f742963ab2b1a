/* One line on standard error while runs go on, for people: only on a terminal, never silent for
 * more than two seconds. */
#ifndef SYSTEM_PROGRESS_H
#define SYSTEM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool on;
    bool colour; /* NO_COLOR is honoured */
    uint64_t start_ns;
    size_t total; /* 0: not known */
    size_t done;
    size_t failed;
};

#define PROGRESS_PERIOD_MS 500

/* Starts the clock; `total`: 0 if it is not known. */
void progress_begin(struct progress *progress, size_t total);
/* `running` names what is under way. */
void progress_show(const struct progress *progress, const char *running);
/* Makes room for other output. */
void progress_hide(const struct progress *progress);

#endif
