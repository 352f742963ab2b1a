#!/bin/sh
# root.sh ROOT PACKAGE...: unpacks these packages of Debian's arm64, and the libraries that they
# need, into the folder ROOT: there the cross compiler finds headers and libraries (--sysroot) and
# qemu-aarch64 those of the programs that it runs (-L). They come from where this machine has its own
# packages from, and nothing is installed: apt keeps what it knows of them beside ROOT, and no script
# of theirs is run. Needs no rights; does nothing where it has been done.
set -eu

root=$1
shift
wanted="$*"
[ "$(cat "$root/unpacked" 2>/dev/null)" != "$wanted" ] || exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "root.sh: libraries for arm64 are had with apt-get and dpkg-deb, which are not here" >&2
    exit 1
fi

rm -rf "$root" "$root.apt"
mkdir -p "$root" "$root.apt/lists/partial" "$root.apt/archives/partial"
root=$(cd "$root" && pwd)
: >"$root.apt/status"
cat >"$root.apt/conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Dir::State::status "$root.apt/status";
Dir::State::lists "$root.apt/lists";
Dir::Cache "$root.apt";
CONF
export APT_CONFIG="$root.apt/conf"
echo "unpacking packages of arm64 into $root" >&2
apt-get update -qq
# Compilers and tools for arm64 are named by libraries here and there, and not needed.
# shellcheck disable=SC2086 # a list of words on purpose
apt-get install -qq --print-uris $wanted | cut -d ' ' -f 2 | sed 's/_.*//' |
    grep -E '^lib|-dev$|^zlib1g' >"$root.apt/names"
(cd "$root.apt/archives" && xargs apt-get download -qq <"$root.apt/names")
for package in "$root.apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --exclude ./usr/share
done
rm -rf "$root.apt"
echo "$wanted" >"$root/unpacked"
