#!/bin/sh
# root.sh ROOT: makes the folder ROOT a Debian 13 with Open MPI 5 and what Faultline is built with, by
# ../debian/make.sh. Where that has been done it only installs packages that are missing; what was
# interrupted goes on with the packages that it has. A folder that is there and that this script has not made is left alone. See README.md.
set -eu

[ $# = 1 ] || {
    echo "usage: root.sh ROOT (one absolute path, without spaces)" >&2
    exit 64
}
root=$1
here=$(cd "$(dirname "$0")" && pwd)

die() {
    echo "root.sh: $*" >&2
    exit 1
}

case $root in
*[[:space:]]*) die "$root: the root is named by a path without spaces" ;;
/*) ;;
*) die "$root: the root is named by an absolute path" ;;
esac
# An empty folder may become the root.
[ -e "$root/.faultline-root" ] || [ ! -e "$root" ] || rmdir "$root" 2>/dev/null ||
    die "$root is there, and make ulfm-root has not made it: name another folder by ULFM_ROOT"
[ "$(id -u)" = 0 ] || die "making a root needs the rights of root: sudo make ulfm-root"
mkdir -p "$(dirname "$root")"
exec 9>"$root.lock"
flock 9
[ -e "$root/.faultline-root" ] || "$here/../debian/make.sh" "$root" trixie
# setup.sh knows the packages, and installs those that are missing.
FAULTLINE_ULFM_ONLINE=1 "$here/inside.sh" "$root" scripts/setup.sh ulfm
rm -rf "$root.packages" "$root.log"
