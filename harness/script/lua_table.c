/* See lua_table.h. Braces and commas are kept as single bytes that no quoted text contains, and
 * become text when it is known where a line must end. */
#include "script/lua_table.h"

#include "base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPEN '\1'
#define CLOSE '\2'
#define COMMA '\3'
#define ROOM_AFTER 2 /* for what closes the last line */

void lua_table_init(struct lua_table *table, bool keep)
{
    *table = (struct lua_table){.first = true};
    if (keep)
        table->out = memory_stream(&table->text, &table->bytes);
}

void lua_table_release(struct lua_table *table)
{
    if (table->out != NULL)
        fclose(table->out);
    free(table->text);
    *table = (struct lua_table){.first = true};
}

/* --- building --------------------------------------------------------------------------------- */

void lua_quote(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ' || c == 127)
            fprintf(to, "\\%03d", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static bool is_word(const char *name)
{
    static const char *const reserved[] = {"and",   "break", "do",       "else", "elseif", "end",
                                           "false", "for",   "function", "goto", "if",     "in",
                                           "local", "nil",   "not",      "or",   "repeat", "return",
                                           "then",  "true",  "until",    "while"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return false;
    if (isdigit((unsigned char)name[0]))
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return name[0] != '\0';
}

void lua_table_name(struct lua_table *table, const char *name)
{
    FILE *out = table->out;
    if (out != NULL && !table->first)
        fputc(COMMA, out);
    table->first = false;
    if (out == NULL || name == NULL)
        return;
    if (is_word(name)) {
        fprintf(out, "%s = ", name);
        return;
    }
    fputc('[', out);
    lua_quote(out, name);
    fputs("] = ", out);
}

void lua_table_number(struct lua_table *table, int64_t number)
{
    table->values++;
    if (table->out != NULL)
        fprintf(table->out, "%" PRId64, number);
}

void lua_table_text(struct lua_table *table, const char *text)
{
    table->values++;
    if (table->out != NULL)
        lua_quote(table->out, text);
}

void lua_table_word(struct lua_table *table, const char *word)
{
    table->values++;
    if (table->out != NULL)
        fputs(word, table->out);
}

void lua_table_open(struct lua_table *table)
{
    table->first = true;
    if (table->out != NULL)
        fputc(OPEN, table->out);
}

void lua_table_close(struct lua_table *table)
{
    table->first = false;
    if (table->out != NULL)
        fputc(CLOSE, table->out);
}

/* --- layout ----------------------------------------------------------------------------------- */

/* Characters that the bytes take when they stand in one line. */
static size_t width_of(const char *text, const char *end)
{
    size_t width = 0;
    for (; text < end; text++)
        if (*text == OPEN || *text == CLOSE || *text == COMMA)
            width += 2;
        else
            width += ((unsigned char)*text & 0xc0) != 0x80; /* not inside of a UTF-8 sequence */
    return width;
}

/* The end of the item that begins at `text`: its comma, or what closes the table it stands in. */
static const char *item_end(const char *text, const char *end)
{
    for (int depth = 0; text < end; text++) {
        if (depth == 0 && (*text == COMMA || *text == CLOSE))
            return text;
        depth += (*text == OPEN) - (*text == CLOSE);
    }
    return end;
}

struct layout {
    FILE *to;
    size_t column;
    const char *text, *end; /* what is not yet printed */
};

static void lay_table(struct layout *layout);

/* One item, up to its comma or the end of its table. */
static void lay_item(struct layout *layout)
{
    const char *end = item_end(layout->text, layout->end);
    while (layout->text < end)
        if (*layout->text == OPEN) {
            layout->text++;
            lay_table(layout);
            layout->text++;
        } else {
            layout->column += width_of(layout->text, layout->text + 1);
            fputc(*layout->text++, layout->to);
        }
}

/* Items one after the other; one that does not fit into the line begins another, below the first.
 */
static void lay_items(struct layout *layout)
{
    size_t margin = layout->column;
    for (bool first = true;; first = false) {
        size_t width = width_of(layout->text, item_end(layout->text, layout->end));
        if (!first && layout->column + 1 + width + ROOM_AFTER > LUA_TABLE_COLUMNS) {
            fprintf(layout->to, "\n%*s", (int)margin, "");
            layout->column = margin;
        } else if (!first) {
            fputc(' ', layout->to);
            layout->column++;
        }
        lay_item(layout);
        if (layout->text >= layout->end || *layout->text != COMMA)
            return;
        layout->text++;
        fputc(',', layout->to);
        layout->column++;
    }
}

/* After its opening brace; stops at its closing one. */
static void lay_table(struct layout *layout)
{
    bool empty = layout->text >= layout->end || *layout->text == CLOSE;
    fputs(empty ? "{" : "{ ", layout->to);
    layout->column += empty ? 1 : 2;
    lay_items(layout);
    fputs(empty ? "}" : " }", layout->to);
    layout->column += empty ? 1 : 2;
}

void lua_table_print(struct lua_table *table, FILE *to, size_t column, bool braces)
{
    memory_stream_end(table->out);
    table->out = NULL;
    struct layout layout = {to, column, table->text, table->text + table->bytes};
    if (braces) {
        lay_table(&layout);
    } else {
        lay_items(&layout);
        fputc(',', to);
    }
}
