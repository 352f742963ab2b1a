#!/usr/bin/env bash
# The same decisions give the same trace: runs of several programs under several protocols on the step
# engine, with and without a kill and a restart, COPIES times each under SEEDS seeds. The first two of
# a kind start the program anew, later ones have a zygote that is kept. Every trace of every copy is
# compared with the first's, byte for byte. Says how many were the same, and which were not; exit
# status 1 if there are any.
# Usage: same_traces.sh BUILD [SEEDS [COPIES]]
set -euo pipefail

build=$(realpath "${1:?usage: same_traces.sh BUILD [SEEDS [COPIES]]}")
seeds=${2:-20}
copies=${3:-6}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/same.lua" <<EOF
local kinds = {
  { "null", "ring" }, { "null", "random" }, { "null", "master_worker" },
  { "blocking", "laplace", "blocking:mid-write" }, { "blocking", "cg", "blocking:before-commit" },
  { "c3", "laplace" }, { "c3", "laplace", "c3:mid-write" }, { "c3", "tally", "c3:before-sync" },
  { "cocheck", "ring", "cocheck:mid-write" }, { "chandy_lamport", "laplace" },
}
for number, kind in ipairs(kinds) do
  for copy = 1, $copies do
    scenario(number .. "." .. copy) {
      protocol = kind[1], program = kind[2], ranks = 4, engine = "step", claims = { "H", "I" },
      plan = kind[3] and function(p)
        p:kill { rank = 0, event = "phase", name = kind[3], nth = 2 }
      end,
    }
  end
end
EOF

compared=0
different=0
for ((seed = 1; seed <= seeds; seed++)); do
    status=0
    "$build/faultline" run -j2 --no-control --no-stacks --seed "$seed" --out "$work/out" "$work/same.lua" \
        >"$work/tap" || status=$?
    if [ "$status" -gt 2 ]; then # whatever they find, it must be found in each
        grep -A3 '^not ok' "$work/tap"
        exit 1
    fi
    for run in "$work"/out/latest/[0-9]*; do
        printf '%s %s\n' "$(jq -r .scenario.name "$run/run.json")" \
            "$(cd "$run/trace" && sha256sum -- * | sha256sum)"
    done | sort -V >"$work/sums"
    while read -r name sum _; do
        if [ "${name#*.}" = 1 ]; then
            first=$sum
            continue
        fi
        compared=$((compared + 1))
        if [ "$sum" != "$first" ]; then
            different=$((different + 1))
            echo "seed $seed: run $name is not as run ${name%.*}.1" >&2
        fi
    done <"$work/sums"
    rm -rf "$work/out"
done
echo "$((compared - different)) of $compared runs left the same traces as the run before"
[ "$different" -eq 0 ]
