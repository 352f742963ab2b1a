#!/bin/sh
# test.sh: what `make test-ulfm` runs inside the Debian 13, in the top folder of the tree. BUILD: the
# folder of the build.
set -eu

make --no-print-directory -j"$(nproc)" MPI=openmpi BUILD="$BUILD" variants "$BUILD/tests/mpi/driver_life"
exec bats scripts/ulfm/openmpi5.bats
