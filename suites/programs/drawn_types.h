/* Of the program `drawn`: how the elements of a message lie in memory, and what is in them. */
#ifndef DRAWN_TYPES_H
#define DRAWN_TYPES_H

#include "drawn_plan.h"

#include <mpi.h>

/* An element is a number. PLAIN ones lie close together, SPREAD ones leave every second place out,
 * NEGATIVE ones begin a place below their address, HOLE_FIRST ones have two empty places in front;
 * PARTS have the high half in front of the low one, with a gap between. */
struct layout_of_shape {
    int stride;  /* numbers */
    int at;      /* number of an element in which its content is */
    int address; /* of the buffer, in numbers */
};

static const struct layout_of_shape shapes[SHAPES] = {
    [PLAIN] = {1, 0, 0},      [SPREAD] = {2, 0, 0}, [NEGATIVE] = {2, 0, 1},
    [HOLE_FIRST] = {3, 2, 0}, [PARTS] = {2, 0, 0},
};

#define STRIDE_MOST 3
static MPI_Datatype shape_type[SHAPES], empty_type;

/* A number at an address, by one of the constructors. */
static void place_number(enum shape shape, MPI_Aint at, MPI_Datatype *placed)
{
    int one = 1, place = (int)(at / (MPI_Aint)sizeof(uint64_t)), size = place + 1;
    MPI_Datatype number = MPI_UINT64_T;
    switch (feature[TYPES] ? draw(0, 93000 + (int)shape, at < 0 ? 5 : 6) : 0) {
    case 0:
        MPI_Type_create_hindexed_block(1, 1, &at, number, placed);
        break;
    case 1:
        MPI_Type_create_hindexed(1, &one, &at, number, placed);
        break;
    case 2:
        MPI_Type_create_struct(1, &one, &at, &number, placed);
        break;
    case 3:
        MPI_Type_create_indexed_block(1, 1, &place, number, placed);
        break;
    case 4:
        MPI_Type_indexed(1, &one, &place, number, placed);
        break;
    default:
        MPI_Type_create_subarray(1, &size, &one, &place, MPI_ORDER_C, number, placed);
        break;
    }
}

static void make_shape(enum shape shape, MPI_Aint at, MPI_Aint lower)
{
    MPI_Datatype placed;
    MPI_Aint extent = shapes[shape].stride * (MPI_Aint)sizeof(uint64_t);
    place_number(shape, at, &placed);
    MPI_Type_create_resized(placed, lower, extent, &shape_type[shape]);
    MPI_Type_free(&placed);
}

static void make_plain(void)
{
    MPI_Datatype *made = &shape_type[PLAIN], number = MPI_UINT64_T;
    switch (feature[TYPES] ? draw(0, 93000 + PLAIN, 4) : 0) {
    case 0:
        MPI_Type_contiguous(1, number, made);
        break;
    case 1:
        MPI_Type_vector(1, 1, 1, number, made);
        break;
    case 2:
        MPI_Type_create_hvector(1, 1, sizeof(uint64_t), number, made);
        break;
    default:
        MPI_Type_dup(number, made);
        break;
    }
}

static void make_parts(void)
{
    MPI_Datatype placed, half[] = {MPI_UINT32_T, MPI_UINT32_T};
    MPI_Aint at[] = {0, sizeof(uint64_t)};
    int lengths[] = {1, 1}, places[] = {0, 2};
    switch (feature[TYPES] ? draw(0, 93000 + PARTS, 4) : 0) {
    case 0:
        MPI_Type_indexed(2, lengths, places, MPI_UINT32_T, &placed);
        break;
    case 1:
        MPI_Type_create_struct(2, lengths, at, half, &placed);
        break;
    case 2:
        MPI_Type_vector(2, 1, 2, MPI_UINT32_T, &placed);
        break;
    default:
        MPI_Type_create_hindexed(2, lengths, at, MPI_UINT32_T, &placed);
        break;
    }
    MPI_Type_create_resized(placed, 0, 2 * at[1], &shape_type[PARTS]);
    MPI_Type_free(&placed);
}

static void make_shapes(void)
{
    MPI_Aint number = sizeof(uint64_t);
    make_plain();
    make_shape(SPREAD, 0, 0);
    make_shape(NEGATIVE, -number, -number);
    make_shape(HOLE_FIRST, 2 * number, 0);
    make_parts();
    MPI_Type_contiguous(0, MPI_UINT64_T, &empty_type);
    for (int i = 0; i < SHAPES; i++)
        MPI_Type_commit(&shape_type[i]);
    MPI_Type_commit(&empty_type);
}

static void free_shapes(void)
{
    for (int i = 0; i < SHAPES; i++)
        MPI_Type_free(&shape_type[i]);
    MPI_Type_free(&empty_type);
}

static void put(uint64_t *buffer, enum shape shape, int index, uint64_t value)
{
    uint64_t *at = buffer + index * shapes[shape].stride + shapes[shape].at;
    uint32_t high = (uint32_t)(value >> 32), low = (uint32_t)value;
    if (shape != PARTS) {
        *at = value;
        return;
    }
    memcpy(at, &high, sizeof high);
    memcpy(at + 1, &low, sizeof low);
}

static uint64_t get(const uint64_t *buffer, enum shape shape, int index)
{
    const uint64_t *at = buffer + index * shapes[shape].stride + shapes[shape].at;
    uint32_t high, low;
    if (shape != PARTS)
        return *at;
    memcpy(&high, at, sizeof high);
    memcpy(&low, at + 1, sizeof low);
    return (uint64_t)high << 32 | low;
}

/* Number 0 of a message is its sender's sum, the others follow from it and from which it is. */
static uint64_t content(const struct group *group, int message, uint64_t sum, int index)
{
    uint64_t which = program_mix(group->step, (uint64_t)(group->number * MESSAGES + message));
    return index == 0 ? sum : program_mix(sum ^ which, (uint64_t)index);
}

#endif
