/* Names of claims and families, as typed by people. */
#ifndef VERDICT_CLAIMS_H
#define VERDICT_CLAIMS_H

#include "base/error.h"
#include "oracles/oracle.h"

#include <stdbool.h>

/* Is `id` the claim's id, or its family ("H" of "H.orphan")? */
bool claim_is_named(const struct claim *claim, const char *id);

/* OK if `id` names a claim or a family; else ERROR_USAGE with the nearest name. */
enum error_code claim_check_name(const char *id, struct error *error);

#endif
