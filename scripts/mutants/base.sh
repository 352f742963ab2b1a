#!/usr/bin/env bash
# A copy of the tree with everything built in it, for mutants of Faultline itself: one mutant more is
# a copy of that with a patch, where make finds out what is to be compiled again.
# Usage: base.sh BUILD_FOLDER, in which everything, tests too, is built.
set -euo pipefail
build=$1
base=$build/mutants/base

# What make writes about headers names the build folder as it was given then.
renamed() {
    local known=obj/harness/base/error was
    was=$(sed -n "1s|/$known\.o:.*||p" "$base/build/$known.d")
    [ "$was" = build ] ||
        find "$base/build" -name '*.d' -exec sed -i "s|\(^\| \)$was/|\1build/|g" {} +
}

# Of all that is built or run.
sources=(Makefile '*.mk' engine harness injectors oracles reports suites tests ':!*.patch')
stamp=$({
    git ls-files -s -- "${sources[@]}"
    git diff -- "${sources[@]}"
} | sha256sum)
[ ! -e "$base.stamp" ] || [ "$(cat "$base.stamp")" != "$stamp" ] || exit 0
rm -rf "$base" "$base.stamp" "$build/mutants/control"
mkdir -p "$base/build" "$build/mutants/control"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t "$base"
for part in gen obj checked pic threads bench tests fuzz programs protocols command.a faultline faultline-rank \
    libfaultline.so; do
    [ ! -e "$build/$part" ] || cp -aH "$build/$part" "$base/build/"
done
renamed
make -s -C "$base" BUILD=build tests-one-library >"$base.log" 2>&1 || {
    cat "$base.log" >&2
    exit 1
}
echo "$stamp" >"$base.stamp"
