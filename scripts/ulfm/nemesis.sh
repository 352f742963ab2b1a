#!/bin/sh
# nemesis.sh FOLDER: builds the MPICH of this machine once more, from Debian's source package, with the
# device ch3:nemesis, whose ULFM works to a degree, into FOLDER/install. What was built for this
# machine's MPICH runs on it, by LD_LIBRARY_PATH. Does nothing where it has been done.
set -eu

[ $# = 1 ] || {
    echo "usage: nemesis.sh FOLDER" >&2
    exit 64
}
folder=$1
here=$(cd "$(dirname "$0")/.." && pwd)
[ ! -e "$folder/built" ] || exit 0
"$here/mpich_source.sh" "$folder"
folder=$(cd "$folder" && pwd)
rm -rf "$folder/tree" "$folder/install"
mkdir "$folder/tree"
tar -C "$folder/tree" --strip-components 1 -xf "$folder"/source/mpich_*.orig.tar.*
echo "building MPICH with ch3:nemesis, some minutes: $folder/log" >&2
# Debian calls the library libmpich, the source package's own name for it is libmpi.
(
    cd "$folder/tree"
    ./configure --prefix="$folder/install" --with-device=ch3:nemesis --disable-fortran --disable-cxx \
        --disable-romio --disable-static --without-x --without-hwloc --disable-doc \
        --with-datatype-engine=dataloop MPILIBNAME=mpich CFLAGS=-O1
    make -j"$(nproc)" V=0
    make install
) >"$folder/log" 2>&1 || {
    echo "nemesis.sh: it cannot be built; see the end of $folder/log" >&2
    exit 1
}
rm -rf "$folder/tree"
touch "$folder/built"
