#!/usr/bin/env bash
# Makes a Debian package of what is installed below FOLDER/root, as /usr. Usage: deb.sh FOLDER VERSION
set -euo pipefail
folder=$(realpath "$1") version=$2 here=$(realpath "$(dirname "$0")")
root=$folder/root
umask 022

# Call stacks and `within` name the functions of programs and protocols: their names stay.
strip --strip-unneeded -R .comment -R .note "$root"/usr/lib/faultline/{faultline,faultline-rank,libfaultline.so}
strip --strip-debug -R .comment -R .note "$root"/usr/lib/faultline/{programs/*,protocols/*.so}

doc=$root/usr/share/doc/faultline
install -m 644 "$here/../LICENSE" "$doc/copyright"
awk -f "$here/changelog.awk" "$here/../CHANGELOG.md" >"$folder/changelog"
head -1 "$folder/changelog" | grep -qF "($version)" || {
    echo "CHANGELOG.md: its newest released version is not $version" >&2
    exit 1
}
gzip -9nc "$folder/changelog" >"$doc/changelog.gz"
install -d "$root/usr/share/lintian/overrides"
install -m 644 "$here/lintian-overrides" "$root/usr/share/lintian/overrides/faultline"

# dpkg-shlibdeps says which packages the libraries that are linked are in; it wants a source package.
mkdir -p "$folder/source/debian" "$root/DEBIAN"
sed "s/@VERSION@/$version/" "$here/control.in" | sed '/^Depends/d; s/^Package/Source: faultline\n\n&/' \
    >"$folder/source/debian/control"
needs=$(cd "$folder/source" && dpkg-shlibdeps -O --ignore-missing-info -l"$root/usr/lib/faultline" \
    -e "$root/usr/lib/faultline/faultline" -e "$root/usr/lib/faultline/programs/ring" |
    sed -n 's/^shlibs:Depends=//p')
sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/; s/@NEEDS@/$needs/
    s/@SIZE@/$(du -sk --exclude=DEBIAN "$root" | cut -f1)/" "$here/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

SOURCE_DATE_EPOCH=$(date -d "$(sed -n 's/^ -- .*>  //p' "$folder/changelog" | head -1)" +%s)
export SOURCE_DATE_EPOCH
dpkg-deb --root-owner-group --build "$root" "$folder" >&2
