/* `faultline claims`, and the names of claims; see claims.h. */
#include "verdict/claims.h"

#include "base/nearest.h"
#include "cli/arguments.h"
#include "cli/verb.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t family_length(const struct claim *claim)
{
    return strcspn(claim->id, ".");
}

bool claim_is_named(const struct claim *claim, const char *id)
{
    size_t length = family_length(claim);
    bool is_family = strlen(id) == length && strncmp(id, claim->id, length) == 0;
    return is_family || strcmp(id, claim->id) == 0;
}

enum error_code claim_check_name(const char *id, struct error *error)
{
    for (size_t i = 0; i < claim_count; i++)
        if (claim_is_named(&claims[i], id))
            return OK;
    const char **names = calloc(claim_count, sizeof *names);
    if (names == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < claim_count; i++)
        names[i] = claims[i].id;
    const char *near = nearest_name(id, names, claim_count);
    enum error_code code = error_set(
        error, ERROR_USAGE, "there is no claim \"%s\"%s%s%s; `faultline claims` lists them", id,
        near != NULL ? " (did you mean \"" : "", near != NULL ? near : "", near ? "\"?)" : "");
    free(names);
    return code;
}

static void print_claim(const struct claim *claim)
{
    printf("%s\n  %s\n  source: %s\n  needs:  %s\n", claim->id, claim->text, claim->source,
           claim->needs);
}

static void print_table(void)
{
    for (size_t i = 0; i < claim_count; i++)
        printf("%-22s %s  [%s]\n", claims[i].id, claims[i].text, claims[i].source);
    printf(
        "\n`faultline claims ID` says what a run must contain for a claim to be judged; a family\n"
        "(\"H\") stands for all its claims. I.* and H.progress are judged in every run.\n");
}

static error_t parse_claims(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key != ARGP_KEY_ARGS)
        return ARGP_ERR_UNKNOWN;
    *(int *)state->input = state->next;
    return 0;
}

int verb_claims(int argc, char **argv)
{
    static const struct argp argp = {
        NULL, parse_claims, "[ID...]", "Lists the claims that Faultline can judge.",
        NULL, NULL,         NULL};
    int next = argc;
    arguments_parse(&argp, argc, argv, 0, &next);
    if (next == argc)
        print_table();
    for (int i = next; i < argc; i++) {
        struct error error = {0};
        if (claim_check_name(argv[i], &error) != OK)
            return (int)status_of_error(&error);
        for (size_t k = 0; k < claim_count; k++)
            if (claim_is_named(&claims[k], argv[i]))
                print_claim(&claims[k]);
    }
    return STATUS_PASS;
}
