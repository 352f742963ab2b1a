/* See number_set.h. */
#include "base/number_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 64

static enum error_code grow(struct number_set *set, uint64_t number, struct error *error)
{
    uint64_t room = 2 * number + ROOM_LEAST;
    uint8_t *grown = realloc(set->has, room);
    if (grown == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    memset(grown + set->room, 0, room - set->room);
    set->has = grown;
    set->room = room;
    return OK;
}

enum error_code number_set_add(struct number_set *set, uint64_t number, struct error *error)
{
    enum error_code code = OK;
    if (number >= NUMBER_SET_MOST)
        return error_set(error, ERROR_LIMIT, "%" PRIu64 "; accepted: 0 to %" PRIu64, number,
                         NUMBER_SET_MOST - 1);
    if (number >= set->room)
        code = grow(set, number, error);
    if (code == OK)
        set->has[number] = 1;
    return code;
}

bool number_set_has(const struct number_set *set, uint64_t number)
{
    return number < set->room && set->has[number] != 0;
}

void number_set_release(struct number_set *set)
{
    free(set->has);
    *set = (struct number_set){0};
}
