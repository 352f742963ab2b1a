/* The world is repaired after a death, in the mode that was chosen. */
#include "ft_mpi.h"

void ft_mpi_note_missing(MPI_Comm alive)
{
    MPI_Group before, now;
    PMPI_Comm_group(ft_mpi.world.comm, &before);
    PMPI_Comm_group(alive, &now);
    for (int number = 0; number < ft_mpi.world.size; number++) {
        int place = ft_mpi.world.place[number];
        if (place == BLANK)
            continue;
        PMPI_Group_translate_ranks(before, 1, &ft_mpi.world.place[number], now, &place);
        if (place == MPI_UNDEFINED)
            faultline_without((uint64_t)ft_mpi.world.first[number]);
    }
    PMPI_Group_free(&before);
    PMPI_Group_free(&now);
}

/* Everybody keeps its number; who is not in `alive` leaves a blank. */
static struct world with_blanks(MPI_Comm alive)
{
    struct world next = ft_mpi.world;
    MPI_Group before, now;
    PMPI_Comm_group(ft_mpi.world.comm, &before);
    PMPI_Comm_group(alive, &now);
    next.comm = alive;
    for (int number = 0; number < next.size; number++) {
        if (next.place[number] == BLANK)
            continue;
        PMPI_Group_translate_ranks(before, 1, &ft_mpi.world.place[number], now,
                                   &next.place[number]);
        if (next.place[number] == MPI_UNDEFINED)
            next.place[number] = BLANK;
    }
    PMPI_Group_free(&before);
    PMPI_Group_free(&now);
    return next;
}

/* Numbers are those in `alive`. */
static struct world without_holes(MPI_Comm alive)
{
    struct world blanks = with_blanks(alive), next = {.comm = alive};
    for (int number = 0; number < blanks.size; number++) {
        if (blanks.place[number] == BLANK)
            continue;
        next.place[next.size] = next.size;
        next.first[next.size++] = blanks.first[number];
    }
    PMPI_Comm_rank(alive, &next.rank);
    return next;
}

void ft_mpi_note_world(void)
{
    const struct world *world = &ft_mpi.world;
    faultline_members((uint64_t)MPI_COMM_WORLD, world->first, world->size, world->rank);
    faultline_repaired(ft_mpi_modes[ft_mpi.mode], (uint64_t)world->rank);
}

static bool make_world(MPI_Comm alive, struct world *next)
{
    MPI_Comm whole;
    if (ft_mpi.mode == MODE_REPLACE) {
        if (!ft_mpi_replace(alive, &whole))
            return false;
        *next = ft_mpi.world;
        next->comm = whole;
        return true;
    }
    *next = ft_mpi.mode == MODE_BLANK ? with_blanks(alive) : without_holes(alive);
    return ft_mpi_agree(alive, true);
}

void ft_mpi_repair(void)
{
    struct world next;
    MPI_Comm alive, before = ft_mpi.world.comm;
    for (bool done = false; !done; before = alive) {
        if (PMPIX_Comm_shrink(before, &alive) != MPI_SUCCESS)
            ft_mpi_give_up("MPIX_Comm_shrink failed");
        faultline_phase("ft_mpi:shrunk");
        if (ft_mpi.mode != MODE_REPLACE)
            ft_mpi_note_missing(alive);
        done = make_world(alive, &next);
    }
    ft_mpi.world = next;
    ft_mpi_note_world();
}
