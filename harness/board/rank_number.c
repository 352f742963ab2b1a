/* See rank_number.h. */
#include "board/rank_number.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

int number_from_environment(const char *name)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL || *text == '\0')
        return -1;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* In RANK_VARIABLES's order. The count is of the same launcher: around it may be another one's. */
static const struct {
    const char *rank, *count;
} variables_of[] = {
    {"PMI_RANK", "PMI_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMIX_RANK", "SLURM_NTASKS"}, /* under Slurm's PMIx; PMIx itself leaves no count */
    {"SLURM_PROCID", "SLURM_NTASKS"},
};
#define LAUNCHERS (sizeof variables_of / sizeof variables_of[0])

static size_t find_launcher(void)
{
    size_t i = 0;
    while (i < LAUNCHERS && number_from_environment(variables_of[i].rank) < 0)
        i++;
    return i;
}

int rank_from_environment(void)
{
    size_t launcher = find_launcher();
    return launcher < LAUNCHERS ? number_from_environment(variables_of[launcher].rank) : -1;
}

int rank_count_from_environment(void)
{
    size_t launcher = find_launcher();
    return launcher < LAUNCHERS ? number_from_environment(variables_of[launcher].count) : -1;
}
