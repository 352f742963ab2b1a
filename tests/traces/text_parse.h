/* Shared by the files that read text traces: the line being read, its words, and the traces under
 * construction. */
#ifndef TESTS_TRACES_TEXT_PARSE_H
#define TESTS_TRACES_TEXT_PARSE_H

#include "base/error.h"
#include "traces/text_fields.h"

#define WORD_BYTES 1024

/* A trace under construction. */
struct draft {
    struct trace_header header;
    bool given; /* a `trace` line said whether it is open */
    bool open;
    bool has_reserved, has_last_note;
    struct record *record;
    size_t count, room;
    uint64_t last_note;
};

struct parser {
    const char *path;
    unsigned line;
    const char *at; /* rest of the line */
    int ranks;      /* 0: not said */
    int processes;  /* 0: not said: as many as ranks */
    size_t draft_count;
    struct draft *draft;
    struct error *error;
};

/* ERROR_FORMAT with path and line in front. */
enum error_code text_fail(const struct parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next word; peek: without moving on. False at the end of the line; '#' between words begins a
 * comment. */
bool text_next_word(struct parser *parser, char word[WORD_BYTES]);
bool text_peek_word(const struct parser *parser, char word[WORD_BYTES]);

/* What must follow the word `field`; errors name it and what is accepted. */
enum error_code text_quoted(struct parser *parser, const char *field, char *text, size_t room,
                            size_t *length);
enum error_code text_number(struct parser *parser, const char *field, uint64_t highest,
                            uint64_t *value);
enum error_code text_peer(struct parser *parser, const char *field, int64_t *value);
enum error_code text_tag(struct parser *parser, const char *field, int64_t *value);

/* The same for a word that was read already. */
enum error_code text_parse_number(const struct parser *parser, const char *field, const char *word,
                                  uint64_t highest, uint64_t *value);

/* A zeroed record at the end of the draft. */
enum error_code text_add_record(struct parser *parser, struct draft *draft, struct record **record);

/* The rest of a line before its place. index: what the place said, or SIZE_MAX. */
enum error_code text_parse_record(struct parser *parser, struct draft *draft, size_t index);

#endif
