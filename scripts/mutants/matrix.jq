# The matrix of mutants as markdown. Input: all results in one array; $claims: lines; $least.

def outcome:
    if .state != "ran" then .state
    elif .found == {} then "SURVIVED"
    else
        . as $one | [.targets[] | select($one.found[.])] | length
        | if . == ($one.targets | length) then "caught"
          elif . > 0 then "caught, not by all"
          else "caught by another"
          end
    end;

# How often each text is there.
def counts: group_by(.) | map({key: .[0], value: length}) | from_entries;

def table($head; rows):
    "| " + ($head | join(" | ")) + " |", "|" + ($head | map("---|") | join("")),
    (rows | "| " + join(" | ") + " |");

# The number of the run that found it; bold where it was to be found.
def cell($claim):
    . as $one
    | if .found[$claim] then
        if .targets | index([$claim]) then "**\(.found[$claim])**" else "\(.found[$claim])" end
      elif .targets | index([$claim]) then "missed"
      else "" end;

def others($claims):
    .found | keys | map(select(. as $claim | $claims | index([$claim]) | not)) | join(" ");

# One table a protocol, with a column for each claim that any of its mutants violates.
def protocol_table:
    . as $mutants
    | ([.[] | (.found | keys[]), .targets[]] | unique) as $columns
    | table(["mutant", "outcome", "runs"] + $columns;
            $mutants[] | . as $one | [.mutant, outcome, "\(.runs)"] + [$columns[] | . as $c | $one | cell($c)]);

def folder: .patch | split("/")[2];

. as $all
| [$all[] | select(.kind == "protocol")] as $protocols
| [$all[] | select(.kind == "harness")] as $own
| "# Mutants", "",
  "\($all | length) mutants: "
    + ([$all | group_by(outcome)[] | "\(length) \(.[0] | outcome)"] | join(", "))
    + "; \([$all[].runs] | add) runs, \([$all[].seconds] | add) s.", "",
  (if $protocols == [] then empty else
    "## Protocols", "",
    "A number is the run that violated the claim first; bold: the claim that the mutant is for.", "",
    ($protocols | group_by(folder)[] | ("### \(.[0] | folder)", "", protocol_table, "")),
    "### By claim", "",
    "Of claims about Faultline itself (I) the mutants are those of its own oracles, below.", "",
    (([$all[] | . as $one | .targets[] | select($one.found[.])] | counts) as $caught
     | ([$all[].found | keys[]] | counts) as $found
     | table(["claim", "mutants caught that are for it", "all that violate it"];
             $claims | split("\n")[] | . as $claim
             | [$claim, "\($caught[$claim] // 0)", "\($found[$claim] // 0)"])),
    ""
  end),
  (if $own == [] then empty else
    "## Faultline itself", "",
    table(["mutant", "outcome", "runs", "is to be caught by", "caught by"];
          $own[] | [.mutant, outcome, "\(.runs)", (.targets | join(" ")), (.found | keys | join(" "))])
  end)
