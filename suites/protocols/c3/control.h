/* The kinds of control messages [C3, section 3.1]. */
#ifndef C3_CONTROL_H
#define C3_CONTROL_H

#include "common/job/control.h"

/* Tags on the wire; wire.lua names them too. */
enum control_kind {
    CONTROL_PLEASE_CHECKPOINT = 1,
    CONTROL_MY_SEND_COUNT = 2, /* value: messages sent to this rank */
    CONTROL_READY = 3,         /* readyToStopLogging */
    CONTROL_STOP_LOGGING = 4,
    CONTROL_STOPPED = 5,     /* stoppedLogging */
    CONTROL_REPLAY_OVER = 6, /* replayIsOver: not in [C3] */
    CONTROL_KINDS
};

#endif
