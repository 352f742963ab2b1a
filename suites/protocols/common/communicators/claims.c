/* Claims: which communicators must exist after recovery, and for whom. See saved.h. */
#include "common/communicators/saved.h"

#include <stdlib.h>
#include <string.h>

void saved_is_damaged(void)
{
    handles_fail("what the checkpoint says of communicators is damaged");
}

static bool is_member(const struct claim *claim)
{
    for (int i = 0; i < claim->size; i++)
        if (claim->world[i] == handles.rank)
            return true;
    return false;
}

static struct claim *find(const struct claims *claims, uint64_t id)
{
    for (size_t i = 0; i < claims->count; i++)
        if (claims->row[i].id == id)
            return &claims->row[i];
    return NULL;
}

static void append(struct claims *claims, const struct claim *claim)
{
    struct claim *row = realloc(claims->row, (claims->count + 1) * sizeof *row);
    if (!row)
        handles_fail("out of memory for the claims of communicators");
    claims->row = row;
    row[claims->count++] = *claim;
}

static void join(struct claim *old, const struct claim *claim)
{
    size_t bytes = (size_t)old->size * sizeof *old->world;
    if (old->size != claim->size || memcmp(old->world, claim->world, bytes) != 0)
        handles_fail("ranks do not agree on the members of a communicator of %d and of %d ranks",
                     old->size, claim->size);
    if (claim->topology_is_mine) {
        old->topology = claim->topology;
        old->topology_is_mine = true;
    }
}

/* Takes over claim->world. */
static void add(struct claims *claims, struct claim *claim)
{
    struct claim *old = find(claims, claim->id);
    if (is_member(claim) && !old) {
        append(claims, claim);
        return;
    }
    if (old)
        join(old, claim);
    free(claim->world);
}

static void read_claims(struct reader in, bool mine, struct claims *claims)
{
    for (uint64_t left = reader_number(&in); left > 0 && !in.failed; left--) {
        struct claim claim = {.id = reader_number(&in), .topology_is_mine = mine};
        struct reader world = reader_row(&in);
        claim.topology = reader_row(&in);
        claim.size = (int)(world.left / sizeof *claim.world);
        claim.world = handles_memory(world.left, 1);
        if (world.next)
            memcpy(claim.world, world.next, world.left);
        add(claims, &claim);
    }
    if (in.failed)
        saved_is_damaged();
}

/* --- creations that the line ran through ------------------------------------------------------ */

static bool next_member(struct reader *members, struct member_of_creation *member,
                        struct reader *topology)
{
    const void *stored = members->left > 0 ? reader_take(members, sizeof *member) : NULL;
    if (!stored)
        return false;
    memcpy(member, stored, sizeof *member);
    *topology = reader_row(members);
    return !members->failed;
}

/* Its ranks, from what its members have said. */
static void members_of_result(struct reader members, struct claim *claim)
{
    struct member_of_creation member;
    struct reader topology;
    claim->world = handles_memory((size_t)handles.ranks, sizeof *claim->world);
    while (next_member(&members, &member, &topology)) {
        if (member.id != claim->id)
            continue;
        if (member.rank < 0 || member.rank >= handles.ranks)
            saved_is_damaged();
        claim->world[member.rank] = (int)member.world;
        claim->size++;
    }
}

static void read_creation(struct reader *in, struct claims *claims)
{
    uint64_t series = reader_number(in), count = reader_number(in), beyond = 0;
    const struct reader members = reader_row(in);
    struct member_of_creation member;
    struct reader topology;
    for (struct reader rest = members; next_member(&rest, &member, &topology);)
        beyond = member.line > beyond ? member.line : beyond;
    for (struct reader rest = members; next_member(&rest, &member, &topology);) {
        bool mine = member.world == handles.rank;
        struct claim claim = {.id = member.id, .topology = topology, .topology_is_mine = mine};
        if (member.id != 0) {
            members_of_result(members, &claim);
            add(claims, &claim);
        }
        if (mine && member.line == beyond)
            creation_is_done(series, count, member.id);
    }
}

static void read_passed(struct reader in, struct claims *claims)
{
    for (uint64_t left = reader_number(&in); left > 0 && !in.failed; left--)
        read_creation(&in, claims);
    if (in.failed)
        saved_is_damaged();
}

/* --- all ranks -------------------------------------------------------------------------------- */

/* Sizes and places of the ranks' parts; returns all of them. Owned by the caller: all three. */
static char *gather(const struct bytes *mine, int **sizes, int **places)
{
    size_t ranks = (size_t)handles.ranks;
    int size = (int)mine->size;
    *sizes = handles_memory(ranks, sizeof **sizes);
    *places = handles_memory(ranks, sizeof **places);
    PMPI_Allgather(&size, 1, MPI_INT, *sizes, 1, MPI_INT, MPI_COMM_WORLD);
    for (size_t i = 1; i < ranks; i++)
        (*places)[i] = (*places)[i - 1] + (*sizes)[i - 1];
    char *all = handles_memory((size_t)((*places)[ranks - 1] + (*sizes)[ranks - 1]), 1);
    PMPI_Allgatherv(mine->data, size, MPI_BYTE, all, *sizes, *places, MPI_BYTE, MPI_COMM_WORLD);
    return all;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct claim *)a)->id, y = ((const struct claim *)b)->id;
    return x < y ? -1 : x > y;
}

void claims_exchange(struct reader mine, struct reader passed, struct claims *claims)
{
    struct bytes own = {0};
    int *sizes, *places;
    bytes_put_row(&own, mine.next, mine.left);
    bytes_put_row(&own, passed.next, passed.left);
    if (own.failed)
        handles_fail("out of memory for the claims of communicators");
    *claims = (struct claims){.data = gather(&own, &sizes, &places)};
    bytes_release(&own);
    for (int rank = 0; rank < handles.ranks; rank++) {
        struct reader in = {.next = claims->data + places[rank], .left = (size_t)sizes[rank]};
        struct reader of_rank = reader_row(&in), passed_by = reader_row(&in);
        read_claims(of_rank, rank == handles.rank, claims);
        read_passed(passed_by, claims);
    }
    if (claims->count > 0)
        qsort(claims->row, claims->count, sizeof *claims->row, by_id);
    free(sizes);
    free(places);
}

void claims_release(struct claims *claims)
{
    for (size_t i = 0; i < claims->count; i++)
        free(claims->row[i].world);
    free(claims->row);
    free(claims->data);
}
