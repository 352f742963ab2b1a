#!/usr/bin/env bats
# What `make install` makes, used in empty folders; `faultline init`; the version of
# faultline.h.

bats_require_minimum_version 1.5.0
load driver_common

setup_file() {
    local root build
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    build=${BUILD:-$root/build}
    make -s -C "$root" BUILD="$build" install PREFIX="$BATS_FILE_TMPDIR/prefix" >&2
}

# use_installed: `faultline` is the one that was installed, pkg-config knows nothing of it.
use_installed() {
    PREFIX=$BATS_FILE_TMPDIR/prefix
    PATH=$PREFIX/bin:$PATH
    unset PKG_CONFIG_PATH
}

@test "init: a folder that passes at once with what is installed, and what its CI files say" {
    use_installed
    run -0 faultline init ring-of-mine
    cd ring-of-mine
    [ "$(find . -type f | sort | tr '\n' ' ')" = "./.github/workflows/faultline.yml ./.gitignore \
./.gitlab-ci.yml ./Makefile ./ring-of-mine.lua ./ring-of-mine_program.c ./ring-of-mine_protocol.c " ]
    run ! grep -rwE 'my|libmy_protocol|my_program' .
    # Each of the two says one command that begins with make, and it is the same.
    sed -n 's/^ *- \(run: \)\{0,1\}\(make .*\)/\2/p' .gitlab-ci.yml .github/workflows/faultline.yml >said
    [ "$(sort -u said)" = "make ci FAULTLINE=faultline PKG_CONFIG=pkg-config" ]
    [ "$(wc -l <said)" -eq 2 ]
    sort -u said >once
    PKG_CONFIG_PATH=$PREFIX/share/pkgconfig run -0 sh once
    [ "$(grep -c '^ok' <<<"$output")" -eq 4 ]
    xmllint --noout junit.xml
    [ "$(jq length code-quality.json)" -eq 0 ]
    make -s clean
    [ "$(find . -newer Makefile -name '*faultline-out*' -o -name '*.so' | wc -l)" -eq 0 ]
}

@test "init: the same with a built tree, whose paths stand in the Makefile" {
    "$FAULTLINE" init mine
    grep -qx "FAULTLINE  = $(realpath "$FAULTLINE")" mine/Makefile
    make -s -C mine all
    cd mine
    run -0 "$FAULTLINE" run --filter while mine.lua
    # A rank that the broken protocol brings back wrongly is found.
    sed -i '/FILE \*from = open_or_end(state_path/,/fclose/s/int i = 0/int i = 1/' mine_protocol.c
    run -2 make test
    [[ $output == *"not ok"*"# H."* ]]
}

@test "init: names that cannot be, a folder that is there: nothing is written" {
    local name
    for name in "" 1st ../up a/b "a b" 'a"b' "$(printf 'a%.0s' {1..41})"; do
        run -64 "$FAULTLINE" init "$name"
        [[ $output == *"is no name for it; accepted: a letter"* ]]
    done
    mkdir there && touch there/mine
    run -64 "$FAULTLINE" init there
    [[ $output == *"there: File exists; init makes a new folder"* ]]
    run -64 "$FAULTLINE" init
    run -64 "$FAULTLINE" init one two
    [ "$(find . | sort | tr '\n' ' ')" = ". ./there ./there/mine " ]
    mkdir closed && chmod 555 closed && cd closed
    [ -w . ] || { # root may write anyway
        run -3 "$FAULTLINE" init mine
        [[ $output == *"mine: Permission denied"* ]]
    }
}

@test "what was built or installed works where it is moved to as a whole" {
    cp -r "$BATS_FILE_TMPDIR/prefix" moved
    mkdir built && cp -r "$BUILD/pkgconfig" "$BUILD/include" built
    [ "$(PKG_CONFIG_PATH=built/pkgconfig pkg-config --variable=includedir faultline)" -ef built/include ]
    unset PKG_CONFIG_PATH
    moved/bin/faultline init mine
    # Nothing of where it was stands in it.
    run ! grep -rF "$BATS_FILE_TMPDIR/prefix" mine moved/share/pkgconfig
    run -0 env PKG_CONFIG_PATH="$PWD/moved/share/pkgconfig" make -C mine test FAULTLINE="$PWD/moved/bin/faultline" \
        PKG_CONFIG=pkg-config
    [ "$(grep -c '^ok' <<<"$output")" -eq 4 ]
}

@test "pkg-config says where the headers are, and the version of the command" {
    use_installed
    export PKG_CONFIG_PATH=$PREFIX/share/pkgconfig
    [ "faultline $(pkg-config --modversion faultline)" = "$(faultline --version)" ]
    local flags
    read -ra flags <<<"$(pkg-config --cflags faultline)"
    printf '#include <checkpoint.h>\n#include <faultline_lives.h>\nint main(void) { return faultline_present(); }\n' >a.c
    gcc -Wall -Wextra -Werror -pedantic "${flags[@]}" a.c -o a && ./a
    cp a.c a.cc
    g++ -Wall -Wextra -Werror "${flags[@]}" a.cc -o a && ./a
    PKG_CONFIG_PATH=$BUILD/pkgconfig read -ra flags <<<"$(PKG_CONFIG_PATH=$BUILD/pkgconfig pkg-config --cflags faultline)"
    gcc "${flags[@]}" a.c -o a && ./a
}

# other_header: a copy of the headers in which faultline.h is of another version, in `other`.
other_header() {
    mkdir other
    cp "$BUILD"/include/*.h other
    sed -i 's/\(define FAULTLINE_HEADER_VERSION\) .*/\1 99/' other/faultline.h
    VERSIONS='was built with version 99 of faultline.h, and this is Faultline with version [0-9]*: build it again'
}

@test "a program or protocol with another faultline.h is not run, and nobody is blamed" {
    local engine
    other_header
    "$FAULTLINE" init mine
    cd mine
    make -s all
    mpicc -I../other -shared -fPIC -o libother.so mine_protocol.c
    mpicc -I../other -o other mine_program.c
    printf 'scenario "%s" { protocol = "./%s", program = "./%s", ranks = 2, claims = { "H" } }\n' \
        right libmine_protocol.so mine_program protocol libother.so mine_program \
        program libmine_protocol.so other >both.lua
    for engine in mpiexec step; do
        run -3 "$FAULTLINE" run --engine $engine both.lua
        [[ $output == *"ok 1 - right"* ]]
        [[ $output == *"not ok 2 - protocol # harness-error"* ]]
        [[ $output == *"not ok 3 - program # harness-error"* ]]
        grep -q "libother.so $VERSIONS" <<<"$output"
        grep -q "[^.]other $VERSIONS" <<<"$output"
    done
    ./other >alone # without Faultline it runs as ever
    grep -q '^rank 0' alone
}

@test "so is a library that is opened later" {
    other_header
    printf '#include "faultline.h"\nvoid does(void) { faultline_phase("x"); }\n' >plugin.c
    gcc -Iother -shared -fPIC -o libplugin.so plugin.c
    printf '#include <mpi.h>\n#include <dlfcn.h>\nint main(int c, char **v) { MPI_Init(&c, &v);
        dlopen(v[1], RTLD_NOW); MPI_Finalize(); return 0; }\n' >opens.c
    mpicc -o opens opens.c
    printf 'scenario "later" { protocol = "null", program = "./opens", ranks = 2,
        arguments = { "%s" }, claims = { "H" } }\n' "$PWD/libplugin.so" >s.lua
    run -3 "$FAULTLINE" run s.lua
    grep -q "libplugin.so $VERSIONS" <<<"$output"
}

# completes LINE: what bash offers for its last word.
completes() {
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _faultline
        printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$PREFIX/share/bash-completion/completions/faultline" "$@" | tr '\n' ' '
}

@test "completion for bash: verbs, options, values, claims; files else" {
    use_installed
    [ "$(completes faultline ex)" = "explore exec export " ]
    [ "$(completes faultline run --en)" = "--engine " ]
    [ "$(completes faultline run --engine = s)" = "step " ]
    [ "$(completes faultline run --engine '')" = "mpiexec step " ]
    [ "$(completes faultline check --claims H.or)" = "H.orphan H.order " ]
    [ "$(completes faultline run x)" = " " ]
    # What is offered is taken: a file that is not there is all that is wrong.
    local word
    for word in $(completes faultline trace --format ''); do
        run ! faultline trace --format "$word" --output x nowhere
        [[ $output == *nowhere* && $output != *accepted* ]]
    done
    for word in $(completes faultline campaign --strategy ''); do
        run ! faultline campaign --strategy "$word" nowhere.lua
        [[ $output == *nowhere.lua* && $output != *accepted* ]]
    done
}

@test "completion for zsh" {
    use_installed
    offers() {
        # shellcheck disable=SC2016 # for zsh
        zsh -f -c '_describe() { print -l -- ${(P)2} }; _files() { print files }
            script=$1; shift; words=("$@"); CURRENT=$#; offer() { . $script }; offer' zsh \
            "$PREFIX/share/zsh/site-functions/_faultline" "$@"
    }
    [ "$(offers faultline '' | grep -c ':')" -eq "$(faultline --help | grep -c '^  [a-z]* ')" ]
    offers faultline run - | grep -qx -- '--engine:.*'
    [ "$(offers faultline run --engine '' | tr '\n' ' ')" = "mpiexec step " ]
    [ "$(offers faultline run '')" = files ]
}

@test "uninstall leaves nothing" {
    make -s -C "$REPO" BUILD="$BUILD" install DESTDIR="$PWD/root" PREFIX=/opt/f
    "$PWD/root/opt/f/bin/faultline" --version
    make -s -C "$REPO" BUILD="$BUILD" uninstall DESTDIR="$PWD/root" PREFIX=/opt/f
    [ "$(find root -type f -o -type l | wc -l)" -eq 0 ]
    run ! make -s -C "$REPO" BUILD="$BUILD" install DESTDIR="$PWD/root" PREFIX=relative
    [[ $output == *"PREFIX=relative: it must begin with a /"* ]]
}
