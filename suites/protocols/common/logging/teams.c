/* See teams.h. */
#include "common/logging/teams.h"

#include "common/newcomers/newcomers.h"
#include "faultline.h"

#include <stdlib.h>

#define TEAM_DEFAULT 2

static struct seen *seen_ranks; /* by rank */

int teams_setting(void)
{
    if (!this_logger.team_size)
        return 1;
    return (int)number_setting(this_logger.team_size, 1, NEWCOMERS_RANKS_MOST, TEAM_DEFAULT);
}

void teams_open(void)
{
    seen_ranks = memory((size_t)self.ranks, sizeof *seen_ranks);
}

void teams_close(void)
{
    free(seen_ranks);
}

void teams_note(void)
{
    if (team_count(self.rank) > 1)
        faultline_team((uint64_t)team_first(self.rank));
}

int team_first(int rank)
{
    return newcomers_first(rank);
}

int team_count(int rank)
{
    return newcomers_count(rank);
}

bool team_has(int first, int rank)
{
    return rank >= first && rank < first + team_count(first);
}

bool team_is_mine(int rank)
{
    return team_has(team_first(self.rank), rank);
}

bool team_is_everybody(void)
{
    return self.ranks > 1 && team_count(self.rank) == self.ranks;
}

/* --- how far others were seen to be ----------------------------------------------------------- */

void seen_add(struct seen *seen, uint64_t line, uint64_t step)
{
    if (line > seen->line)
        *seen = (struct seen){line, step, line == seen->line + 1 ? seen->step : 0};
    else if (line == seen->line && step > seen->step)
        seen->step = step;
    else if (line + 1 == seen->line && step > seen->before)
        seen->before = step;
}

void seen_add_all(struct seen *seen, const struct seen *more)
{
    if (more->line > 0)
        seen_add(seen, more->line - 1, more->before);
    seen_add(seen, more->line, more->step);
}

uint64_t seen_since(const struct seen *seen, uint64_t line)
{
    if (line == seen->line)
        return seen->step;
    return line + 1 == seen->line ? seen->before : 0;
}

struct seen *teams_seen(int rank)
{
    return &seen_ranks[rank];
}
