/* A run packed into one file that can be replayed elsewhere: a tar archive, compressed with zstd.
 * Must not know: what the files hold. */
#ifndef REPLAY_PACK_H
#define REPLAY_PACK_H

#include "base/error.h"

/* Traces beyond this, all of a run together, are left out: a replay does not need them. */
#define PACK_TRACES_MAX_BYTES (UINT64_C(64) << 20)

/* What is unpacked at most, so that a foreign file does not fill the disk. */
#define PACK_MAX_BYTES (UINT64_C(1) << 30)

/* Packs the run in `folder`: plan, run.json, verdict.json, decisions, what the step engine decided,
 * and its traces if they are small. The file is written whole or not at all; one that is there is
 * replaced. ERROR_IO, ERROR_USAGE (a part is missing). */
enum error_code pack_write(const char *folder, const char *file, struct error *error);

/* Unpacks it into `folder`, which is made. Names that pack_write does not give are refused.
 * ERROR_FORMAT, ERROR_IO, ERROR_LIMIT. */
enum error_code pack_read(const char *file, const char *folder, struct error *error);

#endif
