/* With which version of faultline.h the program, the protocol and their libraries were built. Must
 * not know: the taps, traces. */
#ifndef INJECTORS_RECORD_HEADER_H
#define INJECTORS_RECORD_HEADER_H

#include "board/board.h"

/* This process is of the run with this board, which stays mapped. Ends the process if it was built
 * with another version, and says so on stderr and on the board; so does what is loaded later. */
void header_open(struct board *board);

#endif
