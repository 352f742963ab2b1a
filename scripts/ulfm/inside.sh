#!/bin/sh
# inside.sh ROOT COMMAND...: runs the command in this tree as the Debian in ROOT sees it, which is at
# the same path there, with a network of the loopback device alone: see ../debian/enter.sh.
set -eu
TREE=$(cd "$(dirname "$0")/../.." && pwd)
NETWORK=none
[ -z "${FAULTLINE_ULFM_ONLINE:-}" ] || NETWORK=
export TREE NETWORK
exec "$TREE/scripts/debian/enter.sh" "$@"
