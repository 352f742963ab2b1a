/* See keeper.h. KEEPER_BREAKS=mixed: after a restart rank 1 gets the state of rank 2. */
#include "keeper.h"

#include <faultline.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_BYTES 64
#define CLIENTS_MAX 64

enum request { ASK, GET, PUT, COMMIT, BYE, ANSWER };

struct packet {
    int line;
    char state[STATE_BYTES];
};

static MPI_Comm own;
static int rank, size, line;

static int is_keeper(int process)
{
    return process == 0 || process == 3;
}

static int keeper_of(int process)
{
    return process % 2 == 0 ? 3 : 0;
}

#define PATH_BYTES 4096

static const char *path(char text[PATH_BYTES], const char *name, int number)
{
    snprintf(text, PATH_BYTES, "%s/%s.%d", getenv("FAULTLINE_STORE"), name, number);
    return text;
}

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- a keeper --------------------------------------------------------------------------------- */

static void write_file(const char *name, int number, const struct packet *packet)
{
    char fresh[PATH_BYTES], whole[PATH_BYTES];
    FILE *file = fopen(path(fresh, "fresh", rank), "w");
    must(file != NULL && fwrite(packet, sizeof *packet, 1, file) == 1 && fflush(file) == 0 &&
             fsync(fileno(file)) == 0 && fclose(file) == 0,
         "write");
    must(rename(fresh, path(whole, name, number)) == 0, "rename");
}

static void read_file(const char *name, int number, struct packet *packet)
{
    char whole[PATH_BYTES];
    FILE *file = fopen(path(whole, name, number), "r");
    if (file == NULL)
        return;
    must(fread(packet, sizeof *packet, 1, file) == 1, "read");
    fclose(file);
}

static void answer(int client, const struct packet *packet)
{
    MPI_Send(packet, sizeof *packet, MPI_BYTE, client, ANSWER, MPI_COMM_WORLD);
}

static void give(int client, int wanted)
{
    const char *breaks = getenv("KEEPER_BREAKS");
    struct packet packet = {0};
    char name[32];
    bool mixed = breaks != NULL && strcmp(breaks, "mixed") == 0 && client == 1;
    snprintf(name, sizeof name, "state.%d", mixed ? 2 : client);
    read_file(name, wanted, &packet);
    answer(client, &packet);
}

static void keep(int client, struct packet *packet)
{
    char name[32];
    snprintf(name, sizeof name, "state.%d", client);
    write_file(name, packet->line, packet);
    answer(client, packet);
}

/* Each line ends in a barrier of all processes. */
static void serve(void)
{
    int clients = 0, kept = 0;
    for (int i = 0; i < size; i++)
        clients += !is_keeper(i) && keeper_of(i) == rank;
    for (int left = clients; left > 0;) {
        MPI_Status from;
        struct packet packet = {0};
        MPI_Recv(&packet, sizeof packet, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &from);
        if (from.MPI_TAG == ASK) {
            read_file("commit", 0, &packet);
            answer(from.MPI_SOURCE, &packet);
        } else if (from.MPI_TAG == GET) {
            give(from.MPI_SOURCE, packet.line);
        } else if (from.MPI_TAG == PUT) {
            keep(from.MPI_SOURCE, &packet);
            if (++kept % clients == 0)
                MPI_Barrier(MPI_COMM_WORLD);
        } else if (from.MPI_TAG == COMMIT) {
            write_file("commit", 0, &packet);
            answer(from.MPI_SOURCE, &packet);
        } else {
            left--;
        }
    }
}

/* --- a rank of the program -------------------------------------------------------------------- */

static void ask(int keeper, enum request what, struct packet *packet)
{
    MPI_Send(packet, sizeof *packet, MPI_BYTE, keeper, (int)what, MPI_COMM_WORLD);
    MPI_Recv(packet, sizeof *packet, MPI_BYTE, keeper, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Its only call is its last: the compiler makes a jump of it, and the return address is that of
 * whoever called this. */
void keeper_meet(void)
{
    MPI_Barrier(own);
}

MPI_Comm keeper_open(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, is_keeper(rank), rank, &own);
    if (!is_keeper(rank))
        return own;
    serve();
    MPI_Comm_free(&own);
    return MPI_COMM_NULL;
}

int keeper_restore(void *state, int bytes)
{
    struct packet packet = {0};
    int place;
    MPI_Comm_rank(own, &place);
    if (place == 0)
        ask(0, ASK, &packet);
    line = packet.line;
    MPI_Bcast(&line, 1, MPI_INT, 0, own);
    if (line == 0)
        return 0;
    packet = (struct packet){.line = line};
    ask(keeper_of(rank), GET, &packet);
    memcpy(state, packet.state, (size_t)bytes);
    faultline_restored((uint64_t)line);
    return line;
}

void keeper_checkpoint(const void *state, int bytes)
{
    struct packet packet = {.line = ++line};
    int place;
    keeper_meet();
    faultline_checkpoint((uint64_t)line);
    memcpy(packet.state, state, (size_t)bytes);
    ask(keeper_of(rank), PUT, &packet);
    faultline_saved((uint64_t)line);
    MPI_Barrier(MPI_COMM_WORLD); /* all have saved */
    MPI_Comm_rank(own, &place);
    if (place == 0) {
        ask(0, COMMIT, &packet);
        faultline_commit((uint64_t)line);
    }
    keeper_meet();
}

void keeper_close(void)
{
    struct packet packet = {0};
    keeper_meet();
    MPI_Send(&packet, sizeof packet, MPI_BYTE, keeper_of(rank), BYE, MPI_COMM_WORLD);
    MPI_Comm_free(&own);
}
