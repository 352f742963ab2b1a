/* The verb `faultline claims`: what can be judged. */
#include "oracles/oracle.h"

#include "cli/arguments.h"
#include "cli/verb.h"
#include "system/status.h"

#include <argp.h>
#include <stdio.h>

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
