# What the viewers ask of Chrome's trace event form; prints what is wrong, an array.
def thread: [.pid, .tid];

# Calls of a thread nest: each E ends the newest B, under the same name, and no time runs backwards.
def nesting:
  reduce .[] as $e ({open: [], now: 0, wrong: []};
    if $e.ts < .now then .wrong += ["time runs backwards: \($e)"] else . end
    | .now = $e.ts
    | if $e.ph == "B" then .open += [$e.name]
      elif $e.ph == "E" then
        (if (.open | last) != $e.name then .wrong += ["ends what is not open: \($e)"] else . end)
        | .open = .open[:-1]
      elif $e.ph == "f" and (.open | length) == 0 then .wrong += ["outside of a call: \($e)"]
      else . end)
  | if (.open | length) > 0 then .wrong += ["never ended: \(.open)"] else . end
  | .wrong;

# One tail and one head for each id, the head bound to the call around it, and not before the tail.
def arrows:
  group_by(.id)[]
  | (map(select(.ph == "s")) | length) as $tails
  | map(select(.ph == "f")) as $heads
  | if $tails != 1 or ($heads | length) != 1 then "not one tail and one head: \(.)"
    elif $heads[0].bp != "e" then "not bound to the call around it: \($heads[0])"
    else empty end;

.traceEvents
| [ (.[] | select((.pid // 0) < 1 or (.ph != "M" and (.tid // 0) < 1)) | "pid or tid 0: \(.)"),
    (map(select(.ph != "M")) | group_by(thread)[] | nesting[]),
    (map(select(.ph == "s" or .ph == "f")) | arrows) ]
