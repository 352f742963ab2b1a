#!/bin/sh
# root.sh ROOT: makes the folder ROOT a Debian 13 with Open MPI 5 and what Faultline is built with, by
# debootstrap. The packages come from where this machine has its own from. Where that has been done
# it only installs packages that are missing; what was interrupted goes on with the packages that it
# has. A folder that is there and that this script has not made is left alone. See README.md.
set -eu

[ $# = 1 ] || {
    echo "usage: root.sh ROOT (one absolute path, without spaces)" >&2
    exit 64
}
root=$1
release=trixie
here=$(cd "$(dirname "$0")" && pwd)

die() {
    echo "root.sh: $*" >&2
    exit 1
}

# Where apt has the packages of this machine's own Debian from.
mirror() {
    # shellcheck disable=SC2016 # apt expands it
    apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
        sed -n '/^Debian [^ ]*$/{s/^Debian //p;q;}'
}

need_tools() {
    [ "$(id -u)" = 0 ] || die "making a root needs the rights of root: sudo make ulfm-root"
    command -v unshare >/dev/null || die "needs unshare (Debian: util-linux)"
    command -v debootstrap >/dev/null ||
        apt-get install -y -qq --no-install-recommends debootstrap >/dev/null ||
        die "needs debootstrap: apt-get install debootstrap"
}

# In a mount namespace of its own: whatever debootstrap mounts is gone when it ends, however it ends.
unpack() {
    uri=$(mirror)
    [ -n "$uri" ] || die "apt knows no Debian to take $release from: apt-get update"
    echo "making $root: Debian $release, some minutes" >&2
    mkdir -p "$root.packages"
    rm -rf "$root.new"
    unshare --mount --pid --fork --kill-child \
        debootstrap --variant=minbase --cache-dir="$root.packages" "$release" "$root.new" "$uri" \
        >"$root.log" 2>&1 || die "debootstrap failed: see the end of $root.log"
    touch "$root.new/.faultline-root"
    mv -T "$root.new" "$root"
}

case $root in
*[[:space:]]*) die "$root: the root is named by a path without spaces" ;;
/*) ;;
*) die "$root: the root is named by an absolute path" ;;
esac
# An empty folder may become the root.
[ -e "$root/.faultline-root" ] || [ ! -e "$root" ] || rmdir "$root" 2>/dev/null ||
    die "$root is there, and make ulfm-root has not made it: name another folder by ULFM_ROOT"
need_tools
mkdir -p "$(dirname "$root")"
exec 9>"$root.lock"
flock 9
[ -e "$root/.faultline-root" ] || unpack
# setup.sh knows the packages, and installs those that are missing.
FAULTLINE_ULFM_ONLINE=1 "$here/inside.sh" "$root" scripts/setup.sh ulfm
rm -rf "$root.packages" "$root.log"
