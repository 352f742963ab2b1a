#!/usr/bin/env bats
# The page of a run: written for what does not pass, drawn again from what is stored, whole without
# style, script or network. What it looks like in a browser is tested elsewhere.

bats_require_minimum_version 1.5.0

load driver_common

# One run that fails and one that passes with a restart, for all tests here.
setup_file() {
    local repo build
    repo=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    build=${BUILD:-$repo/build}
    case $build in /*) ;; *) build=$repo/$build ;; esac
    cd "$BATS_FILE_TMPDIR" || return 1
    mkdir -p pages/2.html # a page that cannot be written there
    timeout 300 "$build/faultline" run --html pages --repeat 2 "$repo/suites/demo/breaks.lua" \
        >breaks.tap || echo $? >breaks.status
    timeout 300 "$build/faultline" run --out survives --html survived \
        "$repo/suites/demo/survives.lua" >survives.tap
    cp -rL faultline-out/latest/1 run
    cp -rL survives/latest/1 passed
}

# A copy of the run that fails, to be spoiled.
spoiled() {
    cp -r "$BATS_FILE_TMPDIR/run" run
    rm run/report.html
}

report() {
    env FAULTLINE_MPIEXEC=/nonexistent "$FAULTLINE" report "$@"
}

# query PAGE XPATH
query() {
    xmllint --html --nowarning --xpath "$2" "$1" 2>/dev/null
}

@test "what does not pass has its page, and the TAP says where; what passes has none" {
    cd "$BATS_FILE_TMPDIR"
    [ -s faultline-out/latest/1/report.html ]
    grep -q 'report: ".*/1/report.html"' breaks.tap
    [ ! -e survives/latest/1/report.html ]
    run ! grep report: survives.tap
    [ -s pages/1.html ]
    [ -s survived/1.html ]
}

@test "the pages of all runs have an index, which leads to those that are there" {
    cd "$BATS_FILE_TMPDIR"
    [ "$(query survived/index.html 'string(//tbody//a/@href)')" = 1.html ]
    [[ "$(query survived/index.html 'string(//main)')" == *"laplace survives"* ]]
    grep -o 'href="[^"#]*html"' pages/index.html | sort -u >links
    [ "$(cat links)" = 'href="1.html"' ] # the second page could not be written
    [[ "$(query pages/index.html 'string(//ol[@class="groups"])')" == *"2 runs: 1, 2"* ]]
}

@test "a page that cannot be written changes no verdict" {
    cd "$BATS_FILE_TMPDIR"
    [ "$(cat breaks.status)" = 1 ]
    [ "$(grep -c '^not ok' breaks.tap)" = 2 ]
    [ -z "$(ls pages/2.html)" ]
    run ! compgen -G 'pages/*.new'
}

@test "the diagnostic stands in plain text: verdict, claim, why, witness, command" {
    page=$BATS_FILE_TMPDIR/run/report.html
    heading=$(query "$page" 'string(//main/header)')
    [[ "$heading" == *"violation: tally under a blocking checkpoint"* ]]
    [[ "$heading" == *"B.empty: no application message crosses"*"Chandy and Lamport"* ]]
    [[ "$heading" == *"sent m(1→0, tag 3"* ]]
    [[ "$heading" == *"faultline "*"faultline-out/"*"/1"* ]]
    [ "$(query "$page" 'count(//main/header//p[@class="witness"]/a)')" -ge 2 ]
}

@test "without style and script: a picture with colours of its own, a row for each event" {
    page=$BATS_FILE_TMPDIR/run/report.html
    marks=$(query "$page" 'count((//figure)[last()]//a[@class="event"])')
    [ "$marks" -gt 50 ]
    [ "$(query "$page" 'count(//tbody/tr[@data-rank])')" = "$marks" ]
    [ "$(query "$page" 'count(//figure//*[@class="arrow early"]//path[@stroke and @stroke-dasharray])')" -gt 0 ]
    [ "$(query "$page" 'count(//figure//polyline[@stroke])')" -gt 0 ]
    [ "$(query "$page" 'count(//figure//svg//a[not(title)])')" = 0 ]
    [ "$(query "$page" 'count(//*[@style])')" = 0 ]
}

@test "every link leads to something in the page, and no id is there twice" {
    page=$BATS_FILE_TMPDIR/run/report.html
    grep -o 'href="#[^"]*"' "$page" | sed 's/href="#\(.*\)"/\1/' | sort -u >links
    grep -o ' id="[^"]*"' "$page" | sed 's/ id="\(.*\)"/\1/' | sort >ids
    [ -s links ]
    [ -z "$(comm -23 links <(sort -u ids))" ]
    [ -z "$(uniq -d ids)" ]
    run ! grep -Eo '(src|href|url)[=(]"?https?:' "$page"
}

@test "the witness is in the first picture, with its letters" {
    page=$BATS_FILE_TMPDIR/run/report.html
    asked=$(jq '.findings[0].witness | length' "$BATS_FILE_TMPDIR/run/verdict.json")
    [ "$(query "$page" 'count((//figure)[1]//a[@data-letter])')" = "$asked" ]
    [ "$(query "$page" 'count(//tr[@class="is-witness"])')" = "$asked" ]
}

@test "a run that passes: both lives, the kill, what was judged" {
    page=$BATS_FILE_TMPDIR/survived/1.html
    [[ "$(query "$page" 'string(//main/header)')" == *"pass: laplace survives"* ]]
    [ "$(query "$page" 'count((//figure)[1]//text[text()="r1#1"])')" = 1 ]
    [ "$(query "$page" 'count((//figure)[1]//path[@class="kill-mark"])')" -gt 0 ]
    [ "$(query "$page" 'count(//section[@aria-labelledby="claims-heading"]//tbody/tr)')" -gt 5 ]
}

@test "without traces, without a verdict, without run.json: what is there is shown" {
    spoiled
    mv run/trace away
    report run
    [[ "$(query run/report.html 'string(//main/header)')" == *"violation: tally"* ]]
    [ "$(query run/report.html 'count(//figure)')" = 0 ]
    mv away run/trace
    mv run/verdict.json away
    report run
    [[ "$(query run/report.html 'string(//main/header/h1)')" == "not judged: tally"* ]]
    [ "$(query run/report.html 'count(//figure)')" -ge 1 ]
    rm run/run.json
    report run -o alone.html
    [ "$(query alone.html 'count(//tbody/tr)')" -gt 50 ]
    report run/trace -o bare.html
    [ "$(query bare.html 'count(//tbody/tr)')" -gt 50 ]
}

@test "a trace that cannot be read: the page says so" {
    spoiled
    printf 'nonsense' >run/trace/r0.0.trace
    report run
    [[ "$(query run/report.html 'string(//p[@class="undrawn"])')" == *"Not drawn:"*r0.0.trace* ]]
    [[ "$(query run/report.html 'string(//main/header)')" == *"violation: tally"* ]]
}

@test "a verdict that is damaged is an error, and no page is left half" {
    spoiled
    printf '{"verdict": ' >run/verdict.json
    run report run
    [ "$status" -eq 64 ]
    [[ "$output" == *"verdict.json:1:"* ]]
    [ ! -e run/report.html ]
    run ! compgen -G 'run/*.new'
    run report nowhere
    [ "$status" -ne 0 ]
    [[ "$output" == *nowhere* ]]
}

@test "two runs in one page: the other around the same events" {
    report "$BATS_FILE_TMPDIR/run" --beside "$BATS_FILE_TMPDIR/passed" -o two.html
    [[ "$(query two.html 'string(//section[@class="beside"]/h2)')" == "Beside it: "*"pass: laplace"* ]]
    [ "$(query two.html 'count(//section[@class="beside"]//figure)')" -ge 1 ]
    [ "$(query two.html 'count(//section[@class="beside"]//a[@data-letter])')" = 0 ]
    grep -o ' id="[^"]*"' two.html | sort >ids
    [ -z "$(uniq -d ids)" ]
    run report "$BATS_FILE_TMPDIR/run" --beside nowhere -o none.html
    [ "$status" -ne 0 ]
    [ ! -e none.html ]
}

@test "wrong use: what is accepted is said" {
    run report
    [ "$status" -eq 64 ]
    run report a b
    [ "$status" -eq 64 ]
    [[ "$output" == *--beside* ]]
    run report --text -o x.html "$BATS_FILE_TMPDIR/run"
    [ "$status" -eq 64 ]
}
