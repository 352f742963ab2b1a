/* A Lua table constructor, built field by field and then laid out in lines of readable width. Only
 * for the writers of Lua text. Must not know: scenarios, plans. */
#ifndef SCRIPT_LUA_TABLE_H
#define SCRIPT_LUA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LUA_TABLE_COLUMNS 100

/* Owned by the caller: lua_table_release. */
struct lua_table {
    FILE *out; /* into `text`; NULL: nothing is kept, values are only counted */
    char *text;
    size_t bytes;
    size_t values; /* numbers, texts and words so far */
    bool first;    /* nothing stands yet in the innermost braces */
};

/* An empty table, open; `keep` false: to count values. */
void lua_table_init(struct lua_table *table, bool keep);
void lua_table_release(struct lua_table *table);

/* "name = "; what follows is its value. A name that is no word of Lua's is put in brackets. NULL:
 * an entry of a list. */
void lua_table_name(struct lua_table *table, const char *name);

/* One value: a number, a quoted text (any bytes), a word as it stands. */
void lua_table_number(struct lua_table *table, int64_t number);
void lua_table_text(struct lua_table *table, const char *text);
void lua_table_word(struct lua_table *table, const char *word);

/* A value that is a table: what is put between the two stands in it. */
void lua_table_open(struct lua_table *table);
void lua_table_close(struct lua_table *table);

/* Ends the table and prints it, `column` characters being in its line already; later lines stand
 * below its first field. `braces` false: only what would stand in them, and a comma after it.
 * Nothing can be added any more. It was to be kept. */
void lua_table_print(struct lua_table *table, FILE *to, size_t column, bool braces);

/* A text as Lua writes it, in quotes. */
void lua_quote(FILE *to, const char *text);

#endif
