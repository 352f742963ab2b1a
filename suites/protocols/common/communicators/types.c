/* See types.h. A type is stored as its constructor (combiner) and what that was given: integers,
 * addresses, types; a predefined one as its place in a list. */
#include "common/communicators/types.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32          /* types within types */
#define ARGUMENTS_MAX 1000000 /* of each kind, to one constructor */

/* Those of MPI 4.0, annex A.1, and what MPICH still has of MPI 1. Their handles need not be the
 * same after a restart. */
/* clang-format off */
static const MPI_Datatype predefined[] = {
    MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_WCHAR, MPI_SHORT,
    MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_FLOAT, MPI_DOUBLE,
    MPI_LONG_DOUBLE, MPI_LONG_LONG_INT, MPI_UNSIGNED_LONG_LONG, MPI_PACKED, MPI_FLOAT_INT,
    MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_2INT, MPI_LONG_DOUBLE_INT, MPI_COMPLEX,
    MPI_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_2INTEGER,
    MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_CHARACTER, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_COMPLEX8,
    MPI_COMPLEX16, MPI_COMPLEX32, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
    MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
    MPI_UINT64_T, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
    MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_CXX_BOOL, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
    MPI_CXX_LONG_DOUBLE_COMPLEX,
#ifdef MPI_INTEGER16
    MPI_INTEGER16,
#endif
#ifdef MPICH_NUMVERSION
    MPI_LB,
    MPI_UB,
#endif
};
/* clang-format on */
#define PREDEFINED (sizeof predefined / sizeof predefined[0])

/* What MPI_Type_get_contents gives, and a constructor is given. Rows are owned; types are too,
 * unless they are predefined. */
struct contents {
    int combiner;
    int integers;
    int addresses;
    int types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
};

static enum error_code make_rows(struct contents *contents, struct error *error)
{
    contents->integer = calloc((size_t)contents->integers + 1, sizeof *contents->integer);
    contents->address = calloc((size_t)contents->addresses + 1, sizeof *contents->address);
    contents->type = calloc((size_t)contents->types + 1, sizeof *contents->type);
    for (int i = 0; contents->type && i < contents->types; i++)
        contents->type[i] = MPI_DATATYPE_NULL;
    if (!contents->integer || !contents->address || !contents->type)
        return error_set(error, ERROR_MEMORY, "no room for what a datatype is made of");
    return OK;
}

/* Nobody may free these. */
static bool is_predefined(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

void type_release(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && !is_predefined(*type))
        PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
}

static void release(struct contents *contents)
{
    for (int i = 0; contents->type && i < contents->types; i++)
        type_release(&contents->type[i]);
    free(contents->integer);
    free(contents->address);
    free(contents->type);
}

/* --- writing ---------------------------------------------------------------------------------- */

static enum error_code write_nested(MPI_Datatype type, int depth, struct bytes *out,
                                    struct error *error);

static enum error_code write_contents(const struct contents *contents, int depth, struct bytes *out,
                                      struct error *error)
{
    bytes_put_number(out, (uint64_t)contents->combiner);
    bytes_put_number(out, (uint64_t)contents->integers);
    bytes_put_number(out, (uint64_t)contents->addresses);
    bytes_put_number(out, (uint64_t)contents->types);
    bytes_put(out, contents->integer, (size_t)contents->integers * sizeof *contents->integer);
    bytes_put(out, contents->address, (size_t)contents->addresses * sizeof *contents->address);
    enum error_code code = OK;
    for (int i = 0; i < contents->types && code == OK; i++)
        code = write_nested(contents->type[i], depth + 1, out, error);
    return code;
}

static enum error_code write_named(MPI_Datatype type, struct bytes *out, struct error *error)
{
    size_t place = 0;
    while (place < PREDEFINED && predefined[place] != type)
        place++;
    if (place == PREDEFINED)
        return error_set(error, ERROR_USAGE,
                         "a predefined datatype that is not MPI's; supported: those of MPI 4.0");
    bytes_put_number(out, MPI_COMBINER_NAMED);
    bytes_put_number(out, place);
    return OK;
}

/* Left out is what only Fortran 77 makes, with addresses in its integers. */
static bool is_known(int combiner);

static enum error_code write_nested(MPI_Datatype type, int depth, struct bytes *out,
                                    struct error *error)
{
    struct contents of = {0};
    if (depth > DEPTH_MAX)
        return error_set(error, ERROR_LIMIT, "a datatype within more than %d others", DEPTH_MAX);
    PMPI_Type_get_envelope(type, &of.integers, &of.addresses, &of.types, &of.combiner);
    if (of.combiner == MPI_COMBINER_NAMED)
        return write_named(type, out, error);
    if (!is_known(of.combiner))
        return error_set(error, ERROR_USAGE,
                         "a datatype made by MPI_Type_hvector, MPI_Type_hindexed or "
                         "MPI_Type_struct of Fortran; supported: those of MPI-2 and later");
    enum error_code code = make_rows(&of, error);
    if (code == OK) {
        PMPI_Type_get_contents(type, of.integers, of.addresses, of.types, of.integer, of.address,
                               of.type);
        code = write_contents(&of, depth, out, error);
    }
    release(&of);
    return code;
}

enum error_code type_write(MPI_Datatype type, struct bytes *out, struct error *error)
{
    enum error_code code = write_nested(type, 0, out, error);
    if (code == OK && out->failed)
        return error_set(error, ERROR_MEMORY, "no room for a datatype");
    return code;
}

/* --- building --------------------------------------------------------------------------------- */

static int build_darray(const struct contents *c, MPI_Datatype *type)
{
    const int *at = c->integer;
    int dimensions = at[2];
    return PMPI_Type_create_darray(at[0], at[1], dimensions, at + 3, at + 3 + dimensions,
                                   at + 3 + 2 * dimensions, at + 3 + 3 * dimensions,
                                   at[3 + 4 * dimensions], c->type[0], type);
}

static int build_subarray(const struct contents *c, MPI_Datatype *type)
{
    const int *at = c->integer;
    int dimensions = at[0];
    return PMPI_Type_create_subarray(dimensions, at + 1, at + 1 + dimensions,
                                     at + 1 + 2 * dimensions, at[1 + 3 * dimensions], c->type[0],
                                     type);
}

static int build_f90(const struct contents *c, MPI_Datatype *type)
{
    const int *at = c->integer;
    if (c->combiner == MPI_COMBINER_F90_REAL)
        return PMPI_Type_create_f90_real(at[0], at[1], type);
    if (c->combiner == MPI_COMBINER_F90_COMPLEX)
        return PMPI_Type_create_f90_complex(at[0], at[1], type);
    return PMPI_Type_create_f90_integer(at[0], type);
}

/* What the integers of each combiner mean is MPI's (MPI 3.1, section 4.1.13). Returns the library's
 * code, MPI_ERR_TYPE for a combiner that is not known. */
static int build(const struct contents *c, MPI_Datatype *type)
{
    const int *at = c->integer;
    const MPI_Aint *address = c->address;
    MPI_Datatype old = c->types > 0 ? c->type[0] : MPI_DATATYPE_NULL;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
        return PMPI_Type_dup(old, type);
    case MPI_COMBINER_CONTIGUOUS:
        return PMPI_Type_contiguous(at[0], old, type);
    case MPI_COMBINER_VECTOR:
        return PMPI_Type_vector(at[0], at[1], at[2], old, type);
    case MPI_COMBINER_HVECTOR:
        return PMPI_Type_create_hvector(at[0], at[1], address[0], old, type);
    case MPI_COMBINER_INDEXED:
        return PMPI_Type_indexed(at[0], at + 1, at + 1 + at[0], old, type);
    case MPI_COMBINER_HINDEXED:
        return PMPI_Type_create_hindexed(at[0], at + 1, address, old, type);
    case MPI_COMBINER_INDEXED_BLOCK:
        return PMPI_Type_create_indexed_block(at[0], at[1], at + 2, old, type);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return PMPI_Type_create_hindexed_block(at[0], at[1], address, old, type);
    case MPI_COMBINER_STRUCT:
        return PMPI_Type_create_struct(at[0], at + 1, address, c->type, type);
    case MPI_COMBINER_SUBARRAY:
        return build_subarray(c, type);
    case MPI_COMBINER_DARRAY:
        return build_darray(c, type);
    case MPI_COMBINER_RESIZED:
        return PMPI_Type_create_resized(old, address[0], address[1], type);
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return build_f90(c, type);
    default:
        return MPI_ERR_TYPE;
    }
}

static bool is_known(int combiner)
{
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return true;
    default:
        return false;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum error_code damaged(struct error *error)
{
    return error_set(error, ERROR_FORMAT, "these bytes are no datatype");
}

static bool take_row(struct reader *in, void *row, size_t bytes)
{
    const void *stored = reader_take(in, bytes);
    if (stored && bytes > 0)
        memcpy(row, stored, bytes);
    return stored != NULL;
}

static enum error_code read_nested(struct reader *in, int depth, MPI_Datatype *type,
                                   struct error *error);

static enum error_code read_contents(struct reader *in, int depth, struct contents *of,
                                     struct error *error)
{
    uint64_t integers = reader_number(in), addresses = reader_number(in), types = reader_number(in);
    if (in->failed || integers > ARGUMENTS_MAX || addresses > ARGUMENTS_MAX ||
        types > ARGUMENTS_MAX)
        return damaged(error);
    of->integers = (int)integers;
    of->addresses = (int)addresses;
    of->types = (int)types;
    enum error_code code = make_rows(of, error);
    if (code == OK && (!take_row(in, of->integer, integers * sizeof *of->integer) ||
                       !take_row(in, of->address, addresses * sizeof *of->address)))
        code = damaged(error);
    for (int i = 0; i < of->types && code == OK; i++)
        code = read_nested(in, depth + 1, &of->type[i], error);
    return code;
}

static enum error_code read_nested(struct reader *in, int depth, MPI_Datatype *type,
                                   struct error *error)
{
    struct contents of = {.combiner = (int)reader_number(in)};
    *type = MPI_DATATYPE_NULL;
    if (in->failed || depth > DEPTH_MAX)
        return damaged(error);
    if (of.combiner == MPI_COMBINER_NAMED) {
        uint64_t place = reader_number(in);
        if (in->failed || place >= PREDEFINED)
            return damaged(error);
        *type = predefined[place];
        return OK;
    }
    enum error_code code = read_contents(in, depth, &of, error);
    if (code == OK && build(&of, type) != MPI_SUCCESS) {
        *type = MPI_DATATYPE_NULL;
        code = damaged(error);
    }
    release(&of);
    return code;
}

enum error_code type_read(struct reader *in, MPI_Datatype *type, struct error *error)
{
    enum error_code code = read_nested(in, 0, type, error);
    if (code == OK && !is_predefined(*type))
        PMPI_Type_commit(type);
    return code;
}
