#!/usr/bin/env bash
# Runs the arrangements of suites/c3/collectives_coverage.lua and prints a table: category by region
# of the root by regions of the others; which were forced and seen, which are forbidden and were
# attempted; and how much of it was sampled with more ranks. Some ten minutes on 2 cores.
# Usage: collectives_coverage.sh BUILD_FOLDER [OPTION of faultline run ...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0
"$build/faultline" run --out "$out/runs" --tap "$out/tap" "$@" suites/c3/collectives_coverage.lua \
    >"$out/stdout" || status=$?
lua5.4 - "$out/tap" <<'LUA'
local seen, order, total = {}, {}, {}
local function count(what, good)
  local one = total[what] or { 0, 0 }
  total[what] = { one[1] + (good and 1 or 0), one[2] + 1 }
end
for line in io.lines(arg[1]) do
  local verdict, category, how, cell, call =
    line:match("^(.-ok) %d+ %- (%w+): (%w+) ([%w+-]+), ([%w_]+)")
  if verdict and how == "recovered" then
    count(how, verdict == "ok")
  elseif verdict and how == "sampled" then
    count(line:match("%d+ ranks") .. " sampled", verdict == "ok")
  elseif verdict then
    local key = category .. " " .. cell
    if not seen[key] then
      seen[key] = { category = category, how = how, good = 0, bad = {} }
      table.insert(order, key)
    end
    if verdict == "ok" then seen[key].good = seen[key].good + 1
    else table.insert(seen[key].bad, call) end
  end
end
table.sort(order)
local category
for _, key in ipairs(order) do
  local one = seen[key]
  if one.category ~= category then
    category = one.category
    print(string.format("\n%-8s %-9s %-18s", category, "root", "others"))
  end
  local root, others = key:match(" (%a+)-([%a+]+)$")
  local what = one.how == "forced" and "seen" or "forbidden, attempted"
  print(string.format("%-8s %-9s %-18s %s in %d%s", "", root, others,
    #one.bad == 0 and what or "NOT " .. what, one.good,
    #one.bad == 0 and "" or "; not in " .. table.concat(one.bad, ", ")))
  count(one.how, #one.bad == 0)
end
print()
local hows = {}
for how in pairs(total) do table.insert(hows, how) end
table.sort(hows)
for _, how in ipairs(hows) do
  print(string.format("%s: %d of %d", how, total[how][1], total[how][2]))
end
LUA
exit $status
