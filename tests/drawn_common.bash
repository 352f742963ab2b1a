# What the tests of drawn programs share; load driver_common, too.

# none_fails SUITE FILTER PASSED ALL [OPTION...]: of so many scenarios so many must pass; the others may be vacuous:
# something that the plan asks for, most often a death, was not reached.
none_fails() {
    run "$FAULTLINE" run --engine step --no-control --no-stacks --filter "$2" \
        "${@:5}" "$REPO/suites/drawn/$1.lua"
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ]
    [ "$(grep -c '^ok' <<<"$output")" -ge "$3" ]
    [ "$(grep -cE '^ok|^not ok .* # vacuous$' <<<"$output")" -eq "$4" ]
}
