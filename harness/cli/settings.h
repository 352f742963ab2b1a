/* Variables by which users set the preloaded library: checked before anything is launched. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "base/error.h"

#include <stdbool.h>

/* FAULTLINE_HASH, FAULTLINE_RECORD and FAULTLINE_IN_MEMORY of this process. ERROR_USAGE names the
 * accepted values. */
enum error_code settings_check(struct error *error);

/* One "NAME=value"; those that are no setting are fine. */
enum error_code settings_check_one(const char *setting, struct error *error);

/* FAULTLINE_LIBRARY and FAULTLINE_HELPERS, by which `exec` goes and nobody else. ERROR_USAGE. */
enum error_code settings_check_library(struct error *error);

/* FAULTLINE_RECORD=0: the taps are there and record nothing. */
bool settings_record_nothing(void);

#endif
