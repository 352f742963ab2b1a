#!/usr/bin/env bats
# The suites of C3's collectives: arrangements against a line, the broken variants, and the figures
# of the paper as they are printed.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

# All of it is `make coverage-collectives`.
@test "c3: every possible arrangement of three ranks is forced, once for each category" {
    passes 9 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'bcast: forced *, MPI_Bcast'
    passes 9 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'gather: forced *, MPI_Gather'
    passes 7 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'all: forced *, MPI_Allreduce'
    passes 3 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'barrier: forced *'
}

@test "c3: a line through an allreduce that does not block, and recovery" {
    passes 7 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'all: recovered *, MPI_Iallreduce'
}

# Of one sender, and of a barrier.
@test "c3: a line through persistent calls, and recovery" {
    passes 2 "$ROOT/suites/c3/collectives_coverage.lua" \
        --filter '* recovered logging-before, MPI_B*_init'
}

# Rank 1 is kept before the line through all calls of two iterations, then the job is lost.
@test "c3: several calls that do not block, completed in another order, and a crash" {
    cat >"$BATS_TEST_TMPDIR/s.lua" <<END
for rank = 0, 2 do
  scenario("rank " .. rank .. " is lost") {
    protocol = "c3", program = "$BUILD/tests/mpi/c3_nonblocking", ranks = 3,
    environment = { C3_EVERY = 5 }, claims = { "C", "D", "H" },
    plan = function(p)
      p:hold { message = "pleaseCheckpoint", to = 1, epoch = 1,
               release = { rank = 1, call = "MPI_Igather", nth = 2,
                           state = { rank = 0, region = "logging", line = 1 } } }
      p:kill { rank = rank, at = { event = "commit", epoch = 1 } }
    end,
  }
end
END
    passes 3 "$BATS_TEST_TMPDIR/s.lua"
}

# Faultline takes starts in their order, so what it says of collectives does not count where members
# start theirs in different ones.
@test "c3: persistent requests that outlive a restart, started in one order or in any" {
    cat >"$BATS_TEST_TMPDIR/s.lua" <<END
for rank, way in pairs { [0] = "alike", [1] = "turned", [2] = "alike" } do
  scenario(way .. ", rank " .. rank .. " is lost") {
    protocol = "c3", program = "$BUILD/tests/mpi/c3_persistent", ranks = 3,
    arguments = way == "turned" and { way } or nil, environment = { C3_EVERY = 5 },
    claims = way == "turned" and { "C", "H.result", "H.progress" } or { "C", "D", "H" },
    plan = function(p)
      p:hold { message = "pleaseCheckpoint", to = 1, epoch = 1,
               release = { rank = 1, call = "MPI_Barrier_init", nth = 2,
                           state = { rank = 0, region = "logging", line = 1 } } }
      p:kill { rank = rank, at = { event = "commit", epoch = 1 } }
    end,
  }
end
END
    passes 3 "$BATS_TEST_TMPDIR/s.lua"
}

@test "c3: each variant broken in its collectives is found by the claim that is said" {
    passes 8 "$ROOT/suites/c3/broken_collectives.lua"
}

@test "c3: where the printed figures break the paper's claims" {
    passes 11 "$ROOT/suites/c3/as_published.lua"
}
