/* See keep.h. */
#include "run/keep.h"

#include "base/regular_file.h"
#include "board/board.h"
#include "decisions/extract.h"
#include "system/path.h"
#include "system/status.h"
#include "trace/reader.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define READ_BYTES 65536

/* --- what a run is made of -------------------------------------------------------------------- */
/* 0: it cannot be read. */
static uint64_t hash_file(const char *path)
{
    static unsigned char data[READ_BYTES];
    FILE *file = regular_stream(path, LINKS_FOLLOWED, REGULAR_ANY, NULL);
    XXH3_state_t *state = file != NULL ? XXH3_createState() : NULL;
    uint64_t hash = 0;
    size_t length;
    if (state != NULL && XXH3_64bits_reset(state) == XXH_OK) {
        while ((length = fread(data, 1, sizeof data, file)) > 0)
            XXH3_64bits_update(state, data, length);
        if (!ferror(file))
            hash = XXH3_64bits_digest(state);
    }
    XXH3_freeState(state);
    if (file != NULL)
        fclose(file);
    return hash;
}

void run_identify_mpi(const char *folder, struct decisions_identity *identity)
{
    struct path path;
    struct board *board = NULL;
    if (path_format(&path, NULL, "%s/board", folder) != OK ||
        board_map(path.text, &board, NULL) != OK)
        return;
    if (board->library[0] != '\0')
        identity->mpi = hash_file(board->library);
    snprintf(identity->mpi_text, sizeof identity->mpi_text, "%.*s",
             (int)sizeof identity->mpi_text - 1, board->library_version);
    board_unmap(board);
}

void run_identify(const struct scenario *scenario, struct decisions_identity *identity)
{
    struct path path;
    memset(identity, 0, sizeof *identity);
    snprintf(identity->faultline, sizeof identity->faultline, "%s", FAULTLINE_VERSION);
    if (path_library(&path, NULL) == OK)
        identity->library = hash_file(path.text);
    if (path_protocol(scenario->protocol, scenario->file, &path, NULL) == OK)
        identity->protocol = hash_file(path.text);
    if (path_program(scenario->program, scenario->file, &path, NULL) == OK)
        identity->program = hash_file(path.text);
}

/* --- keeping ---------------------------------------------------------------------------------- */
enum error_code run_decisions(const struct run *run, const struct decisions *followed,
                              struct decisions *decisions, struct error *error)
{
    struct trace_set traces;
    struct decisions_identity identity;
    struct run_facts facts = run_facts_of(run);
    run_identify(run->scenario, &identity);
    run_identify_mpi(run->folder.text, &identity);
    enum error_code code = trace_set_open_run(run->folder.text, &traces, error);
    if (code == OK)
        code = decisions_extract(&traces, &facts, &identity, run->seed, followed, decisions, error);
    trace_set_release(&traces);
    return code;
}

enum error_code run_keep_decisions(const struct run *run, struct error *error)
{
    struct path path;
    struct decisions decisions = {0};
    enum error_code code = path_format(&path, error, "%s/" DECISIONS_FILE, run->folder.text);
    if (code == OK)
        code = run_decisions(run, NULL, &decisions, error);
    if (code == OK)
        code = decisions_write(path.text, &decisions, error);
    decisions_release(&decisions);
    return code;
}
