/* `faultline trace`: what a run recorded, as text or in a form for another program. */
#include "base/nearest.h"
#include "base/whole_file.h"
#include "cli/arguments.h"
#include "cli/verb.h"
#include "launch/incomplete_traces.h"
#include "reports/export/export.h"
#include "reports/text/columns.h"
#include "reports/text/trace_text.h"
#include "system/path.h"
#include "system/status.h"
#include "verdict/stored_verdict.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NAMES_MOST 32
#define KNOWN_BYTES 256

enum key {
    KEY_RANK = 1000,
    KEY_INCARNATION,
    KEY_LEVEL,
    KEY_KIND,
    KEY_FROM,
    KEY_TO,
    KEY_LIMIT,
    KEY_WIDTH,
    KEY_FORMAT
};

/* The forms for people; the others are exporters. */
static const char *const own_formats[] = {"text", "columns"};
enum { FORMAT_TEXT, FORMAT_COLUMNS, OWN_FORMATS };

struct trace_options {
    struct trace_print_options print;
    const struct exporter *format; /* NULL: for people */
    bool columns;                  /* then: side by side */
    int width;                     /* of columns; 0: as wide as the terminal */
    const char *output;            /* NULL: standard output */
    const char *text_only;         /* an option that was given and is for text alone */
    const char *run;
};

static const struct argp_option trace_argp_options[] = {
    {"format", KEY_FORMAT, "F", 0,
     "text (default), columns (one per rank, a line for each change of state), json (a line an "
     "event, with vector clocks), shiviz, perfetto (Chrome's JSON, also for ui.perfetto.dev), otf2 "
     "(a folder)",
     0},
    {"output", 'o', "FILE", 0, "instead of standard output; of otf2 the folder, a new one", 0},
    {"rank", KEY_RANK, "N", 0, "only this rank", 0},
    {"incarnation", KEY_INCARNATION, "N", 0, "only this life of the job, 0 is the first", 0},
    {"level", KEY_LEVEL, "LEVEL", 0,
     "app (what the application saw), wire (what went to the MPI "
     "library) or self (Faultline's own)",
     0},
    {"kind", KEY_KIND, "KIND", 0,
     "send, recv, complete, probe, collective, comm, note, fault, call", 0},
    {"from", KEY_FROM, "N", 0, "first event of each trace: the number after the e", 0},
    {"to", KEY_TO, "N", 0, "last event of each trace", 0},
    {"limit", KEY_LIMIT, "N", 0, "at most so many lines", 0},
    {"width", KEY_WIDTH, "N", 0,
     "of --format columns: characters in a line (default: as the terminal, else 100)", 0},
    {0},
};

static uint64_t number(const char *text, uint64_t least, uint64_t most, const char *option,
                       struct argp_state *state)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value < least ||
        value > most)
        argp_error(state, "--%s: \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64, option,
                   text, least, most);
    return value;
}

/* `found`, or if that is -1 an error that lists the names of the numbers from `first` to before
 * `end`. */
static int listed(int found, const char *text, const char *(*name_of)(unsigned), unsigned first,
                  unsigned end, const char *option, struct argp_state *state)
{
    const char *names[NAMES_MOST];
    char known[KNOWN_BYTES] = "";
    size_t count = 0, used = 0;
    if (found >= 0)
        return found;
    for (unsigned i = first; i < end && count < NAMES_MOST && used < sizeof known; i++) {
        names[count++] = name_of(i);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > first ? ", " : "",
                                 name_of(i));
    }
    const char *near = nearest_name(text, names, count);
    argp_error(state, "--%s: there is no \"%s\"%s%s%s; accepted: %s", option, text,
               near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
               near != NULL ? "\"?)" : "", known);
    return -1;
}

static const char *format_name(unsigned i)
{
    return i < OWN_FORMATS ? own_formats[i] : exporters[i - OWN_FORMATS]->name;
}

static void take_format(const char *text, struct trace_options *options, struct argp_state *state)
{
    options->format = exporter_find(text);
    options->columns = strcmp(text, own_formats[FORMAT_COLUMNS]) == 0;
    bool known =
        options->format != NULL || options->columns || strcmp(text, own_formats[FORMAT_TEXT]) == 0;
    listed(known ? 0 : -1, text, format_name, 0, (unsigned)exporter_count + OWN_FORMATS, "format",
           state);
}

/* Only the text can be narrowed, and a folder needs a name. */
static void check_together(const struct trace_options *options, struct argp_state *state)
{
    const struct trace_print_options *print = &options->print;
    if (print->from > print->to)
        argp_error(state, "--from %" PRIu64 " is after --to %" PRIu64, print->from, print->to);
    if (options->format != NULL && options->text_only != NULL)
        argp_error(state, "--%s is for --format text and columns; --format %s has the whole run",
                   options->text_only, options->format->name);
    if (options->width != 0 && !options->columns)
        argp_error(state, "--width is for --format columns");
    if (options->format != NULL && options->format->is_folder && options->output == NULL)
        argp_error(state, "--format %s writes a folder: --output DIR is missing",
                   options->format->name);
}

static const char *text_only_name(int key)
{
    for (const struct argp_option *option = trace_argp_options; option->name != NULL; option++)
        if (option->key == key && key >= KEY_RANK && key <= KEY_LIMIT)
            return option->name;
    return NULL;
}

static error_t parse_trace(int key, char *argument, struct argp_state *state)
{
    struct trace_options *options = state->input;
    struct trace_print_options *print = &options->print;
    if (text_only_name(key) != NULL)
        options->text_only = text_only_name(key);
    switch (key) {
    case KEY_FORMAT:
        take_format(argument, options, state);
        return 0;
    case KEY_WIDTH:
        options->width =
            (int)number(argument, COLUMNS_WIDTH_LEAST, COLUMNS_WIDTH_MOST, "width", state);
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case KEY_RANK:
        print->rank = (int)number(argument, 0, INT32_MAX, "rank", state);
        return 0;
    case KEY_INCARNATION:
        print->incarnation = (int)number(argument, 0, INT32_MAX, "incarnation", state);
        return 0;
    case KEY_LEVEL:
        print->level = listed(trace_level_from_text(argument), argument, level_text, LEVEL_APP,
                              LEVEL_SELF + 1, "level", state);
        return 0;
    case KEY_KIND:
        print->kind = listed(trace_kind_from_text(argument), argument, record_kind_text,
                             RECORD_NONE + 1, RECORD_KIND_COUNT, "kind", state);
        return 0;
    case KEY_FROM:
        print->from = number(argument, 0, UINT64_MAX, "from", state);
        return 0;
    case KEY_TO:
        print->to = number(argument, 0, UINT64_MAX, "to", state);
        return 0;
    case KEY_LIMIT:
        print->limit = number(argument, 1, UINT64_MAX, "limit", state);
        return 0;
    case ARGP_KEY_ARG:
        if (options->run != NULL)
            argp_error(state, "one run at a time");
        options->run = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a run folder is missing");
        return 0;
    case ARGP_KEY_SUCCESS:
        check_together(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What is asked for must be there: nothing printed would look as if nothing had happened. */
static enum error_code check_there(const struct trace_set *set,
                                   const struct trace_print_options *print, struct error *error)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->trace[i].count > longest)
            longest = set->trace[i].count;
    if (print->rank >= set->ranks)
        return error_set(error, ERROR_USAGE, "--rank %d: the run has ranks 0 to %d", print->rank,
                         set->ranks - 1);
    if (print->incarnation >= set->incarnations)
        return error_set(error, ERROR_USAGE, "--incarnation %d: the run has incarnations 0 to %d",
                         print->incarnation, set->incarnations - 1);
    if (print->from > 0 && print->from >= longest)
        return error_set(error, ERROR_USAGE,
                         "--from %" PRIu64
                         ": the longest trace of the run has events 0 to %" PRIu64,
                         print->from, longest > 0 ? longest - 1 : 0);
    return OK;
}

/* A run folder holds `trace`; a folder of traces does as well. */
static enum error_code open_traces(const char *run, struct trace_set *set, struct error *error)
{
    struct path folder;
    if (!path_exists(run))
        return error_set(error, ERROR_USAGE,
                         "%s: there is no such folder; a run is OUT/<run-id>/<number>", run);
    enum error_code code = path_format(&folder, error, "%s/trace", run);
    if (code != OK)
        return code;
    return trace_set_open(path_exists(folder.text) ? folder.text : run, set, error);
}

static bool wants_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) != 0 && (no_colour == NULL || *no_colour == '\0');
}

/* What the exported form cannot show is said. */
static void report_seen(const struct export *export)
{
    if (export->seen.forced > 0)
        fprintf(stderr,
                "faultline: %" PRIu64 " events stand before what they depend on: their clocks lack "
                "it\n",
                export->seen.forced);
    if (export->said[0] != '\0')
        fprintf(stderr, "faultline: %s\n", export->said);
}

static enum error_code write_form(const struct trace_options *options, const struct trace_set *set,
                                  FILE *out, struct error *error)
{
    struct event_list witness;
    enum error_code code = stored_witness(options->run, &witness, error);
    if (code != OK)
        return code;
    struct export export = {.set = set,
                            .out = options->format->is_folder ? NULL : out,
                            .folder = options->output,
                            .witness = witness.event,
                            .witness_count = witness.count};
    code = export_run(options->format, &export, error);
    if (code == OK)
        report_seen(&export);
    return code;
}

/* COLUMNS_WIDTH_DEFAULT where the terminal does not say, or there is none. */
static int terminal_width(const struct trace_options *options)
{
    struct winsize size = {0};
    if (options->output != NULL || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col < COLUMNS_WIDTH_LEAST)
        return COLUMNS_WIDTH_DEFAULT;
    return size.ws_col < COLUMNS_WIDTH_MOST ? size.ws_col : COLUMNS_WIDTH_MOST;
}

/* Side by side, with the witness marked. */
static enum error_code write_columns(const struct trace_options *options,
                                     const struct trace_set *set, FILE *out, struct error *error)
{
    struct event_list witness;
    enum error_code code = stored_witness(options->run, &witness, error);
    if (code != OK)
        return code;
    struct columns_options columns = {.print = options->print,
                                      .width = options->width != 0 ? options->width
                                                                   : terminal_width(options),
                                      .witness = witness.event,
                                      .witness_count = witness.count};
    return columns_print(set, &columns, out, error);
}

static enum error_code write_text(const struct trace_options *options, const struct trace_set *set,
                                  FILE *out, struct error *error)
{
    if (options->columns)
        return write_columns(options, set, out, error);
    return trace_print(set, &options->print, out, error);
}

static enum error_code write_to(FILE *out, const struct trace_options *options,
                                const struct trace_set *set, struct error *error)
{
    return options->format == NULL ? write_text(options, set, out, error)
                                   : write_form(options, set, out, error);
}

static enum error_code write_file(const struct trace_options *options, const struct trace_set *set,
                                  struct error *error)
{
    struct whole_file file;
    enum error_code code = whole_file_begin(&file, options->output, WHOLE_NAMED, error);
    if (code != OK)
        return code;
    code = write_to(file.out, options, set, error);
    return whole_file_end(&file, code, error);
}

/* Half a folder is of no use: none is left. */
static enum error_code write_folder(const struct trace_options *options,
                                    const struct trace_set *set, struct error *error)
{
    bool was_there = path_exists(options->output);
    enum error_code code = write_to(NULL, options, set, error);
    if (code != OK && !was_there)
        (void)path_remove(options->output, NULL);
    return code;
}

/* To standard output, to --output, or into it. */
static enum error_code write_out(const struct trace_options *options, const struct trace_set *set,
                                 struct error *error)
{
    if (options->output == NULL)
        return write_to(stdout, options, set, error);
    bool is_folder = options->format != NULL && options->format->is_folder;
    return is_folder ? write_folder(options, set, error) : write_file(options, set, error);
}

int verb_trace(int argc, char **argv)
{
    static const struct argp argp = {
        trace_argp_options,
        parse_trace,
        "RUN",
        "Prints what every rank did, merged by time. An event r2#1:e9 is event 9 of rank 2 in "
        "incarnation 1, as witnesses in reports name it. Other forms hold the whole run, but for "
        "shiviz: at most 2,000 events.",
        NULL,
        NULL,
        NULL};
    struct trace_options options = {.print = trace_print_options_default()};
    arguments_parse(&argp, argc, argv, 0, &options);
    options.print.colour = options.output == NULL && wants_colour();
    struct trace_set set = {0};
    struct error error = {0};
    enum error_code code = open_traces(options.run, &set, &error);
    if (code == OK)
        code = check_there(&set, &options.print, &error);
    if (code == OK)
        code = write_out(&options, &set, &error);
    bool lost = code == OK && incomplete_traces_print(&set, stderr);
    trace_set_release(&set);
    if (code != OK)
        return (int)status_of_error(&error);
    return lost ? STATUS_HARNESS : STATUS_PASS;
}
