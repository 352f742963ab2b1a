#!/bin/sh
# What `make uninstall` does: removes what install.sh has put below DESTDIR and PREFIX.
set -eu
to=$DESTDIR${PREFIX%/}
rm -rf "$to/lib/faultline" "$to/include/faultline" "$to/share/doc/faultline"
rm -f "$to/bin/faultline" "$to/share/pkgconfig/faultline.pc" \
    "$to/share/bash-completion/completions/faultline" \
    "$to/share/zsh/site-functions/_faultline" "$to/share/zsh/vendor-completions/_faultline"
for page in man/*.scd; do
    name=${page##*/}
    name=${name%.scd}
    rm -f "$to/share/man/man${name##*.}/$name.gz"
done
