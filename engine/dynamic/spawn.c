/* MPI_Comm_spawn: more processes of the program that is run, forked where the first ones were. They
 * have run up to their first MPI call as those have; the arguments they are given are seen by those
 * that pass theirs to MPI_Init. */
#include "engine/dynamic/dynamic.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm parent = MPI_COMM_NULL;

/* --- the beginning ---------------------------------------------------------------------------- */

static void give_arguments(const struct birth *birth, int *argc, char ***argv)
{
    if (!argc || !argv || !*argv)
        return;
    char **given = calloc((size_t)birth->arguments + 2, sizeof *given);
    if (!given)
        engine_abort(MPI_ERR_NO_MEM);
    given[0] = (*argv)[0];
    for (int i = 0; i < birth->arguments; i++)
        given[i + 1] = birth->argument[i];
    *argc = birth->arguments + 1;
    *argv = given;
}

static void open_first_world(void)
{
    int32_t *world = malloc((size_t)engine->ranks * sizeof *world);
    if (!world)
        engine_abort(MPI_ERR_NO_MEM);
    for (int i = 0; i < engine->ranks; i++)
        world[i] = i;
    communicators_open(world, engine->ranks, engine_self);
    free(world);
}

void dynamic_begin(int *argc, char ***argv)
{
    const struct birth *birth = dynamic_common()->birth[engine_self];
    if (!birth) {
        open_first_world();
        return;
    }
    give_arguments(birth, argc, argv);
    communicators_open(birth->world, birth->size, birth->rank);
    local.Comm_dup(MPI_COMM_SELF, &parent);
    view_open(birth->family, 1, parent);
}

static int comm_get_parent(MPI_Comm *parent_comm)
{
    if (!parent_comm)
        return communicator_raise(MPI_COMM_WORLD, MPI_ERR_ARG);
    *parent_comm = parent != MPI_COMM_NULL && communicator_view(parent) ? parent : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* --- spawning --------------------------------------------------------------------------------- */

/* The root's arguments: `count` commands, and for each the number of processes and their
 * arguments. */
struct spawning {
    struct joining joining; /* first, so that the one leads to the other */
    int commands;
    char **command;
    char ***arguments; /* NULL: none; or per command, NULL: none */
    const int *processes;
    struct shared_communicator *family; /* of the root: what has been made; NULL: nothing */
};

/* The program itself, by the name of its file. */
static bool is_this_program(const char *command)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return false;
    self[length] = '\0';
    const char *mine = strrchr(self, '/'), *named = strrchr(command, '/');
    return mine && strcmp(mine + 1, named ? named + 1 : command) == 0;
}

static char *keep(const char *text)
{
    return strcpy(engine_allocate(strlen(text) + 1), text);
}

static void keep_arguments(struct birth *birth, char **arguments)
{
    while (arguments && arguments[birth->arguments])
        birth->arguments++;
    birth->argument = engine_allocate(((size_t)birth->arguments + 1) * sizeof(char *));
    for (int i = 0; i < birth->arguments; i++)
        birth->argument[i] = keep(arguments[i]);
}

static int how_many(const struct spawning *spawning)
{
    int all = 0;
    for (int i = 0; i < spawning->commands; i++)
        all += spawning->processes[i];
    return all;
}

/* The births of all new processes, numbered from `first` on. */
static void write_births(const struct spawning *spawning, int first, int all,
                         struct shared_communicator *family)
{
    int32_t *world = engine_allocate((size_t)all * sizeof *world);
    int at = 0;
    for (int i = 0; i < all; i++)
        world[i] = first + i;
    for (int i = 0; i < spawning->commands; i++)
        for (int j = 0; j < spawning->processes[i]; j++, at++) {
            struct birth *birth = engine_allocate(sizeof *birth);
            *birth = (struct birth){
                .world = world, .size = all, .rank = at, .family = shared_hold(family)};
            keep_arguments(birth, spawning->arguments ? spawning->arguments[i] : NULL);
            dynamic_common()->birth[first + at] = birth;
        }
}

static struct shared_communicator *spawn_children(struct joining *joining, int *side)
{
    struct spawning *spawning = (struct spawning *)joining;
    int all = how_many(spawning), first = engine->processes;
    if (all > engine->most_processes - first)
        engine_refuse("MPI_Comm_spawn", "there are too many processes");
    struct members *parents = view_members(joining->view, false), *children = members_new(all);
    *side = 0;
    if (!parents || !children)
        engine_abort(MPI_ERR_NO_MEM);
    for (int i = 0; i < all; i++)
        children->process[i] = first + i;
    struct shared_communicator *family = shared_hold(shared_make(parents, children));
    members_drop(parents);
    members_drop(children);
    write_births(spawning, first, all, family);
    engine_spawn(all);
    spawning->family = family;
    return family;
}

/* The error class of what the root says. */
static int check_root(const struct spawning *spawning)
{
    if (spawning->commands <= 0 || !spawning->command || !spawning->processes)
        return MPI_ERR_ARG;
    for (int i = 0; i < spawning->commands; i++) {
        if (spawning->processes[i] < 0 || !spawning->command[i])
            return MPI_ERR_ARG;
        if (!is_this_program(spawning->command[i]))
            engine_refuse("MPI_Comm_spawn", "it spawns no other program than the one that is run");
    }
    return how_many(spawning) > 0 ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* Where the root learns that it has failed, no new process can communicate with its parents. */
static void forsake(const struct spawning *spawning)
{
    if (!spawning->family)
        return;
    shared_revoke(spawning->family);
}

static int spawn(struct spawning *spawning, int root, MPI_Comm comm, MPI_Comm *intercomm,
                 int *errcodes)
{
    spawning->joining.leader = root;
    spawning->joining.name = "MPI_Comm_spawn";
    spawning->joining.meet = spawn_children;
    int result = inter_check(comm, root, intercomm, &spawning->joining.view);
    if (result != MPI_SUCCESS)
        return result;
    if (spawning->joining.view->rank == root)
        result = check_root(spawning);
    if (result != MPI_SUCCESS)
        return communicator_raise(comm, result);
    result = inter_join(&spawning->joining, intercomm);
    if (result != MPI_SUCCESS)
        forsake(spawning);
    if (result == MPI_SUCCESS && errcodes != MPI_ERRCODES_IGNORE) {
        int children = communicator_view(*intercomm)->peers_count;
        for (int i = 0; i < children; i++)
            errcodes[i] = MPI_SUCCESS;
    }
    return result;
}

static int comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                      MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    (void)info;
    char *one = (char *)command, **arguments = argv;
    struct spawning spawning = {
        .commands = 1, .command = &one, .arguments = &arguments, .processes = &maxprocs};
    return spawn(&spawning, root, comm, intercomm, array_of_errcodes);
}

static int comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                               const int array_of_maxprocs[], const MPI_Info array_of_info[],
                               int root, MPI_Comm comm, MPI_Comm *intercomm,
                               int array_of_errcodes[])
{
    (void)array_of_info;
    struct spawning spawning = {.commands = count,
                                .command = array_of_commands,
                                .arguments = array_of_argv,
                                .processes = array_of_maxprocs};
    return spawn(&spawning, root, comm, intercomm, array_of_errcodes);
}

void spawn_fill(struct library *table)
{
    table->Comm_get_parent = comm_get_parent;
    table->Comm_spawn = comm_spawn;
    table->Comm_spawn_multiple = comm_spawn_multiple;
}
