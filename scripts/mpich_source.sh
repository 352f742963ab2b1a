#!/usr/bin/env bash
# mpich_source.sh FOLDER: the source package of the MPICH that this machine has, in FOLDER/source, from
# where the binary package comes from. apt's own state is left alone: lists and cache of this one
# source are in FOLDER. Does nothing where it has been done.
set -euo pipefail
mkdir -p "$1"
work=$(realpath "$1")
keys=/usr/share/keyrings/debian-archive-keyring.gpg

[ -z "$(ls "$work"/source/mpich_*.orig.tar.* 2>/dev/null)" ] || exit 0
mkdir -p "$work/source" "$work/lists/partial" "$work/cache/archives/partial"
from=$(apt-cache policy mpich | awk '/ Packages$/ { split($3, at, "/"); print $2, at[1], at[2]; exit }')
[ -n "$from" ] || { echo "apt knows no source of mpich: apt-get update" >&2 && exit 1; }
echo "deb-src [signed-by=$keys] $from" >"$work/sources.list"
apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
cd "$work/source" && "${apt[@]}" source --download-only mpich
