#!/usr/bin/env bash
# What `make install` does when all is built. DESTDIR, PREFIX, BUILD and VERSION are in the
# environment. Usage: install.sh HEADERS PROGRAMS PROTOCOLS, each a list of words.
# The command and what belongs beside it are in PREFIX/lib/faultline; PREFIX/bin has a link.
set -euo pipefail
headers=$1 programs=$2 protocols=$3
case $PREFIX in
/*) ;;
*)
    echo "PREFIX=$PREFIX: it must begin with a /" >&2
    exit 1
    ;;
esac
umask 022
to=$DESTDIR${PREFIX%/}
lib=$to/lib/faultline

# into FOLDER FILE...: files that nobody executes.
into() {
    install -d "$1"
    install -m 644 -t "$@"
}

install -d "$lib/programs" "$lib/protocols" "$to/bin"
install -t "$lib" "$BUILD/faultline" "$BUILD/faultline-rank"
into "$lib" "$BUILD/libfaultline.so"
ln -sfn ../lib/faultline/faultline "$to/bin/faultline"
for program in $programs; do
    install -t "$lib/programs" "$BUILD/programs/$program"
done
for protocol in $protocols; do
    into "$lib/protocols" "$BUILD/protocols/lib$protocol.so"
    for beside in "$BUILD/protocols/$protocol".{wire,canary}.lua; do
        [ ! -e "$beside" ] || into "$lib/protocols" "$beside"
    done
done
# shellcheck disable=SC2086 # a list of words on purpose
into "$to/include/faultline" $headers

install -d "$to/share/pkgconfig"
# shellcheck disable=SC2016 # pkg-config's own variable
packaging/pkgconfig.sh '${pcfiledir}/../..' '${prefix}/include/faultline' "$VERSION" >"$to/share/pkgconfig/faultline.pc"
chmod 644 "$to/share/pkgconfig/faultline.pc"
for page in man/*.scd; do
    name=${page##*/}
    name=${name%.scd}
    install -d "$to/share/man/man${name##*.}"
    scdoc <"$page" | gzip -9n >"$to/share/man/man${name##*.}/$name.gz"
done
into "$to/share/bash-completion/completions" packaging/completion.bash
mv "$to/share/bash-completion/completions/completion.bash" "$to/share/bash-completion/completions/faultline"
# Debian's zsh looks for what packages bring in a folder of its own.
zsh=$to/share/zsh/site-functions
[ "$PREFIX" != /usr ] || zsh=$to/share/zsh/vendor-completions
install -d "$zsh"
install -m 644 packaging/completion.zsh "$zsh/_faultline"
into "$to/share/doc/faultline" README.md GLOSSARY.md
