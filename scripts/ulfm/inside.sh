#!/bin/sh
# inside.sh ROOT COMMAND...: runs the command in this tree as the Debian in ROOT sees it, which is at
# the same path there. Mounts, processes and shared memory are in namespaces of their own, which end
# with the command, and so is the network, of which there is the loopback device alone.
set -eu

root=$1
shift
[ -e "$root/.faultline-root" ] || {
    echo "inside.sh: $root: make ulfm-root has made nothing there" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || {
    echo "inside.sh: running in $root needs the rights of root" >&2
    exit 1
}
tree=$(cd "$(dirname "$0")/../.." && pwd)
export ROOT="$root" TREE="$tree"
network=--net
[ -z "${FAULTLINE_ULFM_ONLINE:-}" ] || network=
# A TMPDIR of this machine need not be there.
# shellcheck disable=SC2016,SC2086 # expanded in the namespaces; one word or none
exec env -u TMPDIR unshare --mount --pid --ipc $network --fork --kill-child sh -euc '
    ip link set lo up 2>/dev/null || true
    mkdir -p "$ROOT$TREE"
    mount -t proc proc "$ROOT/proc"
    mount --rbind /dev "$ROOT/dev"
    mount --rbind /sys "$ROOT/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$ROOT/dev/shm"
    mount --bind "$TREE" "$ROOT$TREE"
    exec chroot "$ROOT" /bin/sh -c "cd \"\$TREE\" && exec \"\$@\"" inside "$@"
' inside "$@"
