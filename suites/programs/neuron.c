/* A network of leaky integrate-and-fire neurons, spread over the ranks. In each step every neuron's
 * potential leaks and takes in the spikes of the step before; those above the threshold fire and
 * rest. Ranks tell each other who fired: how many (Allgather), then which (Allgatherv). */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

#define THRESHOLD 1.0
#define LEAK 0.9
#define REST_STEPS 3
#define SYNAPSES 8 /* neurons that one spike reaches */

struct network {
    int rank;
    int ranks;
    int size;           /* neurons of the whole network */
    int first;          /* number of the first own neuron */
    int count;          /* own neurons */
    double *potential;  /* count */
    double *input;      /* count: what the last spikes brought */
    int32_t *resting;   /* count: steps still to rest */
    int32_t *fired;     /* count: own neurons that fire in this step */
    int32_t *everybody; /* size: all that fire in this step */
    int *counts;        /* ranks */
    int *offsets;       /* ranks */
    uint64_t spikes;    /* of the whole network, so far */
    uint64_t step;
};

/* A fixed, thorough mixing of the bits: the network is wired by it, the same in every run. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static double fraction(uint64_t value)
{
    return (double)(mix(value) >> 11) / 9007199254740992.0; /* 2 to the 53rd */
}

static void network_init(struct network *network, int size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &network->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &network->ranks);
    network->size = size;
    network->first = (int)((long)size * network->rank / network->ranks);
    network->count = (int)((long)size * (network->rank + 1) / network->ranks) - network->first;
    network->spikes = network->step = 0;
    size_t count = (size_t)network->count, ranks = (size_t)network->ranks;
    network->potential = program_memory(count, sizeof(double));
    network->input = program_memory(count, sizeof(double));
    network->resting = program_memory(count, sizeof(int32_t));
    network->fired = program_memory(count, sizeof(int32_t));
    network->everybody = program_memory((size_t)size, sizeof(int32_t));
    network->counts = program_memory(ranks, sizeof(int));
    network->offsets = program_memory(ranks, sizeof(int));
    for (size_t i = 0; i < count; i++)
        network->potential[i] = fraction((uint64_t)network->first + i);
}

static void network_release(struct network *network)
{
    free(network->potential);
    free(network->input);
    free(network->resting);
    free(network->fired);
    free(network->everybody);
    free(network->counts);
    free(network->offsets);
}

/* Lets the own neurons leak, take in and fire; returns how many fired. */
static int integrate(struct network *network)
{
    int fired = 0;
    for (int i = 0; i < network->count; i++) {
        uint64_t neuron = (uint64_t)(network->first + i);
        double current = 0.2 * fraction(neuron << 32 | network->step);
        network->potential[i] = LEAK * network->potential[i] + current + network->input[i];
        network->input[i] = 0;
        if (network->resting[i] > 0) {
            network->resting[i]--;
            network->potential[i] = 0;
        } else if (network->potential[i] >= THRESHOLD) {
            network->resting[i] = REST_STEPS;
            network->potential[i] = 0;
            network->fired[fired++] = (int32_t)neuron;
        }
    }
    return fired;
}

/* After it everybody[] lists all that fired, in the order of their numbers; returns how many. */
static int exchange_spikes(struct network *network, int fired)
{
    MPI_Allgather(&fired, 1, MPI_INT, network->counts, 1, MPI_INT, MPI_COMM_WORLD);
    int all = 0;
    for (int rank = 0; rank < network->ranks; rank++) {
        network->offsets[rank] = all;
        all += network->counts[rank];
    }
    MPI_Allgatherv(network->fired, fired, MPI_INT32_T, network->everybody, network->counts,
                   network->offsets, MPI_INT32_T, MPI_COMM_WORLD);
    return all;
}

/* Adds up in the order of everybody[], so that the sums are the same in every run. */
static void take_in(struct network *network, int all)
{
    for (int i = 0; i < all; i++)
        for (uint64_t synapse = 0; synapse < SYNAPSES; synapse++) {
            uint64_t wire = (uint64_t)network->everybody[i] * SYNAPSES + synapse;
            int target = (int)(mix(wire) % (uint64_t)network->size) - network->first;
            if (target >= 0 && target < network->count)
                network->input[target] += 0.4 * fraction(~wire) - 0.1;
        }
}

static void simulate(struct network *network, long steps, long compute_us)
{
    size_t count = (size_t)network->count;
    checkpoint_register("step", &network->step, sizeof network->step);
    checkpoint_register("spikes", &network->spikes, sizeof network->spikes);
    checkpoint_register("resting", network->resting, count * sizeof(int32_t));
    checkpoint_register("input", network->input, count * sizeof(double));
    checkpoint_register("potential", network->potential, count * sizeof(double));
    checkpoint_restore();

    while (network->step < (uint64_t)steps) {
        int all = exchange_spikes(network, integrate(network));
        take_in(network, all);
        program_compute(compute_us);
        network->spikes += (uint64_t)all;
        network->step++;
        potential_checkpoint();
    }

    faultline_result("spikes", &network->spikes, sizeof network->spikes);
    faultline_result("potential", network->potential, count * sizeof(double));
    if (network->rank == 0)
        printf("neuron: %ld steps, %llu spikes\n", steps, (unsigned long long)network->spikes);
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 256, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "steps"},
        {"size", &size, 16, 1048576, "neurons"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "neuron", options, sizeof options / sizeof *options)) {
        struct network network;
        network_init(&network, (int)size);
        simulate(&network, iterations, compute_us);
        network_release(&network);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
