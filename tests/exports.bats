#!/usr/bin/env bats
# Results and traces in forms for other programs, each read by its own tool.

bats_require_minimum_version 1.5.0

load driver_common

# One run with a restart for all tests here: its traces, where there is no MPI any more.
setup_file() {
    local repo build
    repo=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    build=${BUILD:-$repo/build}
    case $build in /*) ;; *) build=$repo/$build ;; esac
    cd "$BATS_FILE_TMPDIR" || return 1
    timeout 300 "$build/faultline" run "$repo/suites/demo/survives.lua" >tap || true
    timeout 300 "$build/faultline" run "$repo/suites/demo/breaks.lua" --out breaks >>tap || true
    cp -rL faultline-out/latest/1 run
    cp -rL breaks/latest/1 witness
}

# export FORMAT [OPTION...]: of the run with the restart.
export_run() {
    local format=$1
    shift
    env FAULTLINE_MPIEXEC=/nonexistent "$FAULTLINE" trace "$BATS_FILE_TMPDIR/run" \
        --format "$format" "$@"
}

# How many messages of the wire the run delivered, as newline JSON tells.
deliveries() {
    export_run json | jq -s 'map(select(.sent_by)) | length'
}

@test "nothing of the command needs MPI" {
    run ldd "$FAULTLINE"
    [[ "$output" != *libmpi* ]]
}

@test "newline JSON: every line is one object, clocks of each process go up by one" {
    export_run json -o t
    [ "$(jq -c . t | wc -l)" -eq "$(wc -l <t)" ]
    [ "$(head -n 1 t | jq -r .form)" = faultline-trace ]
    run jq -s -r '.[1:] | group_by([.rank, .incarnation])[]
        | ("r\(.[0].rank)#\(.[0].incarnation)") as $own | map(.clock[$own])
        | if . == [range(1; length + 1)] then empty else "gap in \($own)" end' t
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "newline JSON: a send stands above its delivery, whose clock is not below" {
    export_run json -o t
    [ "$(deliveries)" -gt 100 ]
    run jq -s -r '.[1:] | (to_entries | map({key: .value.event, value: .}) | from_entries) as $all
        | to_entries[] | select(.value.sent_by) | . as $to | $all[$to.value.sent_by] as $from
        | select($from.key > $to.key or $from.value.received_by != $to.value.event or
                 ($from.value.clock | to_entries | any(.value > ($to.value.clock[.key] // 0))))
        | $to.value.event' t
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "ShiViz: first line matches all others, clocks have no gaps, the witness is there" {
    "$FAULTLINE" trace "$BATS_FILE_TMPDIR/witness" --format shiviz -o t
    [ "$(sed -n 2p t)" = "" ]
    head -n 1 t >pattern
    run perl -e '
        open my $in, "<", "t"; my $pattern = <$in>; chomp $pattern; <$in>;
        my (%count, $events);
        while (<$in>) {
            /^$pattern$/ or die "not matched: $_";
            my ($host, $clock) = ($+{host}, $+{clock});
            my %clock = $clock =~ /"([^"]+)":(\d+)/g;
            $clock{$host} == ++$count{$host} or die "gap: $_";
            $clock{$_} <= ($count{$_} // 0) or die "from the future: $_ in $clock" for keys %clock;
            $events++;
        }
        die "$events events" if $events < 100 || $events > 2000;'
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$(grep -c '\[witness\]$' t)" -eq \
        "$(jq '.findings[0].witness | length' "$BATS_FILE_TMPDIR/witness/verdict.json")" ]
}

@test "Perfetto: calls nest, arrows pair, no number is 0" {
    export_run perfetto -o t
    run jq -c -f "$BATS_TEST_DIRNAME/exports/perfetto.jq" t
    [ "$status" -eq 0 ]
    [ "$output" = "[]" ] || { echo "$output" | head -c 2000; false; }
    [ "$(jq '[.traceEvents[] | select(.ph == "f")] | length' t)" -eq "$(deliveries)" ]
    [ "$(jq '[.traceEvents[] | select(.ph == "M" and .name == "process_name")] | length' t)" -eq \
        "$(find "$BATS_FILE_TMPDIR/run/trace" -name '*.trace' | wc -l)" ]
}

@test "Perfetto: the check above sees what is wrong" {
    export_run perfetto -o t
    local broken
    for broken in '(.traceEvents[] | select(.ph == "f")).bp = "x"' \
        '(.traceEvents[] | select(.ph == "s")).id = 1' \
        '(.traceEvents[] | select(.ph == "E")).tid = 0' \
        'del(.traceEvents[-1])' \
        '(.traceEvents[-1]).ts = 0'; do
        jq "$broken" t >u
        run jq -c -f "$BATS_TEST_DIRNAME/exports/perfetto.jq" u
        [ "$output" != "[]" ] || { echo "not seen: $broken"; false; }
    done
}

@test "OTF2: otf2-print reads it, no time runs backwards within a location" {
    export_run otf2 -o archive
    otf2-print archive/traces.otf2 >printed
    run awk '/^(ENTER|LEAVE|MPI_SEND|MPI_RECV) / {
            if ($3 < now[$2]) { print "backwards:", $0; exit 1 }
            now[$2] = $3; count[$1]++; depth[$2] += ($1 == "ENTER") - ($1 == "LEAVE")
        }
        END {
            for (i in depth) if (depth[i] != 0) { print "open at the end:", i; exit 1 }
            print count["MPI_RECV"], count["ENTER"] - count["LEAVE"]
        }' printed
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$output" = "$(deliveries) 0" ]
    run otf2-print -G archive/traces.otf2
    [ "$status" -eq 0 ]
    [[ "$output" == *'"r1#1"'* ]]
    run otf2-print --show-global-defs archive/traces.otf2
    [ "$(grep -c '^LOCATION  ' <<<"$output")" -eq \
        "$(find "$BATS_FILE_TMPDIR/run/trace" -name '*.trace' | wc -l)" ]
}

@test "an OTF2 folder needs a name, and must not be there" {
    run export_run otf2
    [ "$status" -eq 64 ]
    [[ "$output" == *"--output DIR is missing"* ]]
    mkdir there
    run export_run otf2 -o there
    [ "$status" -eq 3 ]
    [[ "$output" == *"there: File exists"* ]]
}

@test "an unknown format names those there are" {
    run export_run shivix
    [ "$status" -eq 64 ]
    [[ "$output" == *'did you mean "shiviz"'* ]]
    [[ "$output" == *"accepted: text, columns, json, shiviz, perfetto, otf2"* ]]
    local option
    for option in 'rank 1' 'incarnation 0' 'level app' 'kind send' 'from 1' 'to 2' 'limit 3'; do
        # shellcheck disable=SC2086 # an option and its value
        run -64 export_run json --$option
        [[ "$output" == *"--${option% *} is for --format text"* ]] || { echo "$option: $output" && return 1; }
    done
}

@test "what cannot be written is an error" {
    local format
    for format in text json shiviz perfetto; do
        run export_run "$format" -o /dev/full
        [ "$status" -eq 3 ] || { echo "$format: $status"; false; }
        [[ "$output" == *"No space left"* ]]
        run export_run "$format" -o nowhere/at/all
        [ "$status" -eq 3 ]
    done
    run bash -c "'$FAULTLINE' trace '$BATS_FILE_TMPDIR/run' --format json >/dev/full"
    [ "$status" -eq 3 ]
    scenario "good" '"ok"'
    run "$FAULTLINE" run s.lua --junit nowhere/at/all
    [ "$status" -eq 3 ]
    [[ "$output" == *"--junit nowhere/at/all"* ]]
    run "$FAULTLINE" run s.lua --junit /dev/full
    [ "$status" -eq 3 ]
    scenario "bad end" '"exit"'
    for format in junit json github gitlab; do
        run "$FAULTLINE" run s.lua "--$format" /dev/full
        [ "$status" -eq 1 ]
        [[ "$output" == *"cannot write /dev/full"* ]]
    done
}

# All that would end something somewhere; the last byte is no character, and XML holds no \001.
FILE=$'s<&>",:%\001\xff.lua'

# Of each kind: a pass, a failure, one that cannot be decided.
results() {
    scenario "good" '"ok"'
    scenario "bad end" '"exit"'
    scenario "nothing of the kind" '"ok"' \
        'plan = function(p) p:kill { rank = 1, event = "send", nth = 99 } end'
    mv s.lua "$FILE"
    run "$FAULTLINE" run "$FILE" --junit x.xml --json x.json --github x.github --gitlab x.gitlab
    [ "$status" -eq 1 ]
}

@test "JUnit: the schema holds, each verdict is what it should be" {
    results
    xmllint --noout --schema "$BATS_TEST_DIRNAME/exports/junit.xsd" x.xml
    # at PATH: what the expression is in the report.
    at() { xmllint --xpath "$1" x.xml; }
    [ "$(at 'string(/testsuites/@tests)') $(at 'string(//testsuite/@failures)')" = "3 1" ]
    [ "$(at 'string(//testsuite/@errors)') $(at 'string(//testsuite/@skipped)')" = "1 0" ]
    [ "$(at 'count(//testcase[@name="good"]/*[not(self::system-out)])')" = 0 ]
    [ "$(at 'string(//testcase[@name="bad end"]/failure/@type)')" = H.progress ]
    [[ "$(at 'string(//testcase[@name="bad end"]/system-out)')" == *"why: "* ]]
    [[ "$(at 'string(//testcase[@name="good"]/@classname)')" == 's<&>",:%\x01\xff.lua.null.'* ]]
    [ "$(at 'count(//testcase[@name="nothing of the kind"]/error)')" = 1 ]
}

@test "JUnit: the schema sees what is wrong" {
    results
    for broken in 's/ tests="3"//' 's/<failure /<failed /; s/<\/failure>/<\/failed>/' \
        's/classname=/class=/' 's/ errors="1"/ errors="one"/'; do
        sed "$broken" x.xml >y.xml
        run xmllint --noout --schema "$BATS_TEST_DIRNAME/exports/junit.xsd" y.xml
        [ "$status" -ne 0 ] || { echo "not seen: $broken"; false; }
    done
}

@test "JSON: a line about all, then one a scenario" {
    results
    [ "$(jq -r .form x.json | head -n 1)" = faultline-results ]
    [ "$(jq -s -r '.[1:] | map(.result) | join(" ")' x.json)" = "pass failure error" ]
    [ "$(jq -s -r '.[2] | .name, .claim' x.json | paste -s)" = "bad end	H.progress" ]
    [ "$(jq -s '.[2].why | length' x.json)" -ge 1 ]
}

@test "annotations: one a scenario that did not pass, at its line" {
    results
    [ "$(wc -l <x.github)" -eq 2 ]
    run env LC_ALL=C \
        grep -a -c '^::error file=s<&>"%2C%3A%25[^:,]*\.lua,line=[0-9]*,title=[^:,]*::' x.github
    [ "$output" = 2 ]
    [ "$(jq 'length' x.gitlab)" -eq 2 ]
    [ "$(jq '[.[].fingerprint] | unique | length' x.gitlab)" -eq 2 ]
    [ "$(jq -r '.[0] | .severity, .check_name' x.gitlab | paste -s)" = "critical	H.progress" ]
    [[ "$(jq -r '.[0].location.path' x.gitlab)" == 's<&>",:%'*.lua ]]
    [ "$(jq '[.[].location.lines.begin] | min' x.gitlab)" -ge 1 ]
}

@test "what was never started and what the user cuts off are skipped, and a signal still leaves the reports" {
    scenario "first" '"spin"'
    scenario "second" '"ok"'
    env --default-signal=INT "$FAULTLINE" run s.lua --junit x.xml >tap 2>err &
    DRIVER=$!
    wait_until started pid.0 pid.1
    kill -INT "$DRIVER"
    wait "$DRIVER" || true # not `run`: a subshell waits for nobody
    xmllint --noout --schema "$BATS_TEST_DIRNAME/exports/junit.xsd" x.xml
    [ "$(xmllint --xpath 'count(//testcase[@name="second"]/skipped)' x.xml)" = 1 ]
    [ "$(xmllint --xpath 'count(//testcase[@name="first"]/skipped[contains(@message, "cut off by the user")])' \
        x.xml)" = 1 ]
}
