/* See plan.h: the list of steps, and files. The text form is in plan_print.c and plan_parse.c. */
#include "plan/plan_text.h"

#include "base/regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the list --------------------------------------------------------------------------------- */
void plan_init(struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
}

void plan_release(struct plan *plan)
{
    free(plan->steps);
    plan_init(plan);
}

static struct plan_condition condition_default(void)
{
    struct plan_condition condition;
    memset(&condition, 0, sizeof condition);
    condition.rank = condition.incarnation = condition.peer = condition.tag = PLAN_ANY;
    condition.epoch = -1;
    condition.nth = 1;
    return condition;
}

struct plan_step plan_step_default(enum plan_action action)
{
    struct plan_step step;
    memset(&step, 0, sizeof step);
    step.action = action;
    step.after = PLAN_AFTER_PREVIOUS;
    step.when = step.release = condition_default();
    step.target = -1;
    step.choice_tag = PLAN_ANY;
    step.count = 1;
    return step;
}

struct message_pattern message_pattern_default(void)
{
    struct message_pattern wire;
    memset(&wire, 0, sizeof wire);
    wire.tag = PLAN_ANY;
    wire.key_at = wire.epoch_at = -1;
    wire.key_bytes = 4;
    wire.epoch_bytes = 8;
    return wire;
}

enum error_code plan_add(struct plan *plan, const struct plan_step *step, struct error *error)
{
    if (plan->count >= PLAN_MAX_STEPS)
        return error_set(error, ERROR_LIMIT, "a plan has at most %d steps", PLAN_MAX_STEPS);
    struct plan_step *steps = realloc(plan->steps, (plan->count + 1) * sizeof *steps);
    if (steps == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for step %zu of a plan", plan->count + 1);
    plan->steps = steps;
    steps[plan->count++] = *step;
    return OK;
}

enum error_code plan_add_wire(struct plan *plan, const struct message_pattern *wire,
                              struct error *error)
{
    if (plan->wires >= PLAN_MAX_WIRES)
        return error_set(error, ERROR_LIMIT, "a plan knows at most %d messages of a protocol",
                         PLAN_MAX_WIRES);
    for (size_t i = 0; i < plan->wires; i++)
        if (strcmp(plan->wire[i].name, wire->name) == 0)
            return error_set(error, ERROR_FORMAT, "wire %s is given twice", wire->name);
    plan->wire[plan->wires++] = *wire;
    return OK;
}

int32_t plan_after(const struct plan *plan, size_t step)
{
    int32_t after = plan->steps[step].after;
    return after == PLAN_AFTER_PREVIOUS ? (int32_t)step - 1 : after;
}

bool plan_condition_is_empty(const struct plan_condition *condition)
{
    return condition->event == EVENT_NONE && condition->states == 0;
}

/* --- files ------------------------------------------------------------------------------------ */
static enum error_code read_line(const char *text, struct plan *plan, struct error *error)
{
    struct plan_step step;
    struct message_pattern wire;
    enum error_code code;
    if (strcspn(text, " \t\r\n") == 4 && strncmp(text, "wire", 4) == 0) {
        code = message_pattern_parse(text, &wire, error);
        return code == OK ? plan_add_wire(plan, &wire, error) : code;
    }
    code = plan_step_parse(text, &step, error);
    return code == OK ? plan_add(plan, &step, error) : code;
}

static enum error_code read_lines(FILE *file, const char *path, struct plan *plan,
                                  struct error *error)
{
    char *line = NULL;
    size_t bytes = 0;
    enum error_code code = OK;
    for (unsigned number = 1; code == OK && getline(&line, &bytes, file) >= 0; number++) {
        struct error reason = {OK, ""};
        const char *text = line + strspn(line, " \t\r\n");
        if (*text == '\0' || *text == '#')
            continue;
        code = read_line(text, plan, &reason);
        if (code != OK)
            error_set(error, code, "%s:%u: %.400s", path, number, reason.text);
    }
    if (code == OK && ferror(file))
        code = error_set(error, ERROR_IO, "cannot read plan %s: %s", path, strerror(errno));
    free(line);
    return code;
}

enum error_code plan_read(const char *path, struct plan *plan, struct error *error)
{
    struct error reason = {OK, ""};
    plan_init(plan);
    FILE *file = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, &reason);
    if (file == NULL)
        return error_set(error, reason.code, "cannot read plan %.400s", reason.text);
    enum error_code code = read_lines(file, path, plan, error);
    fclose(file);
    if (code == OK && (code = plan_check(plan, &reason)) != OK)
        error_set(error, code, "%s: %.400s", path, reason.text);
    if (code != OK)
        plan_release(plan);
    return code;
}

static bool print_step(FILE *file, const struct plan_step *step)
{
    size_t length = plan_step_print(step, NULL, 0);
    char *line = malloc(length + 1);
    if (line == NULL)
        return false;
    plan_step_print(step, line, length + 1);
    bool good = fprintf(file, "%s\n", line) >= 0;
    free(line);
    return good;
}

static bool print_wire(FILE *file, const struct message_pattern *wire)
{
    char line[PLAN_WIRE_BYTES];
    return message_pattern_print(wire, line, sizeof line) < sizeof line &&
           fprintf(file, "%s\n", line) >= 0;
}

static bool print_steps(const char *path, const struct plan *plan)
{
    FILE *file = regular_create(path, NULL);
    if (file == NULL)
        return false;
    bool good =
        fputs("# One step a line, numbered from 1; each waits for the one before it, unless "
              "`after` says otherwise.\n",
              file) >= 0;
    for (size_t i = 0; good && i < plan->count; i++)
        good = print_step(file, &plan->steps[i]);
    for (size_t i = 0; good && i < plan->wires; i++)
        good = print_wire(file, &plan->wire[i]);
    return fclose(file) == 0 && good;
}

enum error_code plan_write(const char *path, const struct plan *plan, struct error *error)
{
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid()) >=
        (int)sizeof temporary)
        return error_set(error, ERROR_LIMIT, "path of plan is too long: %s", path);
    if (print_steps(temporary, plan) && rename(temporary, path) == 0)
        return OK;
    error_set(error, ERROR_IO, "cannot write plan %s: %s", path, strerror(errno));
    unlink(temporary);
    return ERROR_IO;
}
