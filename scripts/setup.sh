#!/bin/sh
# setup.sh [check|install|deb|site|bench|fuzz|valgrind|slurm|openmpi|ulfm|test BUILD|arm64 BUILD]: installs what
# Faultline needs from Debian, or says the one line to type. With `check`, what `make check` needs as
# well; with `install`, `deb` and `site`, what those need; with `bench`, what plots need; with `fuzz`,
# clang, its linker and sanitisers; with `valgrind` and `slurm`, these; with `openmpi`, the second MPI
# library; with `ulfm`, that alone, where there is no other; with `test`, the second library, clang, a
# browser for the tests of the pages, and their two npm packages in BUILD/pages; with `arm64`, a cross
# compiler, an emulator, and in BUILD/arm64/root the libraries that they need.
set -eu

libraries="libmpich-dev liblua5.4-dev libxxhash-dev libdw-dev libjansson-dev
libarchive-dev libotf2-trace-dev libxml2-dev libxslt1-dev libunwind8"
packages="gcc make pkgconf mpich gfortran lua5.4 bats patch perl otf2-tools libxml2-utils jq $libraries"
[ "${1:-}" = arm64 ] && packages="$packages gcc-aarch64-linux-gnu qemu-user"
[ "${1:-}" = check ] && packages="$packages clang-format cppcheck lua-check shellcheck scdoc git"
[ "${1:-}" = install ] && packages="$packages scdoc"
site="pandoc scdoc"
[ "${1:-}" = site ] && packages="$packages $site"
[ "${1:-}" = deb ] && packages="$packages scdoc dpkg-dev lintian"
[ "${1:-}" = bench ] && packages="$packages gnuplot-nox"
sanitisers="clang lld libclang-rt-dev"
[ "${1:-}" = fuzz ] && packages="$packages $sanitisers llvm"
[ "${1:-}" = valgrind ] && packages="$packages valgrind"
[ "${1:-}" = slurm ] && packages="$packages slurm-wlm munge"
openmpi="openmpi-bin libopenmpi-dev"
[ "${1:-}" = openmpi ] && packages="$packages $openmpi"
[ "${1:-}" = ulfm ] && packages="$(echo "$packages" | sed 's/[^ ]*mpich[^ ]*//g') $openmpi iproute2"
if [ "${1:-}" = test ]; then
    packages="$packages $sanitisers $openmpi strace git chromium-headless-shell $site zsh"
    # Whoever has node or npm from somewhere else keeps it.
    command -v node >/dev/null || packages="$packages nodejs"
    command -v npm >/dev/null || packages="$packages npm"
fi

# The versions that package-lock.json names, and no scripts of theirs. `installed` is written last.
install_modules() {
    cmp -s tests/pages/package-lock.json "$1/pages/installed" && return
    mkdir -p "$1/pages"
    cp tests/pages/package.json tests/pages/package-lock.json "$1/pages/"
    echo "installing into $1/pages: playwright-core axe-core" >&2
    if ! (cd "$1/pages" && npm ci --silent --ignore-scripts --no-audit --no-fund); then
        echo "npm ci in $1/pages failed: the tests of the pages need those two packages" >&2
        exit 1
    fi
    cp tests/pages/package-lock.json "$1/pages/installed"
}

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done

# What mpicc and mpiexec are stays what it was, MPICH's if there was none: Debian's Open MPI would
# take their place. An alternative that is set is not changed by packages.
keep_default_mpi() {
    case $missing in *openmpi*) ;; *) return 0 ;; esac
    apt-get install -y -qq --no-install-recommends mpich libmpich-dev >/dev/null
    for name in mpi mpirun "mpi-$(gcc -print-multiarch 2>/dev/null)"; do
        value=$(update-alternatives --query "$name" 2>/dev/null | sed -n 's/^Value: //p')
        [ -z "$value" ] || update-alternatives --quiet --set "$name" "$value"
    done
}

install_packages() {
    if [ "$(id -u)" != 0 ]; then
        echo "Faultline needs these Debian packages; type:" >&2
        echo "    sudo apt-get install -y$missing" >&2
        exit 1
    fi
    echo "installing:$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    # An old list of packages may name versions that are gone: one fresh list is cheaper than a
    # failure.
    apt-get update -qq
    [ "$1" = ulfm ] || keep_default_mpi
    # shellcheck disable=SC2086 # a list of words on purpose
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

[ -z "$missing" ] || install_packages "${1:-}"
if [ "${1:-}" = test ]; then
    install_modules "$2"
elif [ "${1:-}" = arm64 ]; then
    # shellcheck disable=SC2086 # a list of words on purpose
    scripts/arm64/root.sh "$2/arm64/root" libc6-dev $libraries
fi
