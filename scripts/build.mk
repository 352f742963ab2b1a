# For developers and CI.

.PHONY: setup check bench demo
setup:
	$(Q)scripts/setup.sh

check:
	$(Q)scripts/setup.sh check
	$(Q)scripts/check.sh

# Ratios measured in one run; takes minutes and wants an idle machine.
bench: setup
	$(Q)scripts/setup.sh test $(BUILD)
	$(Q)$(MAKE) --no-print-directory all \
		$(addprefix $(BUILD)/bench/,pingpong make_trace measure checkpoints)
	$(Q)$(LUA) scripts/bench/bench.lua $(BUILD); status=$$?; \
		$(MAKE) --no-print-directory bench-collectives && exit $$status

# Collective calls under C3 against the library's, with plots; wants an idle machine too.
.PHONY: bench-collectives
bench-collectives: $(BUILD)/bench/collectives $(BUILD)/protocols/libc3.so
	$(Q)scripts/setup.sh bench
	$(Q)$(LUA) scripts/bench/collectives.lua $(BUILD)

$(BUILD)/bench/%: scripts/bench/%.c
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=c11 $(CFLAGS) $(WARNINGS) -Iharness -Isuites/programs -o $@ $<

# What message logging keeps and sends along, counted; RANKS="8 16": these numbers of ranks only.
.PHONY: bench-logging
bench-logging: all
	@mkdir -p $(BUILD)/bench
	$(Q)$(LUA) scripts/bench/logging.lua $(BUILD) $(RANKS)

# How much slower messages are under message logging when nobody dies; wants an idle machine.
# PAIRS="3": as many pairs of each.
.PHONY: bench-logging-times
bench-logging-times: all $(BUILD)/bench/pingpong
	$(Q)$(LUA) scripts/bench/logging_times.lua $(BUILD) $(PAIRS)

# How long one rank's recovery takes under message logging, with a process in reserve, against a
# restart of all from blocking checkpoints. PAIRS="3": as many pairs.
.PHONY: bench-recovery
bench-recovery: all
	$(Q)$(LUA) scripts/bench/recovery.lua $(BUILD) $(PAIRS)

# How long a migration takes against the size of the state, and a bare socket beside it, with a plot;
# up to 1 GiB, of which there are four copies at once, and five in warm.c. Wants an idle machine.
.PHONY: bench-migration
bench-migration: $(addprefix $(BUILD)/bench/,migrant socket warm) $(BUILD)/protocols/libcocheck.so
	$(Q)scripts/setup.sh bench
	$(Q)$(LUA) scripts/bench/migration.lua $(BUILD) $(MIB_MOST) $(PAIRS)

$(BUILD)/bench/migrant: scripts/bench/migrant.c
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(MPI_COMPILE) -Iharness -Isuites/programs -o $@ $< -lm

# Minutes: 1,000 runs on a cluster of Slurm on this machine, of which a node and a daemon fail.
.PHONY: slurm
slurm: setup
	$(Q)scripts/setup.sh slurm
	$(Q)$(MAKE) --no-print-directory all tests
	$(Q)BUILD=$(abspath $(BUILD)) SLURM_RUNS=$${SLURM_RUNS:-1000} bats tests/slurm/slurm.bats

# Minutes: every program under CoCheck killed at every point, and every migration.
.PHONY: cocheck-crashes
cocheck-crashes: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(BUILD)/faultline run --out $(BUILD)/cocheck-crashes suites/cocheck/crash.lua \
		suites/cocheck/migration.lua

# Minutes: 1,000 runs of the step engine and what they must be the same as, byte for byte.
.PHONY: same-traces
same-traces: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/same_traces.sh $(BUILD)

# Hours: how soon each strategy finds each broken variant; see study.sh for SEEDS, VARIANTS ...
.PHONY: study
study: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/study.sh $(BUILD)
	$(Q)scripts/study_table.sh $(BUILD)

# An hour: what is explored with the reduction is what all orders come to.
.PHONY: explore-orders
explore-orders: setup
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/tests/mpi/explore_order \
		$(BUILD)/tests/mpi/explore_death
	$(Q)scripts/explore_orders.sh $(BUILD)

# Hours: the schedules of small jobs, one after the other; see explore_suites.sh for BUDGET.
.PHONY: explore-suites
explore-suites: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/explore_suites.sh $(BUILD)

# A minute, with LONG=1 a quarter of an hour: the counts that stand beside those of other model checkers.
.PHONY: explore-published
explore-published: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/explore_published.sh $(BUILD)

# Minutes: failures found on the step engine, replayed there: 1,000 replays.
.PHONY: engine-replays
engine-replays: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/engine_replays.sh $(BUILD)

# Hours: the suites with both MPI libraries, and where their verdicts differ. SHARD=I/N: every N-th.
.PHONY: openmpi-suites
openmpi-suites: setup
	$(Q)scripts/setup.sh openmpi
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)$(OPENMPI_MAKE) variants
	$(Q)scripts/openmpi_suites.sh $(BUILD) $(SHARD)

# An hour or more: the same for the crash suites of C3, Chandy-Lamport and CoCheck alone.
.PHONY: openmpi-crashes
openmpi-crashes: export SUITES = $(patsubst %,suites/%/crash.lua,c3 chandy_lamport cocheck)
openmpi-crashes: openmpi-suites

# A Debian 13 in a folder, which has Open MPI 5: minutes, once. See scripts/ulfm/README.md.
.PHONY: ulfm-root test-ulfm
ULFM_ROOT ?= $(HOME)/.cache/faultline/ulfm-root
ULFM       = $(BUILD)-ulfm
ulfm-root:
	$(Q)scripts/ulfm/root.sh "$(ULFM_ROOT)"

# Minutes: a part of the tests, built and run in it.
test-ulfm: ulfm-root
	$(if $(filter /%,$(BUILD)),$(error BUILD=$(BUILD): test-ulfm builds inside the tree alone))
	$(Q)BUILD=$(ULFM) scripts/ulfm/inside.sh "$(ULFM_ROOT)" scripts/ulfm/test.sh

# A quarter of an hour: the first five minutes of somebody new, in a new Debian 12 and 13. See
# scripts/debian/README.md. RELEASES=trixie: in this one alone.
.PHONY: fresh-roots
fresh-roots:
	$(Q)scripts/setup.sh site
	$(Q)scripts/debian/fresh.sh $(RELEASES)

# MPICH with ch3:nemesis, which has ULFM, from Debian's source package: a quarter of an hour of
# processor time, once; then what its ULFM does.
.PHONY: ulfm-nemesis
ulfm-nemesis: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/ulfm/nemesis.sh $(BUILD)/nemesis
	$(Q)BUILD=$(abspath $(BUILD)) bats scripts/ulfm/nemesis.bats

# Minutes: claims of family U by MPI library. LIBRARY='engine nemesis': only these again.
.PHONY: ulfm-table
ulfm-table: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/ulfm/table.sh $(BUILD) "$(ULFM_ROOT)" $(LIBRARY)

# Half an hour or more: 1,000 random programs of ULFM's with Open MPI 5, after test-ulfm. SHARD=I/N:
# every N-th.
.PHONY: random-ulfm
random-ulfm: ulfm-root
	$(Q)BUILD=$(ULFM) scripts/ulfm/random.sh "$(ULFM_ROOT)" $(SHARD)

# Minutes a seed (SEEDS, 3): what has been seen of calls, roles, deaths and outcomes on the step engine.
.PHONY: ulfm-product
ulfm-product: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/ulfm/product.sh $(BUILD) $(SEEDS)

# Long: 1,500 random plans over C3.
.PHONY: random-c3
random-c3: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/random_plans.sh $(BUILD) suites/c3/random

# Long: 3,000 random plans over the protocols that log messages; PLANS="plan 1*": some of them.
.PHONY: random-logging
random-logging: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/random_plans.sh $(BUILD) suites/scmel/random $(if $(PLANS),--filter '$(PLANS): *')
	$(Q)scripts/random_plans.sh $(BUILD) suites/teams/random $(if $(PLANS),--filter '$(PLANS): *')

# A minute each: 500 random plans over what is built on ULFM.
RANDOM_ON_ULFM = master_worker_ulfm ft_mpi checkpoint_on_failure stack abft transactions \
                 replication
.PHONY: $(RANDOM_ON_ULFM:%=random-%)
$(RANDOM_ON_ULFM:%=random-%): random-%: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/random_plans.sh $(BUILD) suites/$*/random

# Minutes: ranks live on when others die, 200 times under mpiexec; under message logging, with processes
# in reserve, TIMES (1) times 214.
.PHONY: lives lives-logging
lives: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/lives.sh $(BUILD) suites/lives/many.lua
lives-logging: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)for time in $$(seq $(or $(TIMES),1)); do \
	  scripts/lives.sh $(BUILD) suites/reserve || exit 1; done

# Half an hour: 300 signals to every process of run, campaign, replay and shrink.
.PHONY: signals
signals: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/signals.sh $(BUILD)

# Long: every program under Chandy-Lamport, killed at every phase.
.PHONY: crash-chandy_lamport
crash-chandy_lamport: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)$(BUILD)/faultline run --out $(BUILD)/crash-chandy_lamport suites/chandy_lamport/crash.lua

# Minutes: what `faultline shrink` makes of each broken variant of C3.
.PHONY: shrink-c3
shrink-c3: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/shrink_table.sh $(BUILD)

# Hours: what campaigns over all that is right and all that is broken come to; see campaigns.sh.
.PHONY: campaigns campaigns-check
campaigns: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/campaigns.sh $(BUILD) random systematic broken

# What is stored of them, and the table of the broken variants.
campaigns-check:
	$(Q)scripts/campaigns_check.sh $(BUILD)

# Some minutes: where the members of a collective stand against a line, forced or attempted.
.PHONY: coverage-collectives
coverage-collectives: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/collectives_coverage.sh $(BUILD)

# Minutes: figure 5 of [C3] as it is printed, in communicators of 2 to 8 ranks; each scenario says
# what must be found.
.PHONY: as-published-sizes
as-published-sizes: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)$(BUILD)/faultline run --out $(BUILD)/as-published-sizes suites/c3/as_published_sizes.lua

# Hours: every mutant, built and run; what has a result is left alone. MUTANTS_ONLY: a glob on
# their names. See tests/mutants/README.md.
.PHONY: mutants mutants-check
mutants: setup
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)scripts/mutants.sh $(BUILD) -j $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1) $(MUTANTS_ONLY)

# An hour: mutants that nobody wrote a scenario for, with drawn programs and the suites, on the step
# engine. HUNT_ONLY: a glob on their names. HUNT_DRAWN=N: N of each protocol that are drawn.
.PHONY: hunt
hunt: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/hunt.sh $(BUILD) $(HUNT_ONLY)

# What is stored of them: nothing may have survived, and every claim needs three that it caught.
mutants-check:
	$(Q)scripts/mutants_check.sh $(BUILD)

# Five minutes: violations planted in runs drawn at random are counted, and so many right runs of each
# generator raise no alarm.
.PHONY: proof-traces
RUNS ?= 100000
proof-traces: $(BUILD)/tests/planted.t $(BUILD)/tests/generated_cuts.t $(BUILD)/tests/generated_logging.t
	@mkdir -p $(BUILD)/proof
	$(Q){ $(BUILD)/tests/planted.t && FAULTLINE_PLANTED=$(RUNS) $(BUILD)/tests/planted.t && \
	  FAULTLINE_PLANTED=$(RUNS) $(BUILD)/tests/generated_cuts.t && \
	  FAULTLINE_PLANTED=$(RUNS) $(BUILD)/tests/generated_logging.t; } \
	  >$(BUILD)/proof/traces.txt; status=$$?; cat $(BUILD)/proof/traces.txt; exit $$status

# Half an hour: the suites that promise coverage, and what they brought about; goes on where it was
# interrupted.
.PHONY: proof-coverage
proof-coverage: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/coverage.sh $(BUILD)

# The page BUILD/proof/index.html, and index.md, of what is stored of mutants, proof-traces,
# proof-coverage, fuzz and transparency; fails unless all of it is complete.
.PHONY: proof
proof:
	$(Q)scripts/setup.sh site
	$(Q)scripts/proof.sh $(BUILD)

# An hour: MPICH's own test programs, with and without the taps; goes on where it was interrupted.
.PHONY: transparency
transparency: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/transparency.sh $(BUILD) $(TRANSPARENCY_ONLY)

# An hour or two: all suites under mpiexec and on the step engine, which must have the same verdicts;
# goes on where it was interrupted.
.PHONY: engines
engines: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/engines.sh $(BUILD) $(ENGINES_ONLY)

# A quarter of an hour: MPICH's own test programs on the step engine; goes on where it was interrupted.
.PHONY: engine-transparency
engine-transparency: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)ENGINE=step scripts/transparency.sh $(BUILD) $(TRANSPARENCY_ONLY)

# Minutes: 2,000 programs drawn from seeds, on the step engine and on the MPI library, which must be
# the same.
.PHONY: engine-programs
engine-programs: setup
	$(Q)$(MAKE) --no-print-directory all \
		$(BUILD)/tests/mpi/engine_random
	$(Q)scripts/engine_programs.sh $(BUILD) $(or $(PROGRAMS_DRAWN),2000)

# Hours: long jobs, and 10,000 programs drawn from seeds under each protocol, on the step engine, with
# deaths.
.PHONY: drawn
drawn: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(BUILD)/faultline run --engine step --out $(BUILD)/drawn suites/drawn/long.lua
	$(Q)scripts/drawn.sh $(BUILD) $(or $(PROGRAMS_DRAWN),10000)

# Minutes: which features of MPI were seen where against a line, in which life, under which protocol.
.PHONY: grid
grid: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/grid.sh $(BUILD)

# Half an hour: every failure of the broken variants replayed 20 times.
.PHONY: replay-rates
replay-rates: setup
	$(Q)$(MAKE) --no-print-directory variants
	$(Q)scripts/replay_rates.sh $(BUILD)

# Minutes, and 700 MB in BUILD/arm64: the whole product once more for another processor, by Debian's
# cross compiler; unit tests and some jobs of it under an emulator. See scripts/arm64/README.md, also
# for why these tests are not run there.
.PHONY: arm64
ARM64      = $(BUILD)/arm64
ARM64_ROOT = $(abspath $(ARM64))/root
ARM64_NOT  = allocations generated generated_collectives generated_cuts generated_logging planted reduce loss \
             lua_text script script_steering writer stacks rules_stop
ARM64_RUN  = $(filter-out $(ARM64_NOT:%=$(ARM64)/tests/%.t),$(UNIT_TESTS:$(BUILD)/%=$(ARM64)/%))
ARM64_PROGRAMS = $(PROGRAMS:%=$(ARM64)/emulated/%)
arm64: setup
	$(Q)scripts/setup.sh arm64 $(BUILD)
	$(Q)$(MAKE) --no-print-directory all $(ARM64_PROGRAMS)
	$(Q)$(MAKE) --no-print-directory BUILD=$(ARM64) SYSROOT=$(ARM64_ROOT) \
		CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64_ROOT)' AR=aarch64-linux-gnu-ar \
		MPICC='$(CURDIR)/scripts/arm64/mpicc $(ARM64_ROOT)' CHECKED='$$(COMPILE)' CHECKED_LINK='$$(COMPILE)' \
		all $(ARM64_RUN)
	$(Q)scripts/arm64/check.sh $(BUILD) $(ARM64_RUN)

$(ARM64_PROGRAMS): scripts/arm64/emulate.c
	@echo "  CC      $@"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -static -DROOT='"$(ARM64_ROOT)"' \
		-DPROGRAMS='"$(abspath $(ARM64))/programs"' -o $@ $<

# Long: FUZZ_SECONDS (600) of mutated input for each thing that is read.
.PHONY: fuzz fuzz-setup
fuzz: fuzz-setup
	$(Q)$(MAKE) --no-print-directory $(FUZZERS)
	$(Q)scripts/fuzz.sh $(BUILD)

fuzz-setup:
	$(Q)scripts/setup.sh fuzz

demo: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo.sh $(BUILD)

# How fast stored traces are judged; needs no MPI.
.PHONY: bench-check
bench-check: $(BUILD)/faultline $(BUILD)/bench/make_trace $(BUILD)/bench/measure
	$(Q)scripts/bench_check.sh $(BUILD)

$(BUILD)/bench/make_trace $(BUILD)/bench/measure: $(BUILD)/bench/%: scripts/bench/%.c
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $<
