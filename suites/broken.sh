#!/usr/bin/env bash
# Builds a protocol with a patch: the patch goes on a copy of all protocols, what it changes there is
# compiled again, and the rest is linked as it is. Sources in a folder of the patch's name are added.
# Usage: COMPILE=... LINK=... broken.sh PATCH FOLDER_OF_THE_COPY LIBRARY.so OBJECT...
# An object is the one of suites/protocols/X.c when it is named .../obj/X.o.
set -euo pipefail
patch=$1 copy=$2 library=$3
shift 3

rm -rf "$copy"
mkdir -p "$copy/suites"
cp -r suites/protocols "$copy/suites"
patch -s -p1 -F0 --no-backup-if-mismatch -d "$copy" <"$patch"

tree=$copy/suites/protocols
# An object is compiled again if its source is another one, or the dependency file beside the object
# names a header that is. names: lines of "/HEADER", no line where none is.
names=$(find suites/protocols -name '*.h' | while read -r header; do
    cmp -s "$header" "$copy/$header" || echo "/${header##*/}"
done)
objects=()
for object in "$@"; do
    source=${object##*/obj/}
    source=${source%.o}.c
    if [ -e "$tree/$source" ] &&
        { ! cmp -s "suites/protocols/$source" "$tree/$source" ||
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
