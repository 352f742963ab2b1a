/* See header.h. */
#include "injectors/record/header.h"

#include "faultline.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Others may be named before there is a board: constructors run in the order of the loader. */
static struct board *of_run;
static char text[BOARD_TEXT_BYTES]; /* what does not fit; empty: nothing */

__attribute__((visibility("default"))) void faultline_header(int version, const void *inside);

static _Noreturn void end(void)
{
    memcpy(of_run->misbuilt, text, sizeof text);
    fprintf(stderr, "faultline: %s\n", text);
    _exit(1);
}

void faultline_header(int version, const void *inside)
{
    Dl_info teller;
    if (version == FAULTLINE_HEADER_VERSION || text[0] != '\0')
        return;
    bool known = dladdr(inside, &teller) != 0;
    const char *file = known ? strrchr(teller.dli_fname, '/') : NULL;
    snprintf(text, sizeof text,
             "%.100s was built with version %d of faultline.h, and this is Faultline with version "
             "%d: build it again, with the faultline.h that belongs to this one",
             file != NULL ? file + 1
             : known      ? teller.dli_fname
                          : "something",
             version, FAULTLINE_HEADER_VERSION);
    if (of_run != NULL)
        end();
}

void header_open(struct board *board)
{
    of_run = board;
    if (text[0] != '\0')
        end();
}
