/* What is started for the step engine, by whoever starts it. */
#ifndef LAUNCH_STEP_H
#define LAUNCH_STEP_H

#include "launch/order.h"

/* Sets in this process what the program is to find, whichever run it is for. */
void step_set_environment(const struct launch_order *order);

#endif
