/* The two ways, each with all functions of newcomers.h. */
#ifndef COMMON_NEWCOMERS_WAY_H
#define COMMON_NEWCOMERS_WAY_H

#include "common/newcomers/newcomers.h"

struct way {
    bool (*open)(int reserve, int *info, size_t numbers, struct place *place);
    bool (*all_are_well)(void);
    void (*close)(void);
    MPI_Comm (*letters)(void);
    int (*process)(int rank);
    bool (*is_dead)(int process);
    void (*look)(void);
    bool calls_end;
    void (*everybody)(MPI_Group *group);
    bool (*one_has_died)(void);
    int (*come_together)(void);
    bool (*call)(const int *info);
    void (*send_to)(int to, const struct bytes *known);
    bool (*meet)(void);
    void (*settled)(void);
    void (*receive_from)(int from, struct bytes *known);
    void (*heard_all)(void);
};

extern const struct way newcomers_spawned, newcomers_in_reserve;

#endif
