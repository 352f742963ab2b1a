#!/usr/bin/env bash
# `make test-deb`: the Debian package has no error that lintian knows, and what is in it runs from a
# folder. Usage: test_deb.sh FILE.deb
set -euo pipefail
deb=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

lintian --fail-on error --allow-root "$deb"
dpkg-deb -f "$deb" Depends | grep -q 'libmpich12 .*, mpich$'
dpkg-deb -x "$deb" root
echo 'scenario "ours" { protocol = "blocking", program = "ring", ranks = 3 }' >s.lua
root/usr/bin/faultline run s.lua
root/usr/bin/faultline campaign --runs 2 s.lua # with its canary
echo "$deb: good"
