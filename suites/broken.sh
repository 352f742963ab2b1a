#!/usr/bin/env bash
# Builds a protocol with a patch: the patch goes on a copy of all protocols, what it changes there is
# compiled again, and the rest is linked as it is. Sources in a folder of the patch's name are added.
# Usage: COMPILE=... LINK=... broken.sh PATCH FOLDER_OF_THE_COPY LIBRARY.so OBJECT...
# An object is the one of suites/protocols/X.c when it is named .../obj/X.o.
set -euo pipefail
patch=$1 copy=$2 library=$3
shift 3

rm -rf "$copy"
mkdir -p "$copy"
find suites/protocols \( -name '*.[ch]' -o -name '*.lua' \) -exec cp --parents -t "$copy" {} +
patch -s -p1 -F0 --no-backup-if-mismatch -d "$copy" <"$patch"

tree=$copy/suites/protocols
# An object is compiled again if the patch changes its source, or a header that the dependency file
# beside the object names. names: lines of "/HEADER", no line where the patch changes none.
changed=$'\n'$(sed -n 's|^+++ b/suites/protocols/\([^\t]*\).*|\1|p' "$patch")$'\n'
[ "$(grep -c '^+++ ' "$patch")" -eq "$(grep -c . <<<"$changed")" ] || {
    echo "$patch: it may change only files below b/suites/protocols/" >&2
    exit 1
}
names=$(sed -n 's|^.*\(/[^/]*\.h\)$|\1|p' <<<"$changed")
objects=()
for object in "$@"; do
    source=${object##*/obj/}
    source=${source%.o}.c
    if [ -e "$tree/$source" ] &&
        { [[ $changed == *$'\n'$source$'\n'* ]] ||
            { [ -n "$names" ] && grep -qF "$names" "${object%.o}.d"; }; }; then
        object=$copy/obj/${source%.c}.o
        mkdir -p "${object%/*}"
        $COMPILE -I"$tree" -c -o "$object" "$tree/$source"
    fi
    objects+=("$object")
done
for source in "${patch%.patch}"/*.c; do
    [ -e "$source" ] || continue
    object=$copy/obj/$(basename "${source%.c}").o
    mkdir -p "${object%/*}"
    $COMPILE -I"$tree" -c -o "$object" "$source"
    objects+=("$object")
done
$LINK -o "$library" "${objects[@]}"
