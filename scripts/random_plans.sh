#!/usr/bin/env bash
# make random-c3, make random-logging, make random-master_worker_ulfm: all plans of a folder, and how they ended, by the first word of
# their names. A plan may ask for what does not happen (vacuous; that the job recovered is counted all
# the same), or for more failures at a time than the protocol promises to survive (unsupported);
# anything else but a pass fails. Takes up to an hour on 2 cores; --filter 'plan *: collectives' are
# the plans over every collective call.
# Usage: random_plans.sh BUILD_FOLDER SUITE [OPTION of faultline run ...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 suite=$2
tap=$(mktemp)
trap 'rm -f "$tap"' EXIT

status=0
"$build/faultline" run -v -j "$(nproc)" --out "$build/random/$suite" "${@:3}" "$suite" >"$tap" ||
    status=$?
awk '/^(not )?ok / { shown = /^not ok/ && !/ # (vacuous|unknown)$/ } shown' "$tap" | head -200 >&2
lua5.4 - "$tap" <<'LUA'
local programs, order, program, unknown = {}, {}, nil, false
local function add(what) programs[program][what] = programs[program][what] + 1 end
for line in io.lines(arg[1]) do
  local verdict, name, remark = line:match("^(.-ok) %d+ %- plan %d+: ([%w_]+)(.*)")
  if verdict then
    program = name
    if not programs[program] then
      programs[program] = { passed = 0, vacuous = 0, unsupported = 0, failed = 0, recovered = 0 }
      table.insert(order, program)
    end
    local vacuous = remark:match(" # vacuous$")
    unknown = remark:match(" # unknown$")
    add(verdict == "ok" and "passed" or vacuous and "vacuous" or "failed")
  elseif unknown and (line:match("unsupported: rank %d+ died while others were down") or
                      line:match("unsupported: both processes of rank %d+ have died") or
                      line:match("unsupported: process %d+ died, the program promises")) then
    unknown = false
    add("unsupported")
    programs[program].failed = programs[program].failed - 1
  elseif line:match("^  end: \"finished after [^1]%d* incarnations") or
         line:match("^  end: \"finished after 1%d+ incarnations") then
    add("recovered")
  end
end
table.sort(order)
local all = { passed = 0, vacuous = 0, unsupported = 0, failed = 0, recovered = 0 }
local function row(name, one)
  print(string.format("%-16s %4d plans: %d passed, %d vacuous, %d unsupported, %d failed; " ..
    "%d recovered", name, one.passed + one.vacuous + one.unsupported + one.failed, one.passed,
    one.vacuous, one.unsupported, one.failed, one.recovered))
end
for _, name in ipairs(order) do
  row(name, programs[name])
  for what, count in pairs(programs[name]) do all[what] = all[what] + count end
end
row("all", all)
os.exit(all.failed == 0 and all.passed > 0)
LUA
[ "$status" = 0 ] || [ "$status" = 2 ]
