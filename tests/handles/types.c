/* Datatypes of every constructor are written, and built again when the first is freed: what they
 * pack and where they lie is the same. And bytes that are none are refused. */
#include "../mpi/expect.h"

#include "common/communicators/types.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BYTES 4096
#define MIDDLE 2048 /* of the place: types reach to both sides */

static char place[PLACE_BYTES], packed[PLACE_BYTES], again[PLACE_BYTES];

static MPI_Datatype nested(void)
{
    MPI_Datatype part, whole, outer;
    int lengths[] = {2, 1, 3};
    MPI_Aint places[] = {-40, 8, 64};
    MPI_Type_vector(2, 1, 3, MPI_SHORT, &part);
    MPI_Datatype parts[] = {part, MPI_DOUBLE_INT, MPI_CHAR};
    MPI_Type_create_struct(3, lengths, places, parts, &whole);
    MPI_Type_create_resized(whole, -48, 128, &outer);
    MPI_Type_free(&part);
    MPI_Type_free(&whole);
    return outer;
}

static MPI_Datatype made(int which)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int two[] = {2, 3}, places[] = {1, 6};
    MPI_Aint wide[] = {-24, 40};
    switch (which) {
    case 0:
        MPI_Type_dup(MPI_LONG, &type);
        break;
    case 1:
        MPI_Type_contiguous(3, MPI_2INT, &type);
        break;
    case 2:
        MPI_Type_vector(3, 2, 5, MPI_SHORT, &type);
        break;
    case 3:
        MPI_Type_create_hvector(3, 2, -40, MPI_INT, &type);
        break;
    case 4:
        MPI_Type_indexed(2, two, places, MPI_FLOAT, &type);
        break;
    case 5:
        MPI_Type_create_hindexed(2, two, wide, MPI_FLOAT, &type);
        break;
    case 6:
        MPI_Type_create_indexed_block(2, 3, places, MPI_CHAR, &type);
        break;
    case 7:
        MPI_Type_create_hindexed_block(2, 3, wide, MPI_INT, &type);
        break;
    case 8:
        MPI_Type_create_subarray(2, (int[]){6, 5}, two, (int[]){1, 2}, MPI_ORDER_FORTRAN, MPI_INT,
                                 &type);
        break;
    case 9:
        MPI_Type_create_darray(
            4, 1, 2, (int[]){7, 6}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
            (int[]){2, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 2}, MPI_ORDER_C, MPI_SHORT, &type);
        break;
    case 10:
        type = nested();
        break;
    case 11:
        type = MPI_INT;
        break;
    case 12:
        MPI_Type_create_f90_integer(8, &type);
        break;
    }
    return type;
}
#define MADE 13

static int pack(MPI_Datatype type, char *into)
{
    int at = 0;
    memset(into, 0, PLACE_BYTES);
    MPI_Pack(place + MIDDLE, 2, type, into, PLACE_BYTES, &at, MPI_COMM_WORLD);
    return at;
}

static void check_same(int which)
{
    struct bytes bytes = {0};
    struct error error;
    MPI_Datatype type = made(which), built;
    MPI_Aint lower[2], extent[2];
    MPI_Type_commit(&type);
    int length = pack(type, packed);
    MPI_Type_get_extent(type, &lower[0], &extent[0]);
    expect(type_write(type, &bytes, &error) == OK);
    type_release(&type);
    expect(type == MPI_DATATYPE_NULL);
    struct reader in = {.next = bytes.data, .left = bytes.size};
    expect(type_read(&in, &built, &error) == OK);
    expect(in.left == 0 && !in.failed);
    expect(pack(built, again) == length && memcmp(packed, again, PLACE_BYTES) == 0);
    MPI_Type_get_extent(built, &lower[1], &extent[1]);
    expect(lower[0] == lower[1] && extent[0] == extent[1]);
    type_release(&built);
    /* None of its beginnings is a whole one. */
    for (size_t size = 0; size < bytes.size; size += sizeof(int)) {
        in = (struct reader){.next = bytes.data, .left = size};
        expect(type_read(&in, &built, &error) == ERROR_FORMAT);
    }
    bytes_release(&bytes);
}

static void check_too_deep(void)
{
    struct bytes bytes = {0};
    struct error error;
    MPI_Datatype type = MPI_INT;
    for (int i = 0; i < 40; i++) {
        MPI_Datatype inner = type;
        MPI_Type_contiguous(1, inner, &type);
        type_release(&inner);
    }
    expect(type_write(type, &bytes, &error) == ERROR_LIMIT);
    type_release(&type);
    bytes_release(&bytes);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < PLACE_BYTES; i++)
        place[i] = (char)(i * 7 + i / 256);
    for (int which = 0; which < MADE; which++)
        check_same(which);
    check_too_deep();
    MPI_Finalize();
    return expect_end("types", 0);
}
