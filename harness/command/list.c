/* `faultline list`: what `run` would run. */
#include "base/memory.h"
#include "base/regular_file.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "script/lua_text.h"
#include "suite/select.h"
#include "system/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOLS_NAMED 4

static void print_words(const char *label, char *const *words, size_t count)
{
    if (count == 0)
        return;
    printf("  %s:", label);
    for (size_t i = 0; i < count; i++)
        printf(" %s", words[i]);
    printf("\n");
}

/* How a line of a plan is printed: as plan_step_print, of `*what`. */
typedef size_t print_line(const void *what, char *buffer, size_t bytes);

static size_t step_line(const void *step, char *buffer, size_t bytes)
{
    return plan_step_print(step, buffer, bytes);
}

static size_t wire_line(const void *wire, char *buffer, size_t bytes)
{
    return message_pattern_print(wire, buffer, bytes);
}

/* The whole line, however long it is. */
static void print_whole(const char *before, print_line *print, const void *what)
{
    size_t bytes = print(what, NULL, 0) + 1;
    char *text = memory_new(1, bytes);
    print(what, text, bytes);
    printf("  %s%s\n", before, text);
    free(text);
}

static void print_plan(const struct plan *plan)
{
    printf("  plan: %zu steps, size %zu\n", plan->count, plan_size(plan));
    for (size_t i = 0; i < plan->count; i++) {
        char number[32];
        snprintf(number, sizeof number, "step %zu: ", i + 1);
        print_whole(number, step_line, &plan->steps[i]);
    }
    for (size_t i = 0; i < plan->wires; i++)
        print_whole("", wire_line, &plan->wire[i]);
}

static void print_scenario(const struct scenario *scenario, bool verbose)
{
    printf("%s\n", scenario->name);
    printf("  %s under %s, %d rank%s\n", scenario->program, scenario->protocol, scenario->ranks,
           scenario->ranks == 1 ? "" : "s");
    print_words("claims", scenario->claim, scenario->claim_count);
    if (scenario->violates != NULL)
        printf("  must violate: %s\n", scenario->violates);
    if (!verbose)
        return;
    printf("  at: %s:%d\n", scenario->file, scenario->line);
    print_words("arguments", scenario->argument, scenario->argument_count);
    print_plan(&scenario->plan);
}

/* The first sentence of the comment that a file begins with, on one line; nothing where there is
 * none. */
static void print_sentence(const char *path)
{
    struct error error = {0};
    FILE *file = regular_stream(path, LINKS_FOLLOWED, REGULAR_TEXT_MOST, &error);
    char line[512];
    bool goes_on = file != NULL;
    const char *before = "  ";
    while (goes_on && fgets(line, sizeof line, file) != NULL && strncmp(line, "-- ", 3) == 0) {
        line[strcspn(line, "\n")] = '\0';
        char *end = strstr(line, ". ");
        if (end != NULL)
            end[1] = '\0';
        size_t length = strlen(line);
        goes_on = line[length - 1] != '.';
        printf("%s%s", before, line + 3);
        before = " ";
    }
    if (*before != '\0' && before[1] == '\0')
        printf("\n");
    if (file != NULL)
        fclose(file);
}

/* The protocols of the scenarios, each once, in the order in which they come first; after some only
 * how many there are. */
static void print_protocols(struct scenario *const *of, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (strcmp(of[same]->protocol, of[i]->protocol) != 0)
            same++;
        if (same == i && different++ < PROTOCOLS_NAMED)
            printf("%s %s", i == 0 ? " under" : ",", of[i]->protocol);
    }
    if (different > PROTOCOLS_NAMED)
        printf(" and %zu more", different - PROTOCOLS_NAMED);
}

/* The scenarios of one file, which follow each other; returns how many they are. */
static size_t print_file(struct scenario *const *first, size_t most)
{
    size_t count = 1;
    while (count < most && strcmp(first[count]->file, first[0]->file) == 0)
        count++;
    printf("%s: %zu scenario%s", first[0]->file, count, count == 1 ? "" : "s");
    print_protocols(first, count);
    printf("\n");
    print_sentence(first[0]->file);
    return count;
}

static void print_all(const struct selection *selection, const struct options *options)
{
    size_t count = selection->count;
    bool one_file =
        count == 0 || strcmp(selection->chosen[0]->file, selection->chosen[count - 1]->file) == 0;
    for (size_t i = 0; i < count;)
        if (one_file || options->verbose || options->shuffle)
            print_scenario(selection->chosen[i++], options->verbose);
        else
            i += print_file(selection->chosen + i, count - i);
}

int verb_list(int argc, char **argv)
{
    static const struct options_help help = {
        "SCENARIO.lua|DIR...", "Lists what `faultline run` would run: the scenarios of one file, "
                               "or several files with the "
                               "number of their scenarios. With -v all scenarios and their plans."};
    struct options options;
    struct selection selection;
    struct error error = {0};
    options_parse(&options, FOR_LIST, &help, argc, argv);
    int status = STATUS_PASS;
    if (select_scenarios(&options, &selection, &error) != OK)
        status = (int)status_of_error(&error);
    if (status == STATUS_PASS)
        print_all(&selection, &options);
    selection_release(&selection);
    return status;
}
