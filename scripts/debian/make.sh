#!/bin/sh
# make.sh ROOT RELEASE: makes the folder ROOT a small Debian of that release (bookworm, trixie), by
# debootstrap. The packages come from where this machine has its own from; they are kept in
# ROOT.packages, so that what was interrupted goes on with them. ROOT must not be there.
set -eu

[ $# = 2 ] || {
    echo "usage: make.sh ROOT RELEASE" >&2
    exit 64
}
root=$1 release=$2

die() {
    echo "make.sh: $*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || die "making a root needs the rights of root"
[ ! -e "$root" ] || die "$root is there"
command -v unshare >/dev/null || die "needs unshare (Debian: util-linux)"
command -v debootstrap >/dev/null ||
    apt-get install -y -qq --no-install-recommends debootstrap >/dev/null ||
    die "needs debootstrap: apt-get install debootstrap"

# Where apt has the packages of this machine's own Debian from.
# shellcheck disable=SC2016 # apt expands it
uri=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    sed -n '/^Debian [^ ]*$/{s/^Debian //p;q;}')
[ -n "$uri" ] || die "apt knows no Debian to take $release from: apt-get update"

echo "making $root: Debian $release, some minutes" >&2
mkdir -p "$root.packages"
rm -rf "$root.new"
# In a mount namespace of its own: whatever debootstrap mounts is gone when it ends, however it ends.
unshare --mount --pid --fork --kill-child \
    debootstrap --variant=minbase --cache-dir="$root.packages" "$release" "$root.new" "$uri" \
    >"$root.log" 2>&1 || die "debootstrap failed: see the end of $root.log"
touch "$root.new/.faultline-root"
mv -T "$root.new" "$root"
