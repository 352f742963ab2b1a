/* Memory for the command. A process that is refused some cannot judge, draw or report anything that
 * is to be believed: it says so and ends with MEMORY_EXIT_STATUS; what it was writing in place of a
 * file is removed, and that file stays. So nobody who asks here has an error to carry on. Must not
 * be used by what runs inside the program under test. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define MEMORY_EXIT_STATUS 3 /* a harness error */

/* Never NULL, also for 0 things; owned by the caller (free). */
void *memory_new(size_t count, size_t bytes); /* zeroed */
void *memory_resized(void *block, size_t count, size_t bytes);
char *memory_text(const char *text);
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* `array` of `count` things, with room for one more: doubled when *room of them are there. */
void *memory_room(void *array, size_t count, size_t *room, size_t bytes);

/* A stream into *text, which is the caller's (free) once memory_stream_end has closed it. */
FILE *memory_stream(char **text, size_t *bytes);
void memory_stream_end(FILE *stream);

/* For who learns from a library that it was refused memory. */
_Noreturn void memory_refused(void);

#endif
