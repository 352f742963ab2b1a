/* MPI_Cart_*. */
#include "engine/communicators/parts.h"

#include <stdlib.h>
#include <string.h>

/* The view of a communicator with a grid; NULL: *result is what the call returns. */
static struct comm_view *grid_of(MPI_Comm comm, int *result)
{
    struct comm_view *view = communicator_view(comm);
    *result = MPI_SUCCESS;
    if (view && view->topology && view->topology->kind == MPI_CART)
        return view;
    *result = communicator_raise(comm, view ? MPI_ERR_TOPOLOGY : MPI_ERR_COMM);
    return NULL;
}

/* --- making ----------------------------------------------------------------------------------- */

/* Those with a place; how many is what the first process says. */
static void decide_first(struct meeting *meeting)
{
    const int *places = deposit_part(meeting->deposit[0], 0);
    int count = *places < meeting->size ? *places : meeting->size;
    struct members *some = members_of(meeting->process, count);
    if (!some)
        engine_abort(MPI_ERR_NO_MEM);
    struct shared_communicator *made = count > 0 ? shared_make(some, NULL) : NULL;
    for (int i = 0; i < count; i++)
        meeting->made[i] = made;
    members_drop(some);
}

int making_first(MPI_Comm comm, int count, const char *name, MPI_Comm *made,
                 struct comm_view **opened)
{
    struct making making = {.decide = decide_first, .view = communicator_view(comm)};
    *opened = NULL;
    making_handle(&making);
    int result = making_all(&making, name, deposit_of(&count, sizeof count), made);
    *opened = making.opened;
    return result;
}

static int cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                       MPI_Comm *comm_cart)
{
    (void)reorder;
    struct comm_view *view, *opened;
    int result = making_check_intra(comm, comm_cart, &view);
    if (result != MPI_SUCCESS)
        return result;
    if (ndims < 0 || (ndims > 0 && (!dims || !periods)))
        return communicator_raise(comm, MPI_ERR_ARG);
    int places = grid_places(dims, ndims);
    for (int i = 0; i < ndims; i++)
        if (dims[i] <= 0)
            places = -1;
    if (places < 0)
        return communicator_raise(comm, MPI_ERR_DIMS);
    if (places > view->local_count)
        return communicator_raise(comm, MPI_ERR_ARG);
    result = making_first(comm, places, "MPI_Cart_create", comm_cart, &opened);
    if (opened)
        opened->topology = grid_new(dims, periods, ndims, opened->rank);
    return result;
}

/* The dimensions that stay; returns their number. Those left out give the colour, those that stay
 * the key. */
static int keep_dimensions(const struct topology *grid, const int *remain, int *size, int *periodic,
                           int *colour, int *key)
{
    int kept = 0;
    *colour = *key = 0;
    for (int i = 0; i < grid->dimensions; i++) {
        int *number = remain[i] ? key : colour;
        *number = *number * grid->size[i] + grid->coordinates[i];
        if (remain[i]) {
            size[kept] = grid->size[i];
            periodic[kept++] = grid->periodic[i];
        }
    }
    return kept;
}

static int cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    int result, colour, key;
    struct comm_view *view = grid_of(comm, &result);
    if (!view)
        return result;
    const struct topology *grid = view->topology;
    if (!newcomm || (grid->dimensions > 0 && !remain_dims))
        return communicator_raise(comm, MPI_ERR_ARG);
    int *size = topology_copy(grid->size, grid->dimensions);
    int *periodic = topology_copy(grid->periodic, grid->dimensions);
    if (!size || !periodic)
        engine_abort(MPI_ERR_NO_MEM);
    int kept = keep_dimensions(grid, remain_dims, size, periodic, &colour, &key);
    if (kept == 0) /* a single place */
        colour = view->rank == 0 ? 0 : MPI_UNDEFINED;
    result = making_split(view, colour, key, "MPI_Cart_sub", newcomm);
    struct comm_view *opened = result == MPI_SUCCESS ? communicator_view(*newcomm) : NULL;
    if (opened)
        opened->topology = grid_new(size, periodic, kept, opened->rank);
    free(size);
    free(periodic);
    return result;
}

/* --- questions -------------------------------------------------------------------------------- */

static int cartdim_get(MPI_Comm comm, int *ndims)
{
    int result;
    const struct comm_view *view = grid_of(comm, &result);
    if (!view)
        return result;
    if (!ndims)
        return communicator_raise(comm, MPI_ERR_ARG);
    *ndims = view->topology->dimensions;
    return MPI_SUCCESS;
}

static int cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    int result;
    const struct comm_view *view = grid_of(comm, &result);
    if (!view)
        return result;
    const struct topology *grid = view->topology;
    if (maxdims < grid->dimensions || (grid->dimensions > 0 && (!dims || !periods || !coords)))
        return communicator_raise(comm, MPI_ERR_ARG);
    for (int i = 0; i < grid->dimensions; i++) {
        dims[i] = grid->size[i];
        periods[i] = grid->periodic[i];
        coords[i] = grid->coordinates[i];
    }
    return MPI_SUCCESS;
}

static int cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    int result;
    const struct comm_view *view = grid_of(comm, &result);
    if (!view)
        return result;
    const struct topology *grid = view->topology;
    if (rank < 0 || rank >= view->local_count)
        return communicator_raise(comm, MPI_ERR_RANK);
    if (maxdims < grid->dimensions || (grid->dimensions > 0 && !coords))
        return communicator_raise(comm, MPI_ERR_ARG);
    grid_coordinates(grid, rank, coords);
    return MPI_SUCCESS;
}

static int cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    int result;
    const struct comm_view *view = grid_of(comm, &result);
    if (!view)
        return result;
    if (!rank || (view->topology->dimensions > 0 && !coords))
        return communicator_raise(comm, MPI_ERR_ARG);
    int found = grid_rank(view->topology, coords);
    if (found < 0)
        return communicator_raise(comm, MPI_ERR_ARG);
    *rank = found;
    return MPI_SUCCESS;
}

static int cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    int result;
    const struct comm_view *view = grid_of(comm, &result);
    if (!view)
        return result;
    const struct topology *grid = view->topology;
    if (!rank_source || !rank_dest || direction < 0 || direction >= grid->dimensions)
        return communicator_raise(comm, MPI_ERR_ARG);
    *rank_source = grid_shift(grid, direction, -disp, MPI_PROC_NULL);
    *rank_dest = grid_shift(grid, direction, disp, MPI_PROC_NULL);
    return MPI_SUCCESS;
}

static int cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    const struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (ndims < 0 || !newrank || (ndims > 0 && (!dims || !periods)))
        return communicator_raise(comm, MPI_ERR_ARG);
    int places = grid_places(dims, ndims);
    if (places < 0 || places > view->local_count)
        return communicator_raise(comm, MPI_ERR_DIMS);
    *newrank = view->rank < places ? view->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

void grids_fill(struct library *table)
{
    table->Cart_create = cart_create;
    table->Cart_sub = cart_sub;
    table->Cartdim_get = cartdim_get;
    table->Cart_get = cart_get;
    table->Cart_coords = cart_coords;
    table->Cart_rank = cart_rank;
    table->Cart_shift = cart_shift;
    table->Cart_map = cart_map;
}
