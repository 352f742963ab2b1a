/* See error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

enum error_code error_set(struct error *error, enum error_code code, const char *format, ...)
{
    if (error == NULL)
        return code;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

const char *error_code_text(enum error_code code)
{
    static const char *const texts[] = {
#define X(name, text) text,
        ERROR_CODES(X)
#undef X
    };
    if ((unsigned)code >= sizeof texts / sizeof texts[0])
        return "unknown error";
    return texts[code];
}
