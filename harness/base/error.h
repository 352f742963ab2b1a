/* The one error type. A function returns an error code or an answer, never both in one int.
 *
 * Must not know: MPI, Lua, files of ours. Plain C11 and libc only. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#define ERROR_TEXT_BYTES 512

/* Code, and the word printed in front of the text. */
#define ERROR_CODES(X)                                                                             \
    X(OK, "no error")                                                                              \
    X(ERROR_MEMORY, "out of memory")                                                               \
    X(ERROR_IO, "input/output error")                                                              \
    X(ERROR_FORMAT, "not a valid file")                                                            \
    X(ERROR_VERSION, "another version")                                                            \
    X(ERROR_LIMIT, "limit exceeded")                                                               \
    X(ERROR_USAGE, "wrong use")                                                                    \
    X(ERROR_LAUNCH, "the job could not be run")

enum error_code {
#define X(code, text) code,
    ERROR_CODES(X)
#undef X
};

/* text is always terminated; empty while code is OK. Owned by the caller, copied freely. */
struct error {
    enum error_code code;
    char text[ERROR_TEXT_BYTES];
};

/* Fills *error (which may be NULL: then only the code survives) and returns code, so that
 * `return error_set(error, ERROR_IO, "...")` is the usual last line of a failing function.
 * The text names the thing and the accepted values; longer text is cut. */
enum error_code error_set(struct error *error, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Static string, never NULL. */
const char *error_code_text(enum error_code code);

#endif
