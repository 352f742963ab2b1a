/* Where things are: our own files (found from the place of the command itself), what a scenario
 * names, commands, and the folders of a run. */
#ifndef SYSTEM_PATH_H
#define SYSTEM_PATH_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct path {
    char text[PATH_MAX];
};

/* printf into a path. ERROR_LIMIT when it does not fit. */
enum error_code path_format(struct path *path, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* This command; beside it the program that is the parent of a rank, and libfaultline.so
 * (FAULTLINE_TAPS overrides). Absolute. */
enum error_code path_self(struct path *path, struct error *error);
enum error_code path_rank_parent(struct path *path, struct error *error);
enum error_code path_library(struct path *path, struct error *error);

/* The shared library of a protocol and the executable of a program. A name without '/' is one of
 * ours: protocols/lib<name>.so and programs/<name> beside the command (FAULTLINE_PROTOCOLS and
 * FAULTLINE_PROGRAMS name other folders). With '/', a path: taken from the current folder, else
 * from that of `scenario_file`. Errors name what there is. Absolute. */
enum error_code path_protocol(const char *name, const char *scenario_file, struct path *path,
                              struct error *error);
enum error_code path_program(const char *name, const char *scenario_file, struct path *path,
                             struct error *error);

/* The file that describes the messages of a protocol's own, whether or not there is one: for
 * protocols/lib<name>.so it is protocols/<name>.wire.lua, for a path <folder>/<file>.so it is
 * <folder>/<file>.wire.lua. Errors when there is no such protocol. */
enum error_code path_wire(const char *name, const char *scenario_file, char *text, size_t bytes,
                          struct error *error);

/* The same for the scenario that shows a campaign over this protocol that it would find something:
 * <name>.canary.lua. */
enum error_code path_canary(const char *name, const char *scenario_file, struct path *path,
                            struct error *error);

/* The command that the environment variable names, if it is set; else `name`, looked for in PATH.
 * ERROR_LAUNCH if there is none. */
enum error_code path_command(const char *name, const char *variable, struct path *path,
                             struct error *error);

/* What a shell runs by this name: a path, or looked for in PATH. Absolute. ERROR_LAUNCH. */
enum error_code path_executable(const char *name, struct path *path, struct error *error);

/* Creates a folder and those above it. One that exists already is fine. */
enum error_code path_make_folder(const char *path, struct error *error);

/* OUT/<id> for a new suite or campaign, id of time and process; OUT/latest becomes a link to it, in
 * one step. */
enum error_code path_make_output(const char *out, struct path *folder, struct error *error);

/* The same in two steps, where it may turn out that there is nothing to run. */
enum error_code path_new_output(const char *out, struct path *folder, struct error *error);
enum error_code path_link_latest(const char *out, const struct path *folder, struct error *error);

/* A run folder and the folders inside it: trace, output, store. The run folder may exist. */
enum error_code path_make_run(const char *path, struct error *error);

/* Absolute form of a path that exists. */
enum error_code path_absolute(const char *path, struct path *absolute, struct error *error);

/* There is something at `path`; a link that leads nowhere is nothing. */
bool path_exists(const char *path);

/* There is something of this name in the folder. */
bool path_holds(const char *folder, const char *name);

/* The bytes of all files in a folder, without those of folders inside it; 0 if there is no such
 * folder. */
uint64_t path_bytes_in(const char *folder);

/* The owner may read, write and search all folders in it (and itself), and do with the files what
 * `files` says: programs may have taken that right away. What belongs to others stays as it is. */
void path_give_access(const char *path, mode_t files);

/* Removes a folder and everything in it, without following links. One that is not there is fine.
 * ERROR_IO. */
enum error_code path_remove(const char *path, struct error *error);

#endif
