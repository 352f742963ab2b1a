#!/usr/bin/env bash
# fresh.sh [RELEASE...]: the first five minutes of somebody new, in a new Debian 12 (bookworm) and a new
# Debian 13 (trixie): the tutorial, the README's five minutes, and the how-tos. See README.md.
# shellcheck disable=SC2317 # functions are named to `run` and `trap`
set -euo pipefail
set -m # what is in the background has a process group of its own
cd "$(dirname "$0")/../.."
here=$PWD/scripts/debian
folder=${FRESH_ROOTS:-$HOME/.cache/faultline/fresh}
limit_s=300
pages=(tutorial how_to_protocol how_to_library how_to_ulfm how_to_ci verdict)
failed=0 running='' root=''

finish() {
    local status=$?
    trap '' INT TERM
    [ -z "$running" ] || { kill -KILL -- "-$running" && wait "$running"; } 2>/dev/null || true
    # Its mounts go with its processes, of which the last may still be about to end.
    until [ -z "$root" ] || rm -rf --one-file-system "$root" "$root.new" "$root.log" 2>/dev/null; do
        sleep 1
    done
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# run COMMAND...: one that can be cut off: bash does nothing for a signal while a command is waited for.
run() {
    "$@" &
    running=$!
    local status=0
    wait "$running" || status=$?
    running=''
    return "$status"
}

# timed NAME LIMIT COMMAND...: prints how long it took; LIMIT: seconds, or none.
timed() {
    local name=$1 limit=$2 began=$SECONDS state=ok
    shift 2
    run "$@" || state="FAILED"
    local took=$((SECONDS - began))
    if [ "$state" = ok ] && [ "$limit" != none ] && [ "$took" -gt "$limit" ]; then
        state="TOO SLOW: more than $limit s"
    fi
    [ "$state" = ok ] || failed=1
    printf '%-10s %-28s %4d s  %s\n' "$release" "$name" "$took" "$state"
}

as_root() {
    "$here/enter.sh" "$root" sh -ec "$1"
}

as_newcomer() {
    "$here/enter.sh" "$root" su - newcomer -c "cd faultline && $1"
}

# What make.sh makes has no make, and nobody but root.
packages() {
    as_root 'apt-get update -qq && apt-get install -y -qq --no-install-recommends make >/dev/null
        useradd -m -s /bin/bash newcomer && chown -R newcomer /home/newcomer
        cd /home/newcomer/faultline && scripts/setup.sh'
}

try_release() {
    root=$folder/$release
    rm -rf --one-file-system "$root"
    mkdir -p "$folder"
    run "$here/make.sh" "$root" "$release"
    mkdir -p "$root/home/newcomer"
    git clone -q . "$root/home/newcomer/faultline"
    for page in "${pages[@]}"; do
        docs/site/steps.sh "docs/$page.md" >"$root/home/newcomer/$page.steps"
    done
    timed "packages" none packages
    timed "tutorial" "$limit_s" as_newcomer 'bash docs/site/steps.bash ~/tutorial.steps'
    timed "README's five minutes" "$limit_s" as_newcomer 'build/faultline init mine && make -C mine test'
    for page in "${pages[@]:1}"; do
        timed "$page" none as_newcomer "rm -rf ~/mine && bash docs/site/steps.bash ~/$page.steps"
    done
    rm -rf --one-file-system "$root" "$root.log"
    root=''
}

# One block, which bash has read as a whole: an edit of this file cannot change what is under way.
{
    [ $# -gt 0 ] || set -- bookworm trixie
    for release; do
        try_release
    done
    exit "$failed"
}
