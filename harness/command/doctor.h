/* What this machine can do, and what to install for what it cannot: `faultline doctor`. */
#ifndef COMMAND_DOCTOR_H
#define COMMAND_DOCTOR_H

#include <stdio.h>

/* One line per fact: "ok", "note" (good to know, or missing and not needed to run) or "NO"
 * (Faultline cannot run), what it is about, and the fact; last the line to type for what is
 * missing. Everything is tried, not guessed: libraries are loaded and a call stack is taken, each
 * in a process of its own with a time limit. Returns STATUS_PASS, or STATUS_HARNESS if there is a
 * "NO". */
int doctor(FILE *out);

#endif
