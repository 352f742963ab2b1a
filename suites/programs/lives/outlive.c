/* Goes on when ranks die, with what faultline_lives.h tells and no ULFM: those who live agree on
 * who is dead, make a communicator without the dead and do the round again that was interrupted.
 * The last processes of the job may be no ranks but in reserve: each takes the place of a dead one
 * when it is needed. Where no more are left the job goes on with fewer ranks.
 *
 * A round is a token that goes round the ranks, and a sum over them. No call waits for somebody who
 * may be dead: everything is polled, but MPI_Comm_create_group, which fails when a member dies. */
#include "faultline.h"
#include "faultline_lives.h"
#include "program.h"

/* How many processes are in reserve, the last ones of the job. Of protocols/standby; without it
 * there are none. */
int standby_processes(void) __attribute__((weak));

#define PROCESSES_MOST 64
#define PAUSE_US 50
#define NO_RANK (-1)

/* In MPI_COMM_WORLD, and in the communicator of those who live. */
enum { TAG_STATE = 1, TAG_TOKEN = 2 };

/* What a process says of itself to all who live. */
struct state {
    int64_t dead;  /* whom it knows to be dead: a bit for each process */
    int64_t role;  /* the rank that it is */
    int64_t round; /* that it does next */
    int64_t done;  /* 1: it has done its work */
};
#define STATE_NUMBERS 4

static struct {
    int self, processes, ranks; /* ranks: of the application, when it began */
    int deaths;
    int64_t missing; /* of the dead, those that were ranks: only they are missed */
    int64_t agreed;  /* `missing` when comm was made */
    struct state state[PROCESSES_MOST]; /* by process: of this one as it is, of others the newest */
    int64_t
        given[PROCESSES_MOST]; /* by process: `missing` when it was given a place; 0: it was not */
    MPI_Comm comm;             /* of the ranks that live */
    int place, members;        /* in it */
    uint64_t sum;              /* of the newest round */
} job;

static struct state *own(void)
{
    return &job.state[job.self];
}

static bool is_dead(int process)
{
    return (own()->dead >> process & 1) != 0;
}

/* --- what processes say of themselves --------------------------------------------------------- */

/* Nobody waits for the requests: who is to receive may be dead. So the buffer stays. */
static void send_state_to_all(void)
{
    struct state *copy = program_memory(1, sizeof *copy);
    *copy = *own();
    for (int process = 0; process < job.processes; process++) {
        MPI_Request request;
        if (process != job.self && !is_dead(process) &&
            MPI_Isend(copy, STATE_NUMBERS, MPI_INT64_T, process, TAG_STATE, MPI_COMM_WORLD,
                      &request) == MPI_SUCCESS)
            MPI_Request_free(&request);
    }
}

/* Of the ranks as this process knows them. */
static int64_t ranks_among(int64_t processes)
{
    for (int process = 0; process < job.processes; process++)
        if (job.state[process].role == NO_RANK)
            processes &= ~((int64_t)1 << process);
    return processes;
}

/* A process in reserve may have said so for the last time after it was given a place. If it knows
 * of the death of a further rank, it did not take that place, and all give places anew. */
static void hear(int process)
{
    struct state *state = &job.state[process];
    int64_t role = state->role;
    MPI_Recv(state, STATE_NUMBERS, MPI_INT64_T, process, TAG_STATE, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (state->role == NO_RANK && (ranks_among(state->dead) & ~job.given[process]) == 0)
        state->role = role;
}

static void hear_all(void)
{
    for (int flag = 1; flag;) {
        MPI_Status status;
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_STATE, MPI_COMM_WORLD, &flag, &status) != MPI_SUCCESS)
            return; /* somebody has died, of which this process will learn */
        if (flag)
            hear(status.MPI_SOURCE);
    }
}

/* Informs the others, too. True: a rank has died since the call before. Nobody goes back when a
 * process in reserve dies: perhaps not all learn of it before the same step. */
static bool hears_of_deaths(void)
{
    int dead[PROCESSES_MOST];
    int64_t missing = job.missing;
    int deaths = faultline_deaths(dead, PROCESSES_MOST);
    if (deaths == job.deaths)
        return false;
    for (; job.deaths < deaths; job.deaths++) {
        int64_t bit = (int64_t)1 << dead[job.deaths];
        own()->dead |= bit;
        if (job.state[dead[job.deaths]].role != NO_RANK)
            job.missing |= bit;
    }
    send_state_to_all();
    return job.missing != missing;
}

/* Once more round a loop that waits for what others say. */
static void listen(void)
{
    hear_all();
    if (!hears_of_deaths())
        program_compute(PAUSE_US);
}

/* The process knows of all who are missing. */
static bool knows_missing(int process)
{
    return (job.state[process].dead & job.missing) == job.missing;
}

static bool all_know_missing(void)
{
    for (int process = 0; process < job.processes; process++)
        if (!is_dead(process) && !knows_missing(process))
            return false;
    return true;
}

/* A rank has died since, and some other that has not done its work goes back. */
static bool one_goes_back(void)
{
    if (job.missing == job.agreed)
        return false;
    for (int process = 0; process < job.processes; process++)
        if (!is_dead(process) && job.state[process].role != NO_RANK && !job.state[process].done &&
            knows_missing(process))
            return true;
    return false;
}

static bool all_are_done(void)
{
    for (int process = 0; process < job.processes; process++)
        if (!is_dead(process) && job.state[process].role != NO_RANK && !job.state[process].done)
            return false;
    return true;
}

/* --- who is which rank --------------------------------------------------------------------------
 */

static int process_of(int rank)
{
    for (int process = 0; process < job.processes; process++)
        if (!is_dead(process) && job.state[process].role == rank)
            return process;
    return -1;
}

/* The rank that is furthest behind says where all go on. */
static int64_t first_round(void)
{
    int64_t first = INT64_MAX;
    for (int process = 0; process < job.processes; process++)
        if (!is_dead(process) && job.state[process].role != NO_RANK &&
            job.state[process].round < first)
            first = job.state[process].round;
    return first == INT64_MAX ? 0 : first;
}

/* Ranks without a process go to the processes in reserve, both in order. Each has said only which
 * rank it is itself, so all come to the same, whatever each of them had agreed on before. */
static void take_places(void)
{
    int64_t round = first_round();
    for (int rank = 0; rank < job.ranks; rank++) {
        int taker = process_of(rank) < 0 ? process_of(NO_RANK) : -1;
        if (process_of(rank) < 0 && taker < 0)
            faultline_without((uint64_t)rank);
        if (taker >= 0) {
            job.state[taker].role = rank;
            job.given[taker] = job.missing;
        }
        if (taker == job.self) {
            faultline_becomes((uint64_t)rank);
            faultline_restored(0); /* it gets all that it has to know */
        }
    }
    for (int process = 0; process < job.processes; process++)
        job.state[process].round = round;
}

/* Of the ranks in order. True: there is one, and this process is in it if it is a rank. */
static bool make_communicator(void)
{
    MPI_Group world, alive;
    int process[PROCESSES_MOST];
    job.members = 0;
    for (int rank = 0; rank < job.ranks; rank++)
        if (process_of(rank) >= 0)
            process[job.members++] = process_of(rank);
    if (own()->role == NO_RANK)
        return true;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, job.members, process, &alive);
    bool made = MPI_Comm_create_group(MPI_COMM_WORLD, alive, 0, &job.comm) == MPI_SUCCESS;
    MPI_Group_free(&world);
    MPI_Group_free(&alive);
    if (made) {
        MPI_Comm_set_errhandler(job.comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(job.comm, &job.place);
    }
    return made;
}

/* All who live come here when somebody has died. The communicator before is left as it is: the dead
 * would have to free it, too. */
static void restart(void)
{
    bool made = false;
    while (!made) {
        own()->done = 0;
        send_state_to_all();
        while (!all_know_missing())
            listen();
        job.agreed = job.missing;
        take_places();
        made = make_communicator();
        while (!made && !hears_of_deaths()) /* why it could not be made */
            program_compute(PAUSE_US);
    }
}

/* --- the work --------------------------------------------------------------------------------- */

/* False: somebody has died meanwhile, and the request is left as it is; what it would still write
 * to is never used again. */
static bool completes(MPI_Request *request)
{
    int flag = 0;
    while (!flag) {
        if (MPI_Test(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            flag = 0; /* because of a death, of which this process will learn */
        if (hears_of_deaths())
            return false;
        if (!flag)
            program_compute(PAUSE_US);
    }
    return true;
}

struct numbers {
    uint64_t sent, got, part, sum;
};

/* Once round all ranks. */
static bool pass_token(struct numbers *numbers)
{
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int before = (job.place + job.members - 1) % job.members;
    numbers->sent = (uint64_t)own()->round;
    MPI_Irecv(&numbers->got, 1, MPI_UINT64_T, before, TAG_TOKEN, job.comm, &request[0]);
    MPI_Isend(&numbers->sent, 1, MPI_UINT64_T, (job.place + 1) % job.members, TAG_TOKEN, job.comm,
              &request[1]);
    if (!completes(&request[0]) || !completes(&request[1]))
        return false;
    if (numbers->got != numbers->sent) {
        fprintf(stderr, "outlive: the token of round %llu came in round %llu\n",
                (unsigned long long)numbers->got, (unsigned long long)numbers->sent);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return true;
}

/* The ranks that live share the work of all. */
static bool add_up(struct numbers *numbers)
{
    MPI_Request request = MPI_REQUEST_NULL;
    for (int part = job.place; part < job.ranks; part += job.members)
        numbers->part += program_mix((uint64_t)own()->round, (uint64_t)part);
    MPI_Iallreduce(&numbers->part, &numbers->sum, 1, MPI_UINT64_T, MPI_SUM, job.comm, &request);
    return completes(&request);
}

/* False: somebody has died meanwhile. */
static bool do_round(long compute_us)
{
    struct numbers *numbers = program_memory(1, sizeof *numbers);
    program_compute(compute_us);
    if (!pass_token(numbers) || !add_up(numbers))
        return false;
    job.sum = numbers->sum;
    own()->round++;
    free(numbers);
    return true;
}

/* True: all have done their work. False: somebody has died before. */
static bool work(long rounds, long compute_us)
{
    if (own()->role == NO_RANK) {
        do
            if (faultline_await_death(job.deaths) == FAULTLINE_JOB_IS_OVER)
                return true;
        while (!hears_of_deaths());
    } else {
        while (own()->round < rounds)
            if (!do_round(compute_us))
                return false;
        own()->done = 1;
        send_state_to_all();
    }
    while (!all_are_done() && !one_goes_back())
        listen();
    return all_are_done();
}

static void begin(int reserve)
{
    job.ranks = job.processes - reserve;
    job.comm = MPI_COMM_NULL;
    for (int process = 0; process < job.processes; process++)
        job.state[process] = (struct state){.role = process < job.ranks ? process : NO_RANK};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static void run(long rounds, long compute_us)
{
    do
        restart();
    while (!work(rounds, compute_us));
    if (own()->role == NO_RANK)
        return;
    faultline_result("sum", &job.sum, sizeof job.sum);
    if (job.place == 0)
        printf("outlive: %ld rounds, last sum %016llx\n", rounds, (unsigned long long)job.sum);
}

int main(int argc, char **argv)
{
    long iterations = 20, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000, "rounds"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work in each"},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.self);
    MPI_Comm_size(MPI_COMM_WORLD, &job.processes);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "outlive", options, sizeof options / sizeof *options) &&
        program_ranks("outlive", 1) && job.processes <= PROCESSES_MOST) {
        begin(standby_processes ? standby_processes() : 0);
        run(iterations, compute_us);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
