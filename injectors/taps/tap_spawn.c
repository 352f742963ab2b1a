/* See tap_spawn.h. */
#include "injectors/taps/tap_spawn.h"

#include "base/mix.h"
#include "injectors/record/schedule.h"
#include "injectors/taps/tap_communicator.h"
#include "injectors/taps/tap_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_LINE_BYTES                                                                         \
    262144 /* of a parent: as much as a variable of the environment and more */
#define NUMBER_BYTES 16

/* The command line of this process's own parent, up to what it is to start. */
struct parent_line {
    size_t bytes;
    char text[COMMAND_LINE_BYTES]; /* words, each ended by a null character */
};

/* A command that starts another one, as MPI_Comm_spawn takes it. word[0] is the command. */
struct wrapped {
    size_t count;
    char **word; /* NULL-terminated; the words are borrowed */
};

/* --- the command ------------------------------------------------------------------------------ */

static bool read_parent(struct parent_line *line)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", runtime_parent());
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    line->bytes = fread(line->text, 1, sizeof line->text, file);
    bool whole = feof(file) != 0;
    fclose(file);
    return whole && line->bytes > 0 && line->text[line->bytes - 1] == '\0';
}

static size_t count_words(char *const *words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    return count;
}

static void add(struct wrapped *wrapped, const char *word)
{
    wrapped->word[wrapped->count++] = (char *)(uintptr_t)word;
}

/* The parent's words up to "--"; those of an earlier spawn hold no more. */
static void add_parent(struct wrapped *wrapped, struct parent_line *line)
{
    bool skip = false;
    for (char *word = line->text; word < line->text + line->bytes; word += strlen(word) + 1) {
        if (strcmp(word, "--") == 0)
            return;
        bool first = strcmp(word, "--" FIRST_OPTION) == 0;
        if (!first && !skip)
            add(wrapped, word);
        skip = first;
    }
}

/* false: no memory. `number` and `parents` (PARENTS_ENVIRONMENT=...) are for the new process.
 */
static bool wrap(struct wrapped *wrapped, struct parent_line *line, const char *number,
                 const char *parents, const char *command, char *const *arguments)
{
    size_t words = 8 + count_words(arguments);
    for (size_t i = 0; i < line->bytes; i++)
        words += line->text[i] == '\0';
    *wrapped = (struct wrapped){.word = calloc(words, sizeof(char *))};
    if (!wrapped->word)
        return false;
    add_parent(wrapped, line);
    add(wrapped, "--" FIRST_OPTION);
    add(wrapped, number);
    add(wrapped, "--env");
    add(wrapped, parents);
    add(wrapped, "--");
    add(wrapped, command);
    for (size_t i = 0; arguments && arguments[i]; i++)
        add(wrapped, arguments[i]);
    return true;
}

/* --- what new processes get, and what is learnt of them --------------------------------------- */

/* "NAME=0,2,3"; owned by the caller. NULL: no memory. */
static char *write_parents(const struct group *parents)
{
    size_t used = sizeof PARENTS_ENVIRONMENT,
           room = used + (size_t)parents->size * NUMBER_BYTES + 1;
    char *text = malloc(room);
    if (!text)
        return NULL;
    strcpy(text, PARENTS_ENVIRONMENT "=");
    for (int i = 0; i < parents->size; i++)
        used += (size_t)snprintf(text + used, room - used, i > 0 ? ",%d" : "%d",
                                 group_member(parents, i));
    return text;
}

/* Who is on the other side: `first` and those after it, or those of `numbers`. */
static void learn(MPI_Comm intercomm, int first, const char *numbers)
{
    MPI_Group handle;
    int size = 0;
    library.Comm_remote_group(intercomm, &handle);
    library.Group_size(handle, &size);
    int *members = calloc((size_t)size + 1, sizeof *members);
    for (int i = 0; members && i < size; i++) {
        char *end = NULL;
        members[i] = numbers ? (int)strtol(numbers, &end, 10) : first + i;
        if (numbers)
            numbers = *end == ',' ? end + 1 : end;
    }
    if (members)
        group_learn(handle, members, size);
    else
        library.Group_free(&handle);
    free(members);
}

int spawn_number(int rank)
{
    return getenv(PARENTS_ENVIRONMENT) ? runtime_number() : rank;
}

void spawn_open(void)
{
    MPI_Comm parent = handles.COMM_NULL;
    const char *numbers = getenv(PARENTS_ENVIRONMENT);
    if (!numbers)
        return;
    library_begin();
    library.Comm_get_parent(&parent);
    if (parent != handles.COMM_NULL)
        learn(parent, 0, numbers);
    library_end();
}

/* --- the calls -------------------------------------------------------------------------------- */

/* One call. The root alone has commands, and gives numbers; the others find those that it gave. */
struct spawning {
    struct communicator *on;
    bool recorded;
    uint64_t born_in;
    int first; /* of the root; -1: not given */
    char number[NUMBER_BYTES];
    char *parents;
    struct parent_line *line;
};

static void begin(struct spawning *spawning, MPI_Comm comm, int root, int processes)
{
    struct communicator *on = communicator_find(LEVEL_WIRE, comm);
    *spawning = (struct spawning){.on = on, .first = -1};
    spawning->recorded = schedule == NULL && on->id != 0 && runtime_parent() != 0;
    spawning->born_in = mix_two(on->id, 1 + atomic_fetch_add(&on->spawned, 1)) | 1;
    if (!spawning->recorded || on->rank != root)
        return;
    spawning->parents = write_parents(on->local);
    spawning->line = malloc(sizeof *spawning->line);
    if (spawning->parents && spawning->line && read_parent(spawning->line))
        spawning->first = runtime_take_newcomers(processes, spawning->born_in);
    snprintf(spawning->number, sizeof spawning->number, "%d", spawning->first);
}

/* Whoever has no number of ours to give lets the library do what it would. */
static bool wrap_one(struct spawning *spawning, struct wrapped *wrapped, const char *command,
                     char *const *arguments)
{
    return spawning->first >= 0 && command &&
           wrap(wrapped, spawning->line, spawning->number, spawning->parents, command, arguments);
}

static int finish(struct spawning *spawning, const MPI_Comm *intercomm, int result)
{
    if (spawning->recorded && result == MPI_SUCCESS) {
        int first = runtime_find_newcomers(spawning->born_in);
        if (first >= 0)
            learn(*intercomm, first, NULL);
    }
    free(spawning->parents);
    free(spawning->line);
    return result;
}

int spawn_command(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                  MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct spawning spawning;
    struct wrapped wrapped = {0};
    begin(&spawning, comm, root, maxprocs);
    bool ours = wrap_one(&spawning, &wrapped, command, argv);
    int result =
        library.Comm_spawn(ours ? wrapped.word[0] : command, ours ? wrapped.word + 1 : argv,
                           maxprocs, info, root, comm, intercomm, array_of_errcodes);
    free(wrapped.word);
    return finish(&spawning, intercomm, result);
}

/* What is significant at the root alone may be anything elsewhere. */
int spawn_commands(int count, char *array_of_commands[], char **array_of_argv[],
                   const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                   MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct spawning spawning;
    bool is_root = communicator_find(LEVEL_WIRE, comm)->rank == root;
    int commands = is_root && count > 0 ? count : 0, processes = 0;
    for (int i = 0; i < commands; i++)
        processes += array_of_maxprocs[i];
    begin(&spawning, comm, root, processes);
    struct wrapped *wrapped = calloc((size_t)commands + 1, sizeof *wrapped);
    char **command = calloc((size_t)commands + 1, sizeof *command);
    char ***argument = calloc((size_t)commands + 1, sizeof *argument);
    bool ours = wrapped && command && argument && commands > 0;
    for (int i = 0; ours && i < commands; i++) {
        ours = wrap_one(&spawning, &wrapped[i], array_of_commands[i],
                        array_of_argv ? array_of_argv[i] : NULL);
        command[i] = ours ? wrapped[i].word[0] : NULL;
        argument[i] = ours ? wrapped[i].word + 1 : NULL;
    }
    int result = library.Comm_spawn_multiple(
        count, ours ? command : array_of_commands, ours ? argument : array_of_argv,
        array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes);
    for (int i = 0; wrapped && i < commands; i++)
        free(wrapped[i].word);
    free(wrapped);
    free(command);
    free(argument);
    return finish(&spawning, intercomm, result);
}
