#!/usr/bin/env bash
# The names of all broken variants, of protocols and of programs, sorted: what campaigns must find.
# Usage: variants.sh
set -euo pipefail
cd "$(dirname "$0")/.."
find suites/protocols/*/broken suites/programs/broken -name '*.patch' |
    sed 's|suites/protocols/\([^/]*\)/broken/\(.*\)\.patch|\1-\2|; s|suites/programs/broken/\(.*\)\.patch|\1|' | sort
