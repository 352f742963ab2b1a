/* See newcomers.h. */
#include "common/newcomers/newcomers.h"

#include "common/job/job.h"
#include "common/newcomers/way.h"
#include "faultline.h"

#include <stdlib.h>

static const struct way *way;
static int team_size, all_ranks;

bool newcomers_open(int reserve, int team, int *info, size_t numbers, struct place *place)
{
    way = reserve > 0 ? &newcomers_in_reserve : &newcomers_spawned;
    team_size = team;
    all_ranks = job.processes; /* for those who were started with the job */
    bool comes = way->open(reserve, info, numbers, place);
    all_ranks = place->ranks;
    return comes;
}

int newcomers_first(int rank)
{
    return rank - rank % team_size;
}

int newcomers_count(int rank)
{
    int left = all_ranks - newcomers_first(rank);
    return left < team_size ? left : team_size;
}

_Noreturn void newcomers_leave(void)
{
    faultline_becomes(FAULTLINE_NO_RANK);
    exit(EXIT_SUCCESS);
}

bool newcomers_all_are_well(void)
{
    return way->all_are_well();
}

void newcomers_close(void)
{
    way->close();
}

MPI_Comm newcomers_letters(void)
{
    return way->letters();
}

int newcomers_process(int rank)
{
    return way->process(rank);
}

bool newcomers_is_dead(int process)
{
    return way->is_dead(process);
}

void newcomers_look(void)
{
    way->look();
}

bool newcomers_calls_end(void)
{
    return way->calls_end;
}

void newcomers_everybody(MPI_Group *group)
{
    way->everybody(group);
}

bool newcomers_one_has_died(void)
{
    return way->one_has_died();
}

int newcomers_come_together(void)
{
    return way->come_together();
}

bool newcomers_call(const int *info)
{
    return way->call(info);
}

void newcomers_send(int to, const struct bytes *known)
{
    way->send_to(to, known);
}

bool newcomers_meet(void)
{
    return way->meet();
}

void newcomers_settled(void)
{
    way->settled();
}

void newcomers_receive(int from, struct bytes *known)
{
    way->receive_from(from, known);
}

void newcomers_heard_all(void)
{
    way->heard_all();
}

_Noreturn void newcomers_one_at_a_time(const char *when)
{
    die("another rank has died %s: only one failure at a time is supported", when);
}
