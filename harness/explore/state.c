/* The state of a search as a file: what it is of, in text; then numbers and the structs of this
 * build, which is named. See search.h. */
#include "explore/search.h"

#include "base/memory.h"
#include "base/mix.h"
#include "base/regular_file.h"
#include "base/whole_file.h"
#include "run/keep.h"
#include "script/lua_text.h"
#include "system/status.h"
#include "trace/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 1024
#define MOST UINT32_MAX

/* Of everything that the scenario says. */
static uint64_t hash_scenario(const struct scenario *scenario)
{
    char *text = NULL;
    size_t bytes = 0;
    uint64_t hash = 0;
    FILE *out = memory_stream(&text, &bytes);
    (void)scenario_write_lua(out, scenario, NULL, NULL); /* into memory: it cannot fail */
    memory_stream_end(out);
    for (size_t i = 0; i < bytes; i++)
        hash = mix_two(hash, (unsigned char)text[i]);
    free(text);
    return hash;
}

/* What has to be the same: a line. */
static void describe(const struct search *search, char text[TEXT_BYTES])
{
    const struct options *o = &search->options;
    const struct scenario *scenario = search->scenario;
    struct decisions_identity made_of;
    run_identify(scenario, &made_of);
    snprintf(
        text, TEXT_BYTES,
        "explore 3 %s sizes %zu %zu crashes %d losses %d polls %d preemptions %d all-orders %d "
        "scenario %016" PRIx64 " program %016" PRIx64 " protocol %016" PRIx64
        " Faultline's library %016" PRIx64 " name \"%.300s\"\n",
        FAULTLINE_VERSION, sizeof(struct plan_step), sizeof(struct alike), o->crashes, o->losses,
        o->polls, o->preemptions, o->all_orders, hash_scenario(scenario), made_of.program,
        made_of.protocol, made_of.library, scenario->name);
}

static void put(FILE *file, const void *data, size_t bytes)
{
    fwrite(data, bytes, 1, file);
}

static void put_part(FILE *file, const struct part *part)
{
    struct part plain = *part;
    plain.scenario = NULL;
    plain.running = false;
    plain.tree = NULL;
    plain.places.place = NULL;
    bool has_tree = part->tree != NULL;
    put(file, &plain, sizeof plain);
    fwrite(part->places.place, sizeof *part->places.place, part->places.count, file);
    put(file, &has_tree, sizeof has_tree);
    if (has_tree)
        tree_save(part->tree, file);
}

enum error_code state_save(struct search *search, struct error *error)
{
    char text[TEXT_BYTES];
    struct path path;
    struct whole_file file;
    enum error_code code = path_format(&path, error, "%s/" STATE_FILE, search->folder.text);
    if (code == OK)
        code = whole_file_begin(&file, path.text, WHOLE_OURS, error);
    if (code != OK)
        return code;
    describe(search, text);
    fputs(text, file.out);
    put(file.out, &search->runs, sizeof search->runs);
    put(file.out, &search->next_folder, sizeof search->next_folder);
    put(file.out, &search->outcomes.count, sizeof search->outcomes.count);
    fwrite(search->outcomes.alike, sizeof *search->outcomes.alike, search->outcomes.count,
           file.out);
    put(file.out, &search->states.count, sizeof search->states.count);
    fwrite(search->states.state, sizeof *search->states.state, search->states.count, file.out);
    put(file.out, &search->count, sizeof search->count);
    for (size_t i = 0; i < search->count; i++)
        put_part(file.out, &search->part[i]);
    put(file.out, STATE_FILE, sizeof STATE_FILE); /* the end */
    search->saved_ns = clock_monotonic_ns();
    return whole_file_end(&file, OK, error);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool get(FILE *file, void *data, size_t bytes)
{
    return fread(data, bytes, 1, file) == 1;
}

/* A list: its length, then its things, into memory of the caller's. */
static bool get_list(FILE *file, void **list, size_t *count, size_t *room, size_t bytes)
{
    size_t wanted;
    if (!get(file, &wanted, sizeof wanted) || wanted > MOST)
        return false;
    for (*count = 0; *count < wanted; (*count)++) {
        *list = memory_room(*list, *count, room, bytes);
        if (!get(file, (char *)*list + *count * bytes, bytes))
            return false;
    }
    return true;
}

static bool get_part(FILE *file, struct search *search, struct error *error)
{
    struct part plain;
    bool has_tree;
    if (!get(file, &plain, sizeof plain) ||
        (search->count > 0 ? plain.above >= search->count : plain.deaths != 0))
        return false;
    part_add(search, plain.above, search->count > 0 ? &plain.death : NULL);
    struct part *part = &search->part[search->count - 1];
    part->over = plain.over;
    part->idle = plain.idle;
    part->counts = plain.counts;
    part->places.can_lose = plain.places.can_lose;
    for (size_t i = 0; i < plain.places.count; i++) {
        struct places *places = &part->places;
        places->place =
            memory_room(places->place, places->count, &places->room, sizeof *places->place);
        if (!get(file, &places->place[places->count++], sizeof *places->place))
            return false;
    }
    if (!get(file, &has_tree, sizeof has_tree))
        return false;
    if (!has_tree)
        return true;
    struct tree_limits limits = exploration_limits(search);
    return tree_load(file, &limits, &part->tree, error) == OK;
}

static bool get_all(FILE *file, struct search *search, struct error *error)
{
    char end[sizeof STATE_FILE];
    size_t parts;
    bool good = get(file, &search->runs, sizeof search->runs) &&
                get(file, &search->next_folder, sizeof search->next_folder) &&
                get_list(file, (void **)&search->outcomes.alike, &search->outcomes.count,
                         &search->outcomes.room, sizeof *search->outcomes.alike) &&
                get_list(file, (void **)&search->states.state, &search->states.count,
                         &search->states.room, sizeof *search->states.state) &&
                get(file, &parts, sizeof parts);
    for (size_t i = 0; good && i < parts; i++)
        good = get_part(file, search, error);
    return good && get(file, end, sizeof end) && memcmp(end, STATE_FILE, sizeof end) == 0;
}

enum error_code state_load(struct search *search, struct error *error)
{
    char text[TEXT_BYTES], line[TEXT_BYTES] = "";
    struct path path;
    struct error inner = {0};
    enum error_code code = path_format(&path, error, "%s/" STATE_FILE, search->folder.text);
    if (code != OK)
        return code;
    FILE *file = regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, error);
    if (file == NULL)
        return error->code;
    describe(search, text);
    if (fgets(line, sizeof line, file) == NULL || strcmp(line, text) != 0)
        code = error_set(error, ERROR_USAGE,
                         "%s: a search of something else; there: %.300s; asked for: %.300s",
                         path.text, line, text);
    else if (!get_all(file, search, &inner))
        code = error_set(error, ERROR_FORMAT, "%s: damaged", path.text);
    fclose(file);
    return code;
}
