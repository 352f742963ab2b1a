#!/usr/bin/env bats
# The site of the documentation (docs/): its links, and the commands in its pages, which are run.

bats_require_minimum_version 1.5.0
load driver_common

setup_file() {
    local root build
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    build=${BUILD:-$root/build}
    case $build in /*) ;; *) build=$root/$build ;; esac
    "$root/docs/site/make.sh" "$build" >&2
}

# browse FOLDER [PAGE...]: see tests/pages/site.mjs.
browse() {
    PAGES_MODULES=$BUILD/pages run timeout 600 node "$REPO/tests/pages/tests.mjs" site "$1" index.html "${@:2}"
    echo "$output"
}

@test "every link leads somewhere, every page is reached from the first one, all without a script" {
    browse "$BUILD/site" index.html docs/verdict.html man/faultline.1.html harness/faultline.h.html
    [ "$status" -eq 0 ]
}

@test "a dead link, a dead anchor and a page that nothing leads to are found" {
    mkdir site
    cp -r "$BUILD"/site/{index.html,GLOSSARY.html,site.css,docs} site
    sed -i 's#href="docs/tutorial.html"#href="docs/gone.html"#; s#href="GLOSSARY.html"#&"GLOSSARY.html\#gone"#
        s#=""#="#; s/href="GLOSSARY.html""/href="/' site/index.html
    cp site/index.html site/docs/alone.html
    browse site
    [ "$status" -eq 1 ]
    grep -q 'index.html: file:.*/docs/gone.html: no such page' <<<"$output"
    grep -q 'index.html: file:.*/GLOSSARY.html#gone: no such anchor' <<<"$output"
    grep -qx '#   docs/alone.html' <<<"$output"
}

# follows PAGE: what docs/PAGE.md says is done, in a folder that has all that this tree has, with a
# home of its own.
follows() {
    local entry
    mkdir tree home
    for entry in "$REPO"/*; do
        [ "$(basename "$entry")" = build ] || ln -s "$entry" tree/
    done
    ln -s "$BUILD" tree/build
    "$REPO/docs/site/steps.sh" "$REPO/docs/$1.md" >steps
    cd tree
    HOME=$(realpath ../home) run bash "$REPO/docs/site/steps.bash" ../steps
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "what the tutorial says is so" { follows tutorial; }
@test "what is said of protocols is so" { follows how_to_protocol; }
@test "what is said of libraries is so" { follows how_to_library; }
@test "what is said of ULFM is so" { follows how_to_ulfm; }
@test "what is said of CI is so" { follows how_to_ci; }
@test "what is said of verdicts is so" { follows verdict; }

# steps MARKDOWN: what becomes of its commands.
steps() {
    printf "$1" >page.md
    "$REPO/docs/site/steps.sh" page.md >script && run bash "$REPO/docs/site/steps.bash" script && echo "$output"
}

@test "a page that lies is found: other output, another status, code that is not run, none at all" {
    steps '```console\n$ echo one; echo two\none\n...\n$ cat <file\nx\n```\n' && [ "$status" -eq 1 ]
    steps '```{file=file}\nx\n```\n```console\n$ cat <file\nx\n$ (echo not ok; exit 3)\nnot ok\n$ echo $?\n3\n```\n'
    [ "$status" -eq 0 ]
    steps '```console\n$ echo one; echo two\none\n```\n' && [ "$status" -eq 1 ]
    steps '```console\n$ echo "[a]"\n[b]\n```\n' && [ "$status" -eq 1 ]
    steps '```console\n$ false\n```\n' && [ "$status" -eq 1 ]
    steps '```console\n$ (echo x; exit 2)\n...\n```\n' && [ "$status" -eq 1 ]
    steps 'nothing\n' && [ "$status" -eq 1 ]
    run steps '```sh\nmake\n```\n'
}

# The pages of docs/ are all followed, but those with nothing to do.
@test "every page with a command is followed" {
    local page
    for page in $(grep -l '^```' "$REPO"/docs/*.md); do
        page=$(basename "$page" .md)
        [ "$page" = README ] || grep -q "{ follows $page; }" "$BATS_TEST_DIRNAME/site.bats"
    done
}
