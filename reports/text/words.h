/* The words that Faultline uses in a sense of its own, out of GLOSSARY.md when the command is built
 * (reports/words.awk): so pages explain them in the same words. Must not know: pages. */
#ifndef REPORTS_TEXT_WORDS_H
#define REPORTS_TEXT_WORDS_H

#include <stddef.h>

/* One form of a word. All static. */
struct word {
    const char *form;    /* "recovery line" */
    const char *id;      /* "line": shared by all forms that have one explanation */
    const char *title;   /* "line (recovery line)" */
    const char *meaning; /* plain text */
};

/* As they stand in the glossary; forms of one word follow each other. */
const struct word *words_all(size_t *count);

/* The longest form with which the text begins, also in the plural and with a capital: *bytes of it.
 * NULL: none, or it is only the beginning of another word. */
const struct word *words_at(const char *text, size_t *bytes);

#endif
