/* Teams of ranks that go back together, after Meneses, Mendes and Kalé, "Team-based message
 * logging" (2010), and [CM] section 2.1: what a rank sends inside its team is in no log. Ranks that
 * follow each other are a team, as many as the setting says, the last one with what is left. A
 * protocol that has no teams has each rank alone. And how far a rank was seen to be by others, as
 * that depends on teams: who has seen one has seen the others of whom it had heard. Must not know:
 * what is sent, what becomes of a team that has failed. */
#ifndef COMMON_LOGGING_TEAMS_H
#define COMMON_LOGGING_TEAMS_H

#include "common/logging/logger.h"

/* How many ranks are a team; 1: each is alone. */
int teams_setting(void);
/* Once `self` has its rank. */
void teams_open(void);
void teams_close(void);
/* Notes in the trace to which team this process belongs; it is a rank by now. */
void teams_note(void);

/* The first of the rank's team, and how many it has. */
int team_first(int rank);
int team_count(int rank);
bool team_has(int first, int rank);
/* Of this rank's. */
bool team_is_mine(int rank);
/* All ranks are one team: no rank outlives another, so nothing that happened is to be known. */
bool team_is_everybody(void);

/* How far a rank was seen to be: at step `step` since line `line`, and at step `before` since the
 * line before. All zero: not at all. */
struct seen {
    uint64_t line, step, before;
};

void seen_add(struct seen *seen, uint64_t line, uint64_t step);
void seen_add_all(struct seen *seen, const struct seen *more);
/* Since that line; 0: not at all. */
uint64_t seen_since(const struct seen *seen, uint64_t line);

/* How far this rank, and those whom it has seen, have seen the rank. */
struct seen *teams_seen(int rank);

#endif
