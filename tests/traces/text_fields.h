/* What the reader and the writer of text traces share: which word stands for which field of a
 * record, by kind. The form itself is described in oracles/README.md. */
#ifndef TRACES_TEXT_FIELDS_H
#define TRACES_TEXT_FIELDS_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stddef.h>

/* The fields of a record that have a word. */
enum text_field {
    FIELD_COMM,
    FIELD_PEER,
    FIELD_TAG,
    FIELD_REQUEST,
    FIELD_BYTES,
    FIELD_HASH,
    FIELD_WANT_PEER,
    FIELD_WANT_TAG,
    FIELD_RESULT, /* result_hash; of a note previous_note */
    FIELD_THREAD,
    FIELD_ERROR,
    FIELD_CALL, /* only where the name does not do */
    FIELD_COUNT,
};

#define KIND_BIT(kind) (1u << RECORD_##kind)

struct text_word {
    const char *word;
    enum text_field field;
    unsigned kinds; /* KIND_BIT of the kinds that have it */
    bool after_got; /* only after `got` (the tag that arrived, against the tag asked for) */
    bool before_got;
};

extern const struct text_word text_words[];
extern const size_t text_word_count;

struct text_flag {
    const char *word;
    uint8_t flag;
};
extern const struct text_flag text_flags[];
extern const size_t text_flag_count;

int64_t text_get(const struct record *record, enum text_field field);
void text_set(struct record *record, enum text_field field, int64_t value);

/* What a field is when its word is left out. */
int64_t text_default(unsigned kind, enum text_field field);

/* A hash that is left out means FLAG_NO_HASH for what carries a message. */
bool text_hash_expected(unsigned kind, bool got);

/* Bounds that both sides keep. */
#define TEXT_LINE_BYTES 65536
#define TEXT_INCARNATIONS TRACE_MAX_INCARNATIONS
#define TEXT_RANKS 65536

/* Ticks of a record written without times: every line a microsecond after the one above, every
 * incarnation a second after the one before. */
#define TEXT_TICKS_PER_SECOND 1000000000u
#define TEXT_TICKS_PER_LINE 1000u
#define TEXT_TICKS_IN_CALL 500u

#endif
