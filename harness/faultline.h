/* faultline.h: how a protocol or a program tells Faultline what its taps cannot see.
 *
 * Header only. Without Faultline loaded every call does nothing and needs no library: the functions
 * are weak references, resolved by libfaultline.so when it is preloaded. All may be called from any
 * thread, before MPI_Init and after MPI_Finalize; none fails, blocks or calls MPI.
 *
 * `line` numbers a recovery line (the C3 paper's epoch): 1 is the first checkpoint, 0 is the start
 * of the program. */
#ifndef FAULTLINE_H
#define FAULTLINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of enum note_kind in the trace; do not change. */
enum faultline_note {
    FAULTLINE_CHECKPOINT = 1,
    FAULTLINE_SAVED = 2,
    FAULTLINE_COMMIT = 3,
    FAULTLINE_RESTORED = 4,
    FAULTLINE_STOP_LOG = 5,
    FAULTLINE_PHASE = 6,
    FAULTLINE_RESULT = 7,
    FAULTLINE_HANDLE = 8
};
enum faultline_handle { FAULTLINE_COMM = 1, FAULTLINE_REQUEST = 2 };

/* The one door. name may be NULL; data may be NULL when bytes is 0; both are only read. Prefer the
 * named functions below. */
void faultline_note(int kind, uint64_t value, const char *name, const void *data, size_t bytes)
    __attribute__((weak));
void faultline_handle(int what, uint64_t handle, uint64_t stands_for) __attribute__((weak));

/* 1 if Faultline records this process, else 0. */
static inline int faultline_present(void)
{
    return faultline_note != NULL;
}

/* This rank has taken its local checkpoint of `line`: its state as of now is what a restart from
 * `line` gives back. Call it at the point of the cut itself. */
static inline void faultline_checkpoint(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_CHECKPOINT, line, NULL, NULL, 0);
}

/* Everything this rank must keep for `line` is on stable storage. */
static inline void faultline_saved(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_SAVED, line, NULL, NULL, 0);
}

/* The initiator has durably recorded `line` as the one to recover from. */
static inline void faultline_commit(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_COMMIT, line, NULL, NULL, 0);
}

/* This rank's state is again what it was at its checkpoint of `line`. Once per incarnation, at the
 * moment from which the rank lives on from that state. Never for a start from nothing. */
static inline void faultline_restored(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_RESTORED, line, NULL, NULL, 0);
}

/* This rank stops logging for `line` (C3 section 2.2, the stop-log line). */
static inline void faultline_stop_log(uint64_t line)
{
    if (faultline_note)
        faultline_note(FAULTLINE_STOP_LOG, line, NULL, NULL, 0);
}

/* A named point that a scenario can aim at: `event = "phase", name = "..."`. */
static inline void faultline_phase(const char *name)
{
    if (faultline_note)
        faultline_note(FAULTLINE_PHASE, 0, name, NULL, 0);
}

/* A declared result: compared, by name and rank, with that of a run without faults. */
static inline void faultline_result(const char *name, const void *data, size_t bytes)
{
    if (faultline_note)
        faultline_note(FAULTLINE_RESULT, bytes, name, data, bytes);
}

/* A protocol that hands the application handles of its own says which of the library's each stands
 * for (`what` is enum faultline_handle); again after a restart. stands_for 0 forgets it. Handles
 * are passed as integers: (uint64_t)comm, or (uintptr_t) where the MPI's handles are pointers. */
static inline void faultline_stands_for(int what, uint64_t handle, uint64_t stands_for)
{
    if (faultline_handle)
        faultline_handle(what, handle, stands_for);
}

#ifdef __cplusplus
}
#endif

#endif
