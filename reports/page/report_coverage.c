/* See report_coverage.h. A coverage claim is called <table>.<row>-<column>, where a row is a region
 * and a column one or several: C.cell.before-logging, D.cell.bcast.logging-before+logging. The
 * table ends at the last dot. What has no claim of its own cannot be, or is forbidden. */
#include "reports/page/report_coverage.h"

#include "oracles/oracle.h"
#include "reports/results/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MARK ".cell."
#define CELL_WIDTH 96 /* of the picture */
#define CELL_HEIGHT 40
#define HEAD_WIDTH 76
#define HEAD_HEIGHT 44
#define COLUMNS_MOST 8
#define NAME_BYTES 64
#define LINE_BYTES 512

static const char *const regions[] = {"before", "logging", "beyond"};
#define REGIONS (sizeof regions / sizeof regions[0])

void coverage_add(const struct stored_verdict *stored, const char *expected, struct coverage *all)
{
    for (size_t i = 0; i < stored->result_count; i++) {
        const struct stored_result *result = &stored->result[i];
        if (result->known == NULL)
            continue;
        struct coverage *coverage = &all[result->known - claims];
        size_t length = strlen(expected);
        bool named = length > 0 && strncmp(result->claim, expected, length) == 0 &&
                     (result->claim[length] == '\0' || result->claim[length] == '.');
        coverage->runs++;
        coverage->situations += result->situations;
        coverage->violations += result->violations;
        coverage->expected += named ? result->violations : 0;
    }
}

/* --- a matrix --------------------------------------------------------------------------------- */

/* A cell's claim, taken apart. */
struct place {
    char table[NAME_BYTES]; /* "C.cell" */
    size_t row;
    char column[NAME_BYTES];
};

static bool take_apart(const struct claim *claim, struct place *place)
{
    const char *dot = strrchr(claim->id, '.');
    const char *dash = dot != NULL ? strchr(dot, '-') : NULL;
    if (strstr(claim->id, CELL_MARK) == NULL || dash == NULL)
        return false;
    snprintf(place->table, sizeof place->table, "%.*s", (int)(dot - claim->id), claim->id);
    snprintf(place->column, sizeof place->column, "%s", dash + 1);
    for (place->row = 0; place->row < REGIONS; place->row++)
        if (strlen(regions[place->row]) == (size_t)(dash - dot - 1) &&
            strncmp(dot + 1, regions[place->row], (size_t)(dash - dot - 1)) == 0)
            return true;
    return false;
}

struct matrix {
    const char *table;
    size_t columns;
    char column[COLUMNS_MOST][NAME_BYTES];
    size_t claim[REGIONS][COLUMNS_MOST]; /* claim_count: none */
    bool judged;
};

/* Twice the middle of the regions named, so that they stand in the order of the lines. */
static int rank_of_column(const char *column)
{
    int sum = 0, count = 0;
    for (size_t i = 0; i < REGIONS; i++)
        if (strstr(column, regions[i]) != NULL) {
            sum += 2 * (int)i;
            count++;
        }
    return count > 0 ? 12 * sum / count + count : 0;
}

static int by_region(const void *left, const void *right)
{
    return rank_of_column(left) - rank_of_column(right);
}

static size_t column_of(struct matrix *matrix, const char *name)
{
    for (size_t i = 0; i < matrix->columns; i++)
        if (strcmp(matrix->column[i], name) == 0)
            return i;
    return COLUMNS_MOST;
}

static void lay_out(struct matrix *matrix, const struct coverage *all)
{
    struct place place;
    for (size_t i = 0; i < claim_count; i++)
        if (take_apart(&claims[i], &place) && strcmp(place.table, matrix->table) == 0 &&
            column_of(matrix, place.column) == COLUMNS_MOST && matrix->columns < COLUMNS_MOST)
            memcpy(matrix->column[matrix->columns++], place.column, sizeof place.column);
    qsort(matrix->column, matrix->columns, sizeof matrix->column[0], by_region);
    for (size_t row = 0; row < REGIONS; row++)
        for (size_t k = 0; k < COLUMNS_MOST; k++)
            matrix->claim[row][k] = claim_count;
    for (size_t i = 0; i < claim_count; i++) {
        if (!take_apart(&claims[i], &place) || strcmp(place.table, matrix->table) != 0)
            continue;
        size_t column = column_of(matrix, place.column);
        if (column == COLUMNS_MOST)
            continue;
        matrix->claim[place.row][column] = i;
        matrix->judged |= all[i].runs > 0;
    }
}

static void write_head(struct xml *xml, const char *element, const char *name, size_t x, size_t y)
{
    xml_begin(xml, element);
    xml_attribute(xml, "name", name);
    xml_number(xml, "x", (int64_t)x);
    xml_number(xml, "y", (int64_t)y);
    xml_end(xml);
}

static void write_cell(struct xml *xml, const struct matrix *matrix, size_t row, size_t column,
                       const struct coverage *all)
{
    size_t claim = matrix->claim[row][column];
    uint64_t seen = claim < claim_count ? all[claim].situations : 0;
    xml_begin(xml, "cell");
    xml_number(xml, "x", (int64_t)(HEAD_WIDTH + column * CELL_WIDTH));
    xml_number(xml, "y", (int64_t)(HEAD_HEIGHT + row * CELL_HEIGHT));
    xml_attribute(xml, "row", regions[row]);
    xml_attribute(xml, "column", matrix->column[column]);
    xml_attribute(xml, "state", claim == claim_count ? "forbidden" : seen > 0 ? "seen" : "unseen");
    if (claim < claim_count) {
        xml_attribute(xml, "claim", claims[claim].id);
        xml_number(xml, "count", (int64_t)seen);
    }
    xml_end(xml);
}

static void write_matrix(struct xml *xml, const struct matrix *matrix, const struct coverage *all)
{
    size_t seen = 0, possible = 0;
    for (size_t row = 0; row < REGIONS; row++)
        for (size_t column = 0; column < matrix->columns; column++)
            if (matrix->claim[row][column] < claim_count) {
                possible++;
                seen += all[matrix->claim[row][column]].situations > 0;
            }
    xml_begin(xml, "matrix");
    xml_attribute(xml, "id", matrix->table);
    xml_number(xml, "width", (int64_t)(HEAD_WIDTH + matrix->columns * CELL_WIDTH + 1));
    xml_number(xml, "height", HEAD_HEIGHT + REGIONS * CELL_HEIGHT + 1);
    xml_number(xml, "cell-width", CELL_WIDTH);
    xml_number(xml, "cell-height", CELL_HEIGHT);
    bool of_calls = strstr(matrix->table, CELL_MARK) != NULL; /* with a category after "cell" */
    xml_attribute(xml, "rows", of_calls ? "root" : "sent");
    xml_attribute(xml, "columns", of_calls ? "others" : "delivered");
    xml_number(xml, "seen", (int64_t)seen);
    xml_number(xml, "possible", (int64_t)possible);
    for (size_t row = 0; row < REGIONS; row++)
        write_head(xml, "row", regions[row], 0, HEAD_HEIGHT + row * CELL_HEIGHT);
    for (size_t column = 0; column < matrix->columns; column++)
        write_head(xml, "column", matrix->column[column], HEAD_WIDTH + column * CELL_WIDTH,
                   HEAD_HEIGHT);
    for (size_t row = 0; row < REGIONS; row++)
        for (size_t column = 0; column < matrix->columns; column++)
            write_cell(xml, matrix, row, column, all);
    xml_end(xml);
}

static void write_one(void *context, const struct matrix *matrix, const struct coverage *all)
{
    write_matrix(context, matrix, all);
}

/* A table of claims is told where its first claim stands. */
static void each_matrix(void (*each)(void *context, const struct matrix *matrix,
                                     const struct coverage *all),
                        void *context, const struct coverage *all)
{
    char last[NAME_BYTES] = "";
    for (size_t i = 0; i < claim_count; i++) {
        struct place place;
        if (!take_apart(&claims[i], &place) || strcmp(place.table, last) == 0)
            continue;
        memcpy(last, place.table, sizeof last);
        struct matrix matrix = {.table = place.table};
        lay_out(&matrix, all);
        if (matrix.judged)
            each(context, &matrix, all);
    }
}

/* --- for a terminal ------------------------------------------------------------------------ */

static void print_matrix(FILE *out, const struct matrix *matrix, const struct coverage *all)
{
    char line[LINE_BYTES];
    bool of_calls = strcmp(matrix->table, "C.cell") != 0;
    int used =
        snprintf(line, sizeof line, "  %-20s", of_calls ? "root \\ others" : "sent \\ delivered");
    for (size_t k = 0; k < matrix->columns; k++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %15.31s", matrix->column[k]);
    tap_comment(out, "%s", matrix->table);
    tap_comment(out, "%s", line);
    for (size_t row = 0; row < REGIONS; row++) {
        used = snprintf(line, sizeof line, "  %-20s", regions[row]);
        for (size_t k = 0; k < matrix->columns; k++) {
            size_t claim = matrix->claim[row][k];
            char cell[NAME_BYTES] = "-";
            if (claim < claim_count)
                snprintf(cell, sizeof cell, "%" PRIu64, all[claim].situations);
            used += snprintf(line + used, sizeof line - (size_t)used, " %15s", cell);
        }
        tap_comment(out, "%s", line);
    }
}

static void print_one(void *context, const struct matrix *matrix, const struct coverage *all)
{
    print_matrix(context, matrix, all);
}

void coverage_print_matrices(FILE *out, const struct coverage *all)
{
    each_matrix(print_one, out, all);
}

void coverage_write(struct xml *xml, const struct coverage *all)
{
    for (size_t i = 0; i < claim_count; i++) {
        if (all[i].runs == 0)
            continue;
        xml_begin(xml, "claim");
        xml_attribute(xml, "id", claims[i].id);
        xml_attribute(xml, "text", claims[i].text);
        xml_attribute(xml, "source", claims[i].source);
        xml_attribute(xml, "needs", claims[i].needs);
        xml_flag(xml, "is-cell", strstr(claims[i].id, CELL_MARK) != NULL);
        xml_number(xml, "runs", (int64_t)all[i].runs);
        xml_number(xml, "situations", (int64_t)all[i].situations);
        xml_number(xml, "violations", (int64_t)all[i].violations);
        xml_number(xml, "expected", (int64_t)all[i].expected);
        xml_end(xml);
    }
    each_matrix(write_one, xml, all);
}
