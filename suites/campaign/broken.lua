-- What campaigns that must find something run over: each broken variant of a protocol or (at the
-- end) of a program, with the program, arguments and environment that its hand-made scenarios have
-- (suites/*/broken.lua, suites/storage/broken.lua), but without their plans: a campaign has to draw
-- those.

local EVERY = 10
local ONE_LINE, TWO_LINES = 2 * EVERY - 1, 3 * EVERY - 1 -- iterations

local function subject(variant, program, arguments, fields)
  fields.protocol, fields.program, fields.arguments = variant, program, arguments
  fields.ranks, fields.timeout = fields.ranks or 3, 30
  scenario(variant)(fields)
end

-- ---- c3 ----------------------------------------------------------------------------------------

local function c3(variant, program, arguments, environment, ranks)
  environment.C3_EVERY = environment.C3_EVERY or EVERY
  subject("c3-" .. variant, program, arguments,
    { claims = { "C", "H" }, environment = environment, ranks = ranks })
end

for _, variant in ipairs { "stop-for-behind", "deaf-to-stopped", "ready-without-late",
                           "ready-before-counts", "log-wildcards-only", "log-all", "early-unasked",
                           "suppress-cleared", "suppress-untold", "stopped-before-saved",
                           "log-unsynced" } do
  c3(variant, "ring", { "--iterations", ONE_LINE }, {})
end
c3("color-without-logging", "ring", { "--iterations", ONE_LINE }, { C3_PIGGYBACK = "color" })
for _, variant in ipairs { "initiate-any-time", "initiate-when-stopped", "restore-uncommitted" } do
  c3(variant, "ring", { "--iterations", TWO_LINES }, {})
end
c3("log-by-reference", "laplace", { "--size", 16, "--iterations", 23 }, { C3_EVERY = 12 })
c3("wildcards-unlogged", "master_worker", { "--iterations", ONE_LINE, "--size", 2 }, {})
c3("choices-unlogged", "random", { "--iterations", ONE_LINE, "--compute-us", 0 }, {}, 2)

-- In its collectives: the figures as they are printed, and a mistake for every claim of family D.
local function collectives(variant, call, ...)
  subject("c3-" .. variant, "arrangement", { "--call", call, "--iterations", 14, ... },
    { claims = { "C", "D", "H" }, environment = { C3_EVERY = 4 } })
end

local BCAST, REDUCE, ALLREDUCE, BARRIER = 0, 5, 11, 16
collectives("as-published", ALLREDUCE)
collectives("d-all-logged", ALLREDUCE)
collectives("d-barrier-straddles", BARRIER)
collectives("d-gather-logged", REDUCE)
collectives("d-stop-for-behind", BARRIER)
for _, variant in ipairs { "d-bcast-forgotten", "d-bcast-logged", "d-deaf-to-root" } do
  collectives(variant, BCAST)
end
-- What a root sent is only under way for long where the others stay before it.
collectives("d-late-uncounted", BCAST, "--lag", 3, "--leader", 0)

-- ---- blocking ----------------------------------------------------------------------------------

-- The last rank is slow, so that rank 0 counts what a fast rank sends after its checkpoint.
subject("blocking-no-barrier", "tally", { "--slow-us", 10000 }, { claims = { "B", "H" } })
subject("blocking-restore-uncommitted", "tally", {}, { claims = { "B", "H" } })
for _, variant in ipairs { "commit-before-save", "commit-before-sync", "short-write", "stale-piece",
                           "unsynced-name", "unsynced-content" } do
  subject("blocking-" .. variant, "laplace", {}, { claims = { "B", "H" } })
end

-- ---- chandy_lamport ----------------------------------------------------------------------------

for _, variant in ipairs { "done-alone", "first-marker-ends-all", "marker-ends-nothing",
                           "markers-late" } do
  subject("chandy_lamport-" .. variant, "ring", { "--iterations", 11 },
    { claims = { "S", "H" }, environment = { CHANDY_EVERY = 6, CHANDY_STEPS = 8 } })
end

-- ---- cocheck -----------------------------------------------------------------------------------

local function cocheck(variant, program, arguments, reserve)
  subject("cocheck-" .. variant, program, arguments, {
    claims = { "R", "H" }, ranks = 3 + (reserve or 0), reserve = reserve,
    environment = { COCHECK_EVERY = 6, COCHECK_SKELETONS = reserve,
                    COCHECK_MIGRATE = reserve and "1@1" or nil },
  })
end

for _, variant in ipairs { "cut-before-flush", "flush-one-short", "ready-apart" } do
  cocheck(variant, "pipeline", { "--iterations", 12 })
end
cocheck("notified-in-send", "tally", { "--iterations", 200 })
cocheck("buffer-reversed", "tally", { "--iterations", 100 })
cocheck("network-first", "tally", { "--iterations", 100 })
cocheck("startall-not-atomic", "mixture", {})
cocheck("old-address", "ring", { "--iterations", 12 }, 1)

-- ---- respawn -----------------------------------------------------------------------------------

for _, variant in ipairs { "no-revoke", "no-agreement", "stay", "old-copies", "own-copy",
  "old-bytes", "sent-twice" } do
  subject("respawn-" .. variant, "laplace", { "--iterations", 10, "--size", 16 },
    { claims = { "H" }, ranks = 4, engine = "step", survivors = true })
end

-- ---- ft_mpi ------------------------------------------------------------------------------------

for variant, mode in pairs {
  ["blank-moves"] = "blank", ["blank-filled"] = "blank", ["blank-root"] = "blank",
  holes = "shrink", ["shrink-turned"] = "shrink", ["shrink-last-moves"] = "shrink",
  turned = "replace", ["replace-rotated"] = "replace", ["replace-swapped"] = "replace",
  ["other-mode"] = "blank", ["one-spare"] = "replace", ["few-other-mode"] = "blank",
  ["no-agreement"] = "blank",
} do
  subject("ft_mpi-" .. variant, "regroup", {},
    { claims = { "F", "H.progress" }, ranks = mode == "replace" and 3 or 5, engine = "step",
      survivors = true, environment = { FT_MPI_MODE = mode } })
end

-- ---- checkpoint_on_failure ---------------------------------------------------------------------

for variant, claim in pairs {
  ["own-line"] = "H", ["newer-line"] = "H", ["every-line"] = "K", ["not-again"] = "K",
  forgotten = "K", ["own-part"] = "H", alone = "H",
} do
  subject("checkpoint_on_failure-" .. variant, "laplace", { "--iterations", 8, "--size", 16 },
    { claims = { claim }, ranks = 4, engine = "step", survivors = true, max_incarnations = 4 })
end

-- ---- transactions ------------------------------------------------------------------------------

for variant, claim in pairs {
  alone = "T.agree", barrier = "T.agree", ["first-alone"] = "T.agree", stay = "T.undo",
  ["own-file"] = "T.undo", ["commit-first"] = "T.undo", ["agree-first"] = "T.durable",
  ["flag-only"] = "T.durable", ["from-the-start"] = "T.durable",
} do
  subject("transactions-" .. variant, "laplace", { "--iterations", 8, "--size", 16 },
    { claims = { claim }, ranks = 4, engine = "step", survivors = true })
end

-- ---- replication -------------------------------------------------------------------------------

for variant, of in pairs {
  ["own-clock"] = { "P.same", "random" }, ["own-order"] = { "P.same", "tally" },
  untold = { "P.same", "random" }, ["both-count"] = { "P.mask", "tally" },
  ["newest-only"] = { "P.mask", "laplace" }, ["once-more"] = { "P.mask", "tally" },
  silent = { "P.last", "laplace" }, ["at-the-end"] = { "P.last", "laplace" },
  enough = { "P.last", "tally" },
} do
  subject("replication-" .. variant, of[2], {},
    { claims = { of[1] }, ranks = 8, reserve = 4, engine = "step", survivors = true })
end

-- ---- scmel -------------------------------------------------------------------------------------

local function scmel(variant, program)
  subject("scmel-" .. variant, program, { "--iterations", 8 },
    { claims = { "H", "M" }, ranks = 4, engine = "step", survivors = true,
      environment = { SCMEL_EVERY = 4 } })
end

for _, variant in ipairs { "no-determinants", "acked-unstored", "dropped-early", "order-ignored",
                           "neighbours-swapped" } do
  scmel(variant, "master_worker")
end
for _, variant in ipairs { "log-forgotten", "log-acknowledged", "duplicates-kept", "old-accepted",
                           "restored-again", "as-published" } do
  scmel(variant, "ring")
end
scmel("sent-is-stored", "pipeline")
for _, variant in ipairs { "survivors-restore", "newcomer-restores" } do
  scmel(variant, "laplace")
end
subject("scmel-reserve-place-forgotten", "laplace", { "--iterations", 8, "--size", 16 },
  { claims = { "H", "M" }, ranks = 5, reserve = 1, engine = "step", survivors = true,
    environment = { SCMEL_EVERY = 3, SCMEL_RESERVE = 1 } })

-- ---- teams -------------------------------------------------------------------------------------

for variant, program in pairs {
  unlogged = "ring", ["stored-inside"] = "pipeline", ["not-passed-on"] = "pipeline",
  ["not-again"] = "ring", alone = "laplace", ["everybody-leaves"] = "ring",
  ["others-restore"] = "laplace", ["own-line"] = "laplace",
} do
  subject("teams-" .. variant, program, { "--iterations", 8 },
    { claims = { "H", "M" }, ranks = 4, engine = "step", survivors = true, max_incarnations = 2,
      environment = { TEAMS_EVERY = 4, TEAMS_SIZE = 2 } })
end

-- ---- camel -------------------------------------------------------------------------------------

local function camel(variant, program, ...)
  subject("camel-" .. variant, program, { "--iterations", 8, ... },
    { claims = { "M", "H" }, ranks = 5, engine = "step", survivors = true,
      environment = { CAMEL_EVERY = 4 } })
end

for _, variant in ipairs { "no-determinants", "multicast-unlogged" } do
  camel(variant, "openatom")
end
for _, variant in ipairs { "contributions-kept", "stored-on-the-way", "duplicates-kept",
                           "kept-for-each-child", "as-published" } do
  camel(variant, "leanmd")
end
camel("order-ignored", "master_worker")
for _, variant in ipairs { "barrier-half-told", "barrier-untold", "past-barriers-skipped" } do
  camel(variant, "collectives", "--late", 1, "--call", 1, "--messages", 0)
end

-- ---- pessimistic -------------------------------------------------------------------------------

for variant, program in pairs { hasty = "pipeline", unstored = "master_worker" } do
  subject("pessimistic-" .. variant, program, { "--iterations", 8 },
    { claims = { "H", "M" }, ranks = 4, engine = "step", survivors = true,
      environment = { PESSIMISTIC_EVERY = 4 } })
end

-- ---- programs ----------------------------------------------------------------------------------

local function program(variant, claims, arguments, ranks)
  scenario(variant) {
    program = variant, protocol = "null", arguments = arguments, claims = claims,
    ranks = ranks or 4, timeout = 30, engine = "step", survivors = true,
  }
end

for variant, standby in pairs { ["count-again"] = 1, forget = 1, silent = 0, leave = 1 } do
  program("master_worker_ulfm-" .. variant, { "W" }, { "--standby", standby }, 5)
end
for _, variant in ipairs { "from-below", "own-only", "own-digest", "own-count" } do
  program("stack-" .. variant, { "H.result" }, {})
end
for variant, method in pairs {
  ["no-rebuild"] = 0, ["stale-checksum"] = 1, coarse = 1, ["stops-early"] = 2, silent = 0,
  leaves = 0, ["gives-up"] = 0, ["no-agreement"] = 0,
} do
  program("abft-" .. variant, { "A" }, { "--method", method })
end
