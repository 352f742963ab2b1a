/* A program drawn from a seed: communicators of all kinds, and collectives on them in all forms,
 * with types, counts, roots and places drawn too. Every rank prints, for each step, a hash of what
 * it has received: the lines must be the same whatever library runs it. All ranks draw the same
 * numbers. Usage: engine_random FIRST_SEED SEEDS STEPS [crosswise]: one program after the other. */
#include "base/mix.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 8
#define MOST 6 /* elements of a block */
#define MOST_RANKS 16
#define ROOM (MOST_RANKS * MOST * 16) /* ints of a buffer */

static uint64_t seed, drawn;
static MPI_Comm slot[SLOTS];
static bool is_inter[SLOTS]; /* known to all ranks, also to those without the communicator */
static int kind_of[SLOTS];   /* MPI_CART, MPI_GRAPH, MPI_UNDEFINED */
static int size_of[SLOTS];   /* only where this rank is a member */
static int world_rank, world_size;
static int out[ROOM], in[ROOM];

static int draw(int below)
{
    return (int)(mix_two(seed, drawn++) % (uint64_t)below);
}

static void fill(int *buffer, int mark)
{
    for (int i = 0; i < ROOM; i++)
        buffer[i] = (int)(mix_two(mix_two(seed, drawn), (uint64_t)(mark * 100003 + i)) & 0xffff);
}

static void say(int step, const char *what)
{
    uint64_t hash = 0;
    for (int i = 0; i < ROOM; i++)
        hash = mix_two(hash, (uint64_t)in[i]);
    printf("%d %llu %d %s %016llx\n", world_rank, (unsigned long long)seed, step, what,
           (unsigned long long)hash);
}

/* --- communicators ---------------------------------------------------------------------------- */

static void set(int at, MPI_Comm made, int kind, bool inter)
{
    if (at > 1 && slot[at] != MPI_COMM_NULL)
        MPI_Comm_free(&slot[at]);
    slot[at] = made;
    kind_of[at] = kind;
    is_inter[at] = inter;
    size_of[at] = 0;
    if (made != MPI_COMM_NULL)
        MPI_Comm_size(made, &size_of[at]);
}

static MPI_Comm make_grid(MPI_Comm from, int ring, int wraps)
{
    int size, dimensions[2] = {0, 0}, periodic[2] = {wraps & 1, wraps >> 1};
    MPI_Comm made;
    MPI_Comm_size(from, &size);
    MPI_Dims_create(size, ring ? 1 : 2, dimensions);
    MPI_Cart_create(from, ring ? 1 : 2, dimensions, periodic, 0, &made);
    return made;
}

/* Each rank is joined to the next `reach` ones. */
static MPI_Comm make_graph(MPI_Comm from, int reach)
{
    int size, rank, sources[MOST_RANKS], destinations[MOST_RANKS], in, out, weighted;
    MPI_Comm made;
    MPI_Comm_size(from, &size);
    MPI_Comm_rank(from, &rank);
    for (int i = 0; i < reach; i++) {
        destinations[i] = (rank + i + 1) % size;
        sources[i] = (rank + size * MOST_RANKS - i - 1) % size;
    }
    MPI_Dist_graph_create_adjacent(from, reach, sources, MPI_UNWEIGHTED, reach, destinations,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted);
    if (in != reach || out != reach || weighted)
        printf("%d in, %d out, weighted: %d\n", in, out, weighted);
    return made;
}

static MPI_Comm make_of_group(MPI_Comm from, int every, bool alone)
{
    MPI_Group all, some;
    MPI_Comm made = MPI_COMM_NULL;
    int size, rank;
    MPI_Comm_group(from, &all);
    MPI_Comm_size(from, &size);
    MPI_Comm_rank(from, &rank);
    int range[1][3] = {{size - 1, 0, -every}};
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Group_rank(some, &rank);
    if (!alone)
        MPI_Comm_create(from, some, &made);
    else if (rank != MPI_UNDEFINED)
        MPI_Comm_create_group(from, some, 7, &made);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return made;
}

/* Even and odd ranks of the world, joined; or the whole again. */
static MPI_Comm make_inter(bool merge, int high)
{
    MPI_Comm half, made, merged;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 5, &made);
    MPI_Comm_free(&half);
    if (!merge)
        return made;
    MPI_Intercomm_merge(made, world_rank % 2 == high, &merged);
    MPI_Comm_free(&made);
    return merged;
}

static MPI_Comm dup_later(MPI_Comm from)
{
    MPI_Comm made;
    MPI_Request request;
    MPI_Comm_idup(from, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return made;
}

static void make(int step)
{
    int to = 2 + draw(SLOTS - 2), from = draw(SLOTS), how = draw(8), a = draw(3), b = draw(4);
    MPI_Comm base = slot[from], made = MPI_COMM_NULL;
    int kind = MPI_UNDEFINED;
    bool inter = false;
    if (how == 7) {
        inter = b != 0 && world_size > 1;
        if (world_size > 1)
            made = make_inter(b == 0, a % 2);
    } else if (is_inter[from]) {
        return;
    } else if (base != MPI_COMM_NULL) {
        int rank;
        MPI_Comm_rank(base, &rank);
        switch (how) {
        case 0:
            MPI_Comm_dup(base, &made);
            break;
        case 1:
            made = dup_later(base);
            break;
        case 2:
            MPI_Comm_split(base, rank % (a + 1) == 2 ? MPI_UNDEFINED : rank % (a + 1), -b * rank,
                           &made);
            break;
        case 3:
            made = make_of_group(base, a + 1, false);
            break;
        case 4:
            made = make_of_group(base, a + 1, true);
            break;
        case 5:
            made = make_grid(base, a == 0, b);
            break;
        case 6:
            made = make_graph(base, a + 1);
            break;
        }
    }
    if (how < 2)
        kind = kind_of[from];
    if (how == 5 || how == 6)
        kind = MPI_CART;
    set(to, made, kind, inter);
    memset(in, 0, sizeof in);
    if (made != MPI_COMM_NULL) {
        MPI_Comm_rank(made, &in[0]);
        MPI_Comm_size(made, &in[1]);
        MPI_Comm_compare(made, MPI_COMM_WORLD, &in[2]);
    }
    say(step, "make");
}

/* --- collectives ------------------------------------------------------------------------------ */

/* In the form that is drawn: at once, later, or begun twice. */
#define DO(form, Name, Iname, ...)                                                                 \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        if ((form) == 0) {                                                                         \
            MPI_##Name(__VA_ARGS__);                                                               \
        } else if ((form) == 1) {                                                                  \
            MPI_##Iname(__VA_ARGS__, &request);                                                    \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                                 \
        } else {                                                                                   \
            MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                               \
            for (int twice = 0; twice < 2; twice++) {                                              \
                MPI_Start(&request);                                                               \
                MPI_Wait(&request, MPI_STATUS_IGNORE);                                             \
            }                                                                                      \
            MPI_Request_free(&request);                                                            \
        }                                                                                          \
    } while (0)

static MPI_Datatype draw_type(void)
{
    MPI_Datatype made, resized;
    switch (draw(3)) {
    case 0:
        MPI_Type_contiguous(1, MPI_INT, &made);
        break;
    case 1:
        MPI_Type_contiguous(3, MPI_INT, &made);
        break;
    default:
        MPI_Type_vector(2, 1, 2, MPI_INT, &made);
        MPI_Type_create_resized(made, 0, 4 * sizeof(int), &resized);
        MPI_Type_free(&made);
        made = resized;
    }
    MPI_Type_commit(&made);
    return made;
}

struct layout {
    int size, rank, root, count, form;
    MPI_Datatype type;
    int counts[MOST_RANKS], places[MOST_RANKS]; /* of blocks, in elements */
};

static void move(MPI_Comm comm, int which, bool in_place, const struct layout *l)
{
    const void *source = in_place ? MPI_IN_PLACE : out;
    int n = l->count, root = l->root, f = l->form;
    MPI_Datatype t = l->type;
    bool at_root = l->rank == root;
    switch (which) {
    case 0:
        DO(f, Bcast, Ibcast, in, n, t, root, comm);
        break;
    case 1:
        DO(f, Gather, Igather, at_root ? source : out, n, t, in, n, t, root, comm);
        break;
    case 2:
        DO(f, Gatherv, Igatherv, at_root ? source : out, l->counts[l->rank], t, in, l->counts,
           l->places, t, root, comm);
        break;
    case 3:
        DO(f, Scatter, Iscatter, out, n, t, at_root && in_place ? MPI_IN_PLACE : (void *)in, n, t,
           root, comm);
        break;
    case 4:
        DO(f, Scatterv, Iscatterv, out, l->counts, l->places, t,
           at_root && in_place ? MPI_IN_PLACE : (void *)in, l->counts[l->rank], t, root, comm);
        break;
    case 5:
        DO(f, Allgather, Iallgather, source, n, t, in, n, t, comm);
        break;
    case 6:
        DO(f, Allgatherv, Iallgatherv, source, l->counts[l->rank], t, in, l->counts, l->places, t,
           comm);
        break;
    case 7:
        DO(f, Alltoall, Ialltoall, source, n, t, in, n, t, comm);
        break;
    case 8:
        for (int i = 0; i < l->size; i++) /* what each pair exchanges is the same both ways */
            ((int *)l->counts)[i] = (l->rank + i) % (MOST + 1);
        DO(f, Alltoallv, Ialltoallv, source, l->counts, l->places, t, in, l->counts, l->places, t,
           comm);
        break;
    default: {
        int bytes[MOST_RANKS], counts[MOST_RANKS];
        MPI_Datatype types[MOST_RANKS];
        for (int i = 0; i < l->size; i++) {
            bytes[i] = i * MOST * 16 * (int)sizeof(int);
            counts[i] = (l->rank + i) % (MOST + 1);
            types[i] = t;
        }
        DO(f, Alltoallw, Ialltoallw, source, counts, bytes, types, in, counts, bytes, types, comm);
    }
    }
}

/* Neither commutes nor associates: shows in which order a library combines. */
static void compose(void *first, void *second, int *count, MPI_Datatype *type)
{
    const unsigned *a = first;
    unsigned *b = second;
    (void)type;
    for (int i = 0; i < *count; i++, a += 2, b += 2) {
        b[0] = (a[0] * b[0] + 1) % 10007;
        b[1] = (a[1] * b[0] + b[1]) % 10007;
    }
}

static void reduce(MPI_Comm comm, int which, bool in_place, const struct layout *l, bool keeps)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR, MPI_LAND};
    const void *source = in_place ? MPI_IN_PLACE : out;
    int n = l->count, f = l->form;
    MPI_Datatype t = MPI_INT;
    MPI_Op op = ops[draw(5)];
    if (keeps) {
        MPI_Type_contiguous(2, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Op_create(compose, 0, &op);
    }
    switch (which) {
    case 0:
        DO(f, Reduce, Ireduce, l->rank == l->root ? source : out, in, n, t, op, l->root, comm);
        break;
    case 1:
        DO(f, Allreduce, Iallreduce, source, in, n, t, op, comm);
        break;
    case 2:
        DO(f, Scan, Iscan, source, in, n, t, op, comm);
        break;
    case 3:
        DO(f, Exscan, Iexscan, source, in, n, t, op, comm);
        break;
    case 4:
        DO(f, Reduce_scatter, Ireduce_scatter, source, in, l->counts, t, op, comm);
        break;
    default:
        DO(f, Reduce_scatter_block, Ireduce_scatter_block, source, in, n, t, op, comm);
    }
    if (keeps) {
        MPI_Op_free(&op);
        MPI_Type_free(&t);
    }
}

static void neighbours(MPI_Comm comm, int which, const struct layout *l)
{
    int n = l->count, f = l->form, same[MOST_RANKS];
    for (int i = 0; i < MOST_RANKS; i++)
        same[i] = n;
    switch (which % 4) {
    case 0:
        DO(f, Neighbor_allgather, Ineighbor_allgather, out, n, l->type, in, n, l->type, comm);
        break;
    case 1:
        DO(f, Neighbor_allgatherv, Ineighbor_allgatherv, out, n, l->type, in, same, l->places,
           l->type, comm);
        break;
    case 2:
        DO(f, Neighbor_alltoall, Ineighbor_alltoall, out, n, l->type, in, n, l->type, comm);
        break;
    default:
        DO(f, Neighbor_alltoallv, Ineighbor_alltoallv, out, same, l->places, l->type, in, same,
           l->places, l->type, comm);
    }
}

static void across(MPI_Comm comm, int which, const struct layout *l, bool is_even)
{
    int others, f = l->form % 2, n = l->count;
    MPI_Comm_remote_size(comm, &others);
    int root = l->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (world_rank % 2 == is_even)
        root = 0;
    switch (which % 7) {
    case 0:
        DO(f, Bcast, Ibcast, in, n, l->type, root, comm);
        break;
    case 1:
        DO(f, Gather, Igather, out, n, l->type, in, n, l->type, root, comm);
        break;
    case 2:
        DO(f, Scatter, Iscatter, out, n, l->type, in, n, l->type, root, comm);
        break;
    case 3:
        DO(f, Allgather, Iallgather, out, n, l->type, in, n, l->type, comm);
        break;
    case 4:
        DO(f, Alltoall, Ialltoall, out, n, l->type, in, n, l->type, comm);
        break;
    case 5:
        DO(f, Reduce, Ireduce, out, in, n, MPI_INT, MPI_SUM, root, comm);
        break;
    default:
        DO(f, Allreduce, Iallreduce, out, in, n, MPI_INT, MPI_MAX, comm);
    }
}

static void collect(int step)
{
    struct layout l;
    int at = draw(SLOTS), which = draw(19), count = draw(MOST + 1), root = draw(1000);
    bool in_place = draw(4) == 0, keeps = draw(3) == 0;
    MPI_Comm comm = slot[at];
    l.form = draw(3);
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Datatype type = draw_type();
    /* MPICH 4.0.2 gives up a derived type, or an operation, each time a persistent one completes.
     */
    l.type = l.form == 2 ? MPI_INT : type;
    keeps = keeps && l.form != 2;
    MPI_Comm_rank(comm, &l.rank);
    MPI_Comm_size(comm, &l.size);
    l.count = count;
    l.root = root % l.size;
    for (int i = 0; i < MOST_RANKS; i++) {
        l.counts[i] = (i * 5 + count) % (MOST + 1);
        l.places[i] = i * MOST;
    }
    fill(out, world_rank);
    fill(in, world_rank + 50);
    bool even = draw(2);
    if (is_inter[at])
        across(comm, which, &l, even);
    else if (which < 10)
        move(comm, which, in_place, &l);
    else if (which < 16)
        reduce(comm, which - 10, in_place, &l, keeps);
    else if (kind_of[at] != MPI_UNDEFINED)
        neighbours(comm, root, &l);
    else
        MPI_Barrier(comm);
    MPI_Type_free(&type);
    char what[32];
    snprintf(what, sizeof what, "%d/%d/%d", is_inter[at], which, l.form);
    say(step, what);
}

/* Two persistent calls of one communicator, started by odd ranks in the other order than by even
 * ones: those meet that were made in the same turn (MPI 4.0, section 6.13). */
static void start_crosswise(int step)
{
    MPI_Request request[2];
    fill(out, world_rank);
    fill(in, world_rank + 50);
    for (int i = 0; i < 2; i++)
        MPI_Allreduce_init(out + i * MOST, in + i * MOST, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request[i]);
    MPI_Start(&request[world_rank % 2]);
    MPI_Start(&request[1 - world_rank % 2]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&request[i]);
    say(step, "crosswise");
}

static void run(int steps, bool crosswise)
{
    for (int i = 0; i < SLOTS; i++) {
        slot[i] = MPI_COMM_NULL;
        kind_of[i] = MPI_UNDEFINED;
    }
    set(0, MPI_COMM_WORLD, MPI_UNDEFINED, false);
    set(1, MPI_COMM_SELF, MPI_UNDEFINED, false);
    for (int step = 0; step < steps; step++) {
        drawn = (uint64_t)step * 100; /* whoever is left out of a step draws fewer */
        if (draw(3) == 0)
            make(step);
        else
            collect(step);
        if (crosswise)
            start_crosswise(step);
    }
    for (int i = 2; i < SLOTS; i++)
        set(i, MPI_COMM_NULL, MPI_UNDEFINED, false);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (seed = first; seed < first + seeds; seed++)
        run(argc > 3 ? atoi(argv[3]) : 50, argc > 4);
    MPI_Finalize();
    return 0;
}
