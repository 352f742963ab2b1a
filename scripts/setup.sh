#!/bin/sh
# setup.sh [check]: installs what Faultline needs from Debian, or says the one line to type.
# With `check`, what `make check` needs as well.
set -eu

packages="gcc make mpich libmpich-dev gfortran lua5.4 liblua5.4-dev libxxhash-dev libdw-dev
libjansson-dev libotf2-trace-dev libxml2-dev libxslt1-dev libunwind8
bats patch perl otf2-tools libxml2-utils jq"
[ "${1:-}" = check ] && packages="$packages clang-format cppcheck lua-check shellcheck scdoc git"

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" != 0 ]; then
    echo "Faultline needs these Debian packages; type:" >&2
    echo "    sudo apt-get install -y$missing" >&2
    exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# An old list of packages may name versions that are gone: one fresh list is cheaper than a failure.
apt-get update -qq
# shellcheck disable=SC2086 # a list of words on purpose
apt-get install -y -qq --no-install-recommends $missing >/dev/null
