/* The functions of MPI that make and free communicators, and those that set what could not be made
 * again: see creation.h and README.md. */
#include "common/communicators/creation.h"

HANDLES_EXPORTED int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Comm_dup", comm, newcomm))
        return MPI_SUCCESS;
    it.duplicate = true;
    return creation_end(&it, PMPI_Comm_dup(it.real, &it.made), newcomm);
}

HANDLES_EXPORTED int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Comm_dup_with_info", comm, newcomm))
        return MPI_SUCCESS;
    it.duplicate = true;
    return creation_end(&it, PMPI_Comm_dup_with_info(it.real, info, &it.made), newcomm);
}

HANDLES_EXPORTED int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Comm_create", comm, newcomm))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Comm_create(it.real, group, &it.made), newcomm);
}

HANDLES_EXPORTED int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
                                           MPI_Comm *newcomm)
{
    struct creation it;
    if (creation_begin_group(&it, "MPI_Comm_create_group", comm, group, tag, newcomm))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Comm_create_group(it.real, group, tag, &it.made), newcomm);
}

HANDLES_EXPORTED int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Comm_split", comm, newcomm))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Comm_split(it.real, color, key, &it.made), newcomm);
}

HANDLES_EXPORTED int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                         MPI_Comm *newcomm)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Comm_split_type", comm, newcomm))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Comm_split_type(it.real, split_type, key, info, &it.made),
                        newcomm);
}

HANDLES_EXPORTED int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[],
                                     const int periods[], int reorder, MPI_Comm *comm_cart)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Cart_create", comm_old, comm_cart))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Cart_create(it.real, ndims, dims, periods, reorder, &it.made),
                        comm_cart);
}

/* Where there is no grid the library refuses the call, on this rank alone; in recovery it must not
 * get what another call has made. */
HANDLES_EXPORTED int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct creation it;
    int kind;
    if (PMPI_Topo_test(handles_real(comm), &kind) != MPI_SUCCESS || kind != MPI_CART)
        return PMPI_Cart_sub(handles_real(comm), remain_dims, newcomm);
    if (creation_begin(&it, "MPI_Cart_sub", comm, newcomm))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Cart_sub(it.real, remain_dims, &it.made), newcomm);
}

HANDLES_EXPORTED int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[],
                                      const int edges[], int reorder, MPI_Comm *comm_graph)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Graph_create", comm_old, comm_graph))
        return MPI_SUCCESS;
    return creation_end(&it, PMPI_Graph_create(it.real, nnodes, indx, edges, reorder, &it.made),
                        comm_graph);
}

HANDLES_EXPORTED int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[],
                                           const int degrees[], const int destinations[],
                                           const int weights[], MPI_Info info, int reorder,
                                           MPI_Comm *comm_dist_graph)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Dist_graph_create", comm_old, comm_dist_graph))
        return MPI_SUCCESS;
    return creation_end(&it,
                        PMPI_Dist_graph_create(it.real, n, sources, degrees, destinations, weights,
                                               info, reorder, &it.made),
                        comm_dist_graph);
}

HANDLES_EXPORTED int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree,
                                                    const int sources[], const int sourceweights[],
                                                    int outdegree, const int destinations[],
                                                    const int destweights[], MPI_Info info,
                                                    int reorder, MPI_Comm *comm_dist_graph)
{
    struct creation it;
    if (creation_begin(&it, "MPI_Dist_graph_create_adjacent", comm_old, comm_dist_graph))
        return MPI_SUCCESS;
    return creation_end(&it,
                        PMPI_Dist_graph_create_adjacent(it.real, indegree, sources, sourceweights,
                                                        outdegree, destinations, destweights, info,
                                                        reorder, &it.made),
                        comm_dist_graph);
}

/* --- freeing ---------------------------------------------------------------------------------- */

static struct handle *made_by_program(MPI_Comm user)
{
    struct handle *handle = handles_of(user);
    return handle == &handles.world || handle == &handles.own ? NULL : handle;
}

static void give_up(struct handle *handle, MPI_Comm *comm)
{
    handle_unpublish(handle);
    handle_drop(handle);
    *comm = MPI_COMM_NULL;
}

HANDLES_EXPORTED int MPI_Comm_free(MPI_Comm *comm)
{
    struct handle *handle = comm ? made_by_program(*comm) : NULL;
    if (!handle)
        return PMPI_Comm_free(comm);
    give_up(handle, comm);
    return MPI_SUCCESS;
}

/* What it waits for is over where no request is outstanding; a request that is holds the
 * communicator. */
HANDLES_EXPORTED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    struct handle *handle = comm ? made_by_program(*comm) : NULL;
    if (!handle)
        return PMPI_Comm_disconnect(comm);
    give_up(handle, comm);
    return MPI_SUCCESS;
}

/* --- what is not made again ------------------------------------------------------------------- */

static MPI_Comm attributes_change(const char *function, MPI_Comm comm)
{
    struct handle *handle = handles_of(comm);
    if (handles.protocol && handles.running)
        handles_refuse(function, "attributes that are set before checkpoint_restore");
    if (handle && handles.protocol)
        handle->attributes = true;
    return handles_real(comm);
}

HANDLES_EXPORTED int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    return PMPI_Comm_set_attr(attributes_change("MPI_Comm_set_attr", comm), comm_keyval,
                              attribute_val);
}

HANDLES_EXPORTED int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    return PMPI_Attr_put(attributes_change("MPI_Attr_put", comm), keyval, attribute_val);
}

HANDLES_EXPORTED int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    return PMPI_Comm_delete_attr(attributes_change("MPI_Comm_delete_attr", comm), comm_keyval);
}

HANDLES_EXPORTED int MPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return PMPI_Attr_delete(attributes_change("MPI_Attr_delete", comm), keyval);
}

static MPI_Comm handler_changes(const char *function, MPI_Comm comm, MPI_Errhandler handler)
{
    bool predefined = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN ||
                      handler == MPI_ERRORS_ABORT;
    if (handles.protocol && handles.running && !predefined)
        handles_refuse(function, "predefined error handlers, and others that are set before "
                                 "checkpoint_restore");
    return handles_real(comm);
}

HANDLES_EXPORTED int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return PMPI_Comm_set_errhandler(handler_changes("MPI_Comm_set_errhandler", comm, errhandler),
                                    errhandler);
}

#ifndef MPI_Errhandler_set /* MPI 3.0 has removed it, and a library may say so by a macro */
HANDLES_EXPORTED int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return PMPI_Errhandler_set(handler_changes("MPI_Errhandler_set", comm, errhandler), errhandler);
}
#endif
