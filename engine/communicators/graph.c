/* MPI_Graph_*, MPI_Dist_graph_*, MPI_Topo_test. */
#include "engine/communicators/parts.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* MPI_UNWEIGHTED, a variable of the library, which is found in the process by name. */
static const int *unweighted;

static int topo_test(MPI_Comm comm, int *status)
{
    const struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (!status)
        return communicator_raise(comm, MPI_ERR_ARG);
    *status = view->topology ? view->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* The topology of this kind that a communicator has; NULL: *result is what the call returns. */
static const struct topology *topology_of(MPI_Comm comm, int kind, int *result)
{
    const struct comm_view *view = communicator_view(comm);
    *result = MPI_SUCCESS;
    if (view && view->topology && view->topology->kind == kind)
        return view->topology;
    *result = communicator_raise(comm, view ? MPI_ERR_TOPOLOGY : MPI_ERR_COMM);
    return NULL;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static bool is_graph(int nodes, const int *index, const int *edges, int processes)
{
    if (nodes < 0 || nodes > processes || (nodes > 0 && (!index || !edges)))
        return false;
    for (int i = 0; i < nodes; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return false;
    for (int i = 0; nodes > 0 && i < index[nodes - 1]; i++)
        if (edges[i] < 0 || edges[i] > processes)
            return false;
    return true;
}

static struct topology *graph_new(int nodes, const int *index, const int *edges)
{
    struct topology *graph = topology_new(MPI_GRAPH);
    if (!graph)
        engine_abort(MPI_ERR_NO_MEM);
    graph->nodes = nodes;
    graph->index = topology_copy(index, nodes);
    graph->edges = topology_copy(edges, index[nodes - 1]);
    return graph;
}

static int graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                        int reorder, MPI_Comm *comm_graph)
{
    (void)reorder;
    struct comm_view *view, *opened;
    int result = making_check_intra(comm, comm_graph, &view);
    if (result != MPI_SUCCESS)
        return result;
    if (!is_graph(nnodes, index, edges, view->local_count))
        return communicator_raise(comm, MPI_ERR_ARG);
    *comm_graph = MPI_COMM_NULL;
    if (nnodes == 0)
        return MPI_SUCCESS;
    result = making_first(comm, nnodes, "MPI_Graph_create", comm_graph, &opened);
    if (opened)
        opened->topology = graph_new(nnodes, index, edges);
    return result;
}

static int graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    int result;
    const struct topology *graph = topology_of(comm, MPI_GRAPH, &result);
    if (!graph)
        return result;
    if (!nnodes || !nedges)
        return communicator_raise(comm, MPI_ERR_ARG);
    *nnodes = graph->nodes;
    *nedges = graph->index[graph->nodes - 1];
    return MPI_SUCCESS;
}

static int graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
    int result;
    const struct topology *graph = topology_of(comm, MPI_GRAPH, &result);
    if (!graph)
        return result;
    int edges_count = graph->index[graph->nodes - 1];
    if (!index || !edges || maxindex < graph->nodes || maxedges < edges_count)
        return communicator_raise(comm, MPI_ERR_ARG);
    memcpy(index, graph->index, (size_t)graph->nodes * sizeof *index);
    memcpy(edges, graph->edges, (size_t)edges_count * sizeof *edges);
    return MPI_SUCCESS;
}

static int graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    int result;
    const struct topology *graph = topology_of(comm, MPI_GRAPH, &result);
    if (!graph)
        return result;
    if (rank < 0 || rank >= graph->nodes)
        return communicator_raise(comm, MPI_ERR_RANK);
    if (!nneighbors)
        return communicator_raise(comm, MPI_ERR_ARG);
    *nneighbors = graph_degree(graph, rank);
    return MPI_SUCCESS;
}

static int graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    int result;
    const struct topology *graph = topology_of(comm, MPI_GRAPH, &result);
    if (!graph)
        return result;
    if (rank < 0 || rank >= graph->nodes)
        return communicator_raise(comm, MPI_ERR_RANK);
    int degree = graph_degree(graph, rank);
    if (degree > 0 && (!neighbors || maxneighbors < 0))
        return communicator_raise(comm, MPI_ERR_ARG);
    int given = degree < maxneighbors ? degree : maxneighbors;
    memcpy(neighbors, graph_neighbours(graph, rank), (size_t)given * sizeof *neighbors);
    return MPI_SUCCESS;
}

static int graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    const struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (nnodes <= 0 || nnodes > view->local_count || !index || !edges || !newrank)
        return communicator_raise(comm, MPI_ERR_ARG);
    *newrank = view->rank < nnodes ? view->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* --- distributed graphs ----------------------------------------------------------------------- */

static bool are_ranks(const int *ranks, int count, int processes)
{
    for (int i = 0; i < count; i++)
        if ((ranks[i] < 0 || ranks[i] >= processes) && ranks[i] != MPI_PROC_NULL)
            return false;
    return true;
}

static int *weights_of(const int *weights, int count)
{
    return topology_copy(weights, weights == unweighted || !weights ? 0 : count);
}

static int dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                      const int sourceweights[], int outdegree,
                                      const int destinations[], const int destweights[],
                                      MPI_Info info, int reorder, MPI_Comm *newcomm)
{
    (void)info;
    (void)reorder;
    struct comm_view *view, *opened;
    int result = making_check_intra(comm, newcomm, &view);
    if (result != MPI_SUCCESS)
        return result;
    if (indegree < 0 || outdegree < 0 || (indegree > 0 && !sources) ||
        (outdegree > 0 && !destinations))
        return communicator_raise(comm, MPI_ERR_ARG);
    bool in = sourceweights != unweighted, out = destweights != unweighted;
    if ((indegree > 0 && !in && out) || (outdegree > 0 && !out && in))
        return communicator_raise(comm, MPI_ERR_TOPOLOGY);
    if (!are_ranks(sources, indegree, view->local_count) ||
        !are_ranks(destinations, outdegree, view->local_count))
        return communicator_raise(comm, MPI_ERR_RANK);
    result =
        making_first(comm, view->local_count, "MPI_Dist_graph_create_adjacent", newcomm, &opened);
    struct topology *graph = opened ? opened->topology = topology_new(MPI_DIST_GRAPH) : NULL;
    if (!graph)
        return result;
    graph->weighted = in || out;
    graph->sources_count = indegree;
    graph->destinations_count = outdegree;
    graph->sources = topology_copy(sources, indegree);
    graph->destinations = topology_copy(destinations, outdegree);
    graph->source_weights = weights_of(sourceweights, indegree);
    graph->destination_weights = weights_of(destweights, outdegree);
    return result;
}

struct edge {
    int from, to, weight;
};

/* The edges that this rank knows of; *count gets their number. */
static struct edge *list_edges(int n, const int *sources, const int *degrees,
                               const int *destinations, const int *weights, int *count)
{
    *count = 0;
    for (int i = 0; i < n; i++)
        *count += degrees[i];
    struct edge *edges = malloc(((size_t)*count + 1) * sizeof *edges);
    if (!edges)
        engine_abort(MPI_ERR_NO_MEM);
    int at = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, at++)
            edges[at] = (struct edge){sources[i], destinations[at],
                                      weights == unweighted ? 0 : weights[at]};
    return edges;
}

/* The ends of one kind (`into`: sources of edges to this rank), and their weights. */
static int pick(struct meeting *meeting, int rank, bool into, int **ends, int **weights)
{
    int count = 0, room = 0;
    for (int i = 0; i < meeting->size; i++)
        room += (int)(deposit_bytes(meeting->deposit[i], 0) / sizeof(struct edge));
    *ends = malloc(((size_t)room + 1) * sizeof(int));
    *weights = malloc(((size_t)room + 1) * sizeof(int));
    if (!*ends || !*weights)
        engine_abort(MPI_ERR_NO_MEM);
    for (int i = 0; i < meeting->size; i++) {
        const struct edge *edge = deposit_part(meeting->deposit[i], 0);
        size_t edges = deposit_bytes(meeting->deposit[i], 0) / sizeof *edge;
        for (size_t j = 0; j < edges; j++) {
            if ((into ? edge[j].to : edge[j].from) != rank)
                continue;
            (*ends)[count] = into ? edge[j].from : edge[j].to;
            (*weights)[count++] = edge[j].weight;
        }
    }
    return count;
}

/* Of all edges those that begin or end at this rank. */
static int gather_edges(struct comm_view *view, const struct edge *edges, int count,
                        struct topology *graph)
{
    struct meeting_key key = {.kind = MEETING_COLLECTIVE};
    int result = meeting_enter(view);
    if (result != MPI_SUCCESS)
        return result;
    struct meeting *meeting = meeting_of_all(view, &key, "MPI_Dist_graph_create",
                                             deposit_of(edges, (size_t)count * sizeof *edges));
    result = meeting_await(view, meeting, meeting_is_full, meeting);
    if (result == MPI_SUCCESS) {
        graph->sources_count =
            pick(meeting, view->rank, true, &graph->sources, &graph->source_weights);
        graph->destinations_count =
            pick(meeting, view->rank, false, &graph->destinations, &graph->destination_weights);
    }
    meeting_leave(meeting);
    return result;
}

static bool are_edges(int n, const int *sources, const int *degrees, const int *destinations,
                      int processes)
{
    int count = 0;
    if (n < 0 || (n > 0 && (!sources || !degrees)))
        return false;
    for (int i = 0; i < n; i++) {
        if (degrees[i] < 0)
            return false;
        count += degrees[i];
    }
    return (count == 0 || destinations) && are_ranks(sources, n, processes) &&
           are_ranks(destinations, count, processes);
}

static int dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                             const int destinations[], const int weights[], MPI_Info info,
                             int reorder, MPI_Comm *newcomm)
{
    (void)info;
    (void)reorder;
    int count;
    struct comm_view *view, *opened = NULL;
    int result = making_check_intra(comm, newcomm, &view);
    if (result != MPI_SUCCESS)
        return result;
    if (!are_edges(n, sources, degrees, destinations, view->local_count))
        return communicator_raise(comm, MPI_ERR_ARG);
    struct topology *graph = topology_new(MPI_DIST_GRAPH);
    if (!graph)
        engine_abort(MPI_ERR_NO_MEM);
    graph->weighted = weights != unweighted;
    struct edge *edges = list_edges(n, sources, degrees, destinations, weights, &count);
    result = communicator_raise(comm, gather_edges(view, edges, count, graph));
    free(edges);
    if (result == MPI_SUCCESS)
        result = making_first(comm, view->local_count, "MPI_Dist_graph_create", newcomm, &opened);
    if (opened)
        opened->topology = topology_hold(graph);
    topology_drop(graph);
    return result;
}

static int dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    int result;
    const struct topology *graph = topology_of(comm, MPI_DIST_GRAPH, &result);
    if (!graph)
        return result;
    if (!indegree || !outdegree || !weighted)
        return communicator_raise(comm, MPI_ERR_ARG);
    *indegree = graph->sources_count;
    *outdegree = graph->destinations_count;
    *weighted = graph->weighted;
    return MPI_SUCCESS;
}

static void copy_out(int *to, const int *from, int count)
{
    if (to && to != unweighted && count > 0)
        memcpy(to, from, (size_t)count * sizeof *to);
}

static int dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                                int maxoutdegree, int destinations[], int destweights[])
{
    int result;
    const struct topology *graph = topology_of(comm, MPI_DIST_GRAPH, &result);
    if (!graph)
        return result;
    if (maxindegree < graph->sources_count || maxoutdegree < graph->destinations_count)
        return communicator_raise(comm, MPI_ERR_ARG);
    copy_out(sources, graph->sources, graph->sources_count);
    copy_out(destinations, graph->destinations, graph->destinations_count);
    if (graph->weighted) {
        copy_out(sourceweights, graph->source_weights, graph->sources_count);
        copy_out(destweights, graph->destination_weights, graph->destinations_count);
    }
    return MPI_SUCCESS;
}

void graphs_fill(struct library *table)
{
    int *const *variable = dlsym(RTLD_DEFAULT, "MPI_UNWEIGHTED");
    unweighted = variable ? *variable : NULL;
    table->Topo_test = topo_test;
    table->Graph_create = graph_create;
    table->Graphdims_get = graphdims_get;
    table->Graph_get = graph_get;
    table->Graph_neighbors_count = graph_neighbors_count;
    table->Graph_neighbors = graph_neighbors;
    table->Graph_map = graph_map;
    table->Dist_graph_create = dist_graph_create;
    table->Dist_graph_create_adjacent = dist_graph_create_adjacent;
    table->Dist_graph_neighbors_count = dist_graph_neighbors_count;
    table->Dist_graph_neighbors = dist_graph_neighbors;
}
