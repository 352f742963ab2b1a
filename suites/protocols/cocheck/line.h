/* What a process does when it is notified that a line is due [CC, sections 4 and 5.2]: ready
 * messages, the flush of its channels, and then its checkpoint or its migration. Must not know: how
 * a state gets from process to process, when a line is due. */
#ifndef COCHECK_LINE_H
#define COCHECK_LINE_H

#include "cocheck/control.h"

#define PACKET_READY 8 /* kind of a ready message among the packets; wire.lua names it too */

void line_open(void);
void line_close(void);

/* The notification: it is acted on at the next line_look that may. `place` is the process that this
 * rank migrates to, if it does in that line. */
void line_notified(uint64_t line, int place);

/* A ready message of rank `from` is here, and all that was sent ahead of it. Answered at once if
 * that rank migrates and this one does not. */
void line_ready(int from, uint64_t line);

/* The central instance says that the line is over. */
void line_over(uint64_t line, bool migration);

/* Makes the line of which this process was notified, if there is one. Outside any send. Does not
 * return in a process that migrates. */
void line_look(void);

#endif
