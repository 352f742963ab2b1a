#!/bin/sh
# enter.sh ROOT COMMAND...: runs the command in the Debian in ROOT, which make.sh has made. Mounts,
# processes and shared memory are in namespaces of their own, which end with the command. TREE: a
# folder of this machine that is there at the same path, and the current one. NETWORK=none: of the
# network there is the loopback device alone.
set -eu

root=$1
shift
[ -e "$root/.faultline-root" ] || {
    echo "enter.sh: $root: nothing has been made there" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || {
    echo "enter.sh: running in $root needs the rights of root" >&2
    exit 1
}
export ROOT="$root" TREE="${TREE:-}"
network=
[ "${NETWORK:-}" != none ] || network=--net
# A TMPDIR of this machine need not be there.
# shellcheck disable=SC2016,SC2086 # expanded in the namespaces; one word or none
exec env -u TMPDIR unshare --mount --pid --ipc $network --fork --kill-child sh -euc '
    ip link set lo up 2>/dev/null || true
    mount -t proc proc "$ROOT/proc"
    mount --rbind /dev "$ROOT/dev"
    mount --rbind /sys "$ROOT/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$ROOT/dev/shm"
    if [ -n "$TREE" ]; then
        mkdir -p "$ROOT$TREE"
        mount --bind "$TREE" "$ROOT$TREE"
    fi
    exec chroot "$ROOT" /bin/sh -c "cd \"\${TREE:-/}\" && exec \"\$@\"" inside "$@"
' inside "$@"
