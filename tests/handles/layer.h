/* What layer.c offers the programs of this folder, as weak references. */
#ifndef TESTS_HANDLES_LAYER_H
#define TESTS_HANDLES_LAYER_H

#include <stddef.h>

/* Saves `state` and this layer's handles as line `line`, in the file "<folder>/<line>.<rank>". */
void layer_save(const char *folder, int line, const void *state, size_t bytes)
    __attribute__((weak));

/* The reverse; line 0: starts from nothing. Collective. */
void layer_restore(const char *folder, int line, void *state, size_t bytes) __attribute__((weak));

/* This rank logs, or does not any more. Answers how often it was told to stop. */
int layer_logging(int logging) __attribute__((weak));

/* Communicators that the layer knows, apart from the predefined ones. */
int layer_alive(void) __attribute__((weak));

#endif
