#!/bin/sh
# root.sh ROOT: makes the folder ROOT a Debian 13 with Open MPI 5 and what Faultline is built with, by
# debootstrap. The packages come from where this machine has its own from. Does nothing where it has
# been done; what was interrupted goes on with the packages that it has. See README.md.
set -eu

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
        sed -n '/^Debian /{s/^Debian //p;q;}'
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
    [ -n "$uri" ] || die "apt knows no Debian to take $release from (apt-get indextargets)"
    echo "making $root: Debian $release, some minutes" >&2
    mkdir -p "$root.packages"
    rm -rf "$root.new"
    unshare --mount --pid --fork --kill-child \
        debootstrap --variant=minbase --cache-dir="$root.packages" "$release" "$root.new" "$uri" \
        >"$root.log" 2>&1 || die "debootstrap failed: see the end of $root.log"
    rm -rf "$root"
    mv "$root.new" "$root"
}

need_tools
case $root in /*) ;; *) die "$root: the root is named by an absolute path" ;; esac
mkdir -p "$(dirname "$root")"
exec 9>"$root.lock"
flock 9
[ -e "$root/etc/debian_version" ] || unpack
# setup.sh knows the packages, and installs those that are missing.
FAULTLINE_ULFM_ONLINE=1 "$here/inside.sh" "$root" scripts/setup.sh ulfm
rm -rf "$root.packages" "$root.log"
