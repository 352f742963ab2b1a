/* What the injectors inform the step engine of and ask it: see injectors/record/schedule.h. */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include "injectors/record/schedule.h"

extern const struct schedule engine_schedule;

#endif
