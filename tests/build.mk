# Tests. tests/unit/ROOM/*.c: C programs that print TAP, on sanitised objects (tests/fuzz/build.mk).
# tests/*.bats: the command as a user types it.
# tests/mpi/ROOM/*.c: MPI programs that the bats tests run under the taps. All found by wildcard.

UNIT_TESTS = $(patsubst %.c,$(BUILD)/tests/%.t,$(notdir $(wildcard tests/unit/*/*.c)))
MPI_TESTS  = $(addprefix $(BUILD)/tests/mpi/,$(basename $(notdir $(wildcard tests/mpi/*/*.c tests/mpi/*/*.f90))))

vpath %.c $(wildcard tests/unit/* tests/mpi/*)
vpath %.f90 tests/mpi/taps

# Traces as text, and those of oracles/golden: the product needs neither.
TEXT_TRACES = $(wildcard tests/traces/*.c)
$(call objects,$(TEXT_TRACES)) $(call checked,$(TEXT_TRACES)): CPPFLAGS += -Itests

# Not sanitised: what judges so much that it would take minutes, what reads its own stack, and what
# has limits of time or address space.
PLAIN_TESTS = $(patsubst %,$(BUILD)/tests/%.t,generated generated_collectives generated_cuts generated_logging planted \
              stacks unwind rules_steer rules_stop writer script script_steering lua_text reduce)
$(PLAIN_TESTS): $(BUILD)/tests/%.t: %.c $(call objects,$(RECORDING_SOURCES) $(TEXT_TRACES)) $(BUILD)/command.a
	@echo "  TEST    $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itests -o $@ $(filter %.c %.o %.a,$^) $(COMMAND_LIBS)

$(BUILD)/tests/%.t: %.c $(call checked,$(RECORDING_SOURCES) $(TEXT_TRACES)) $(BUILD)/checked/command.a
	@echo "  TEST    $<"
	@mkdir -p $(@D)
	$(Q)$(CHECKED_LINK) -Itests -o $@ $(filter %.c %.o %.a,$^) $(COMMAND_LIBS)

# Parts of the step engine that need neither MPI nor other ranks.
ENGINE_ALONE = $(patsubst %,engine/%.c,communicators/members communicators/topology collectives/reduce)
$(patsubst %,$(BUILD)/tests/engine_%.t,members topology reduce): $(call checked,$(ENGINE_ALONE))
$(BUILD)/tests/engine_topology.t $(call checked,engine/communicators/topology.c): \
    CPPFLAGS += $(TAP_CPPFLAGS)

# Parts of protocols that need no MPI.
TREE = suites/protocols/common/messages/tree.c
$(BUILD)/tests/spanning_tree.t: $(call checked,$(TREE))
$(BUILD)/tests/spanning_tree.t $(call checked,$(TREE)): CPPFLAGS += -Isuites/protocols

# The search over schedules, on models that are run by the engine's account of transitions.
$(BUILD)/tests/explore_tree.t: $(call checked,$(patsubst %,engine/%.c,core/memory core/decide core/policy core/transition zygote/choices))
$(BUILD)/tests/explore_guided.t: $(call checked,$(patsubst %,engine/%.c,core/memory core/decide core/policy core/transition))
$(BUILD)/tests/explore_policy.t: $(call checked,$(patsubst %,engine/%.c,core/memory core/decide core/policy core/transition))

# Its own allocations, and those of all that is linked with it, go by way of the test.
$(BUILD)/tests/allocations.t: private CHECKED_LINK += \
    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=strdup

# Long runs drawn at random, with violations planted in them.
$(BUILD)/tests/planted.t: $(wildcard tests/planted/*.c tests/planted/*.h)

# MPICH's MPI_STATUSES_IGNORE is no array, which gcc takes for an overflow.
MPI_WARNINGS = -Wno-stringop-overflow

$(BUILD)/tests/mpi/%: %.c
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=c11 $(CFLAGS) -Wall -Wextra -Werror $(MPI_WARNINGS) -D_GNU_SOURCE \
		-Iharness -Itests -Isuites/programs -Isuites/protocols -MMD -MP \
		-o $@ $< -lpthread -lm

$(BUILD)/tests/mpi/%: %.f90
	@echo "  MPIFORT $<"
	@mkdir -p $(@D)
	$(Q)$(MPIFORT) $(CFLAGS) -J $(@D) -o $@ $<

# Run folders made of traces written by hand, and a long one, for the tests of the pages.
PAGES_TOOLS = $(BUILD)/tests/pages/make_run $(BUILD)/bench/make_trace

$(BUILD)/tests/pages/%: tests/pages/%.c $(call objects,$(wildcard tests/traces/*.c)) $(BUILD)/command.a
	@echo "  TEST    $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itests -o $@ $(filter %.c %.o %.a,$^) $(COMMAND_LIBS)

# Preloaded into the command, to refuse it memory.
$(BUILD)/tests/faults/%.so: tests/faults/%.c
	@echo "  TEST    $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Wno-missing-prototypes -fPIC -shared -o $@ $<

# Preloaded into MPI programs that run without Faultline, where there are more ranks than processors.
$(BUILD)/tests/idle.so: injectors/system/idle.c
	@echo "  TEST    $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fPIC -shared -o $@ $<

# test-programs: what most bats tests need, for mutants, where linking all else takes the longest.
# tests-one-library: for mutants of Faultline, too; all but what is built with the second MPI library.
.PHONY: tests test tests-one-library test-programs openmpi-programs
tests: tests-one-library openmpi-programs
tests-one-library: test-programs $(UNIT_TESTS) $(FUZZERS) $(SANITISED_TESTS)
test-programs: variants $(MPI_TESTS) $(PAGES_TOOLS) $(BUILD)/tests/faults/refuse.so $(BUILD)/tests/idle.so

# For tests/openmpi.bats: a build of its own inside this one, which takes the command's archive from here. It is not
# optimised: nothing is measured in it, and most of its time goes into the taps of all functions.
OPENMPI       = $(BUILD)/openmpi
OPENMPI_TESTS = $(addprefix $(OPENMPI)/,faultline libfaultline.so tests/mpi/driver_life \
                $(addprefix programs/,laplace mixture ring) \
                $(patsubst %,protocols/lib%.so,null blocking blocking-stale-piece c3 chandy_lamport \
                cocheck) $(patsubst %,protocols/%.wire.lua,c3 cocheck))
OPENMPI_MAKE  = $(MAKE) --no-print-directory MPI=openmpi BUILD=$(OPENMPI) COMMAND_ARCHIVE=$(BUILD)/command.a \
                CFLAGS='-O0 -g'
openmpi-programs: $(BUILD)/command.a
	$(Q)$(OPENMPI_MAKE) $(OPENMPI_TESTS)

TESTS ?= $(UNIT_TESTS) $(sort $(wildcard tests/*.bats))
test:
	$(Q)scripts/setup.sh test $(BUILD)
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) tests
	$(Q)scripts/test.sh $(TESTS)

# Minutes: tests that take too long for each change.
.PHONY: test-long
test-long:
	$(Q)scripts/setup.sh test $(BUILD)
	$(Q)$(MAKE) --no-print-directory test-programs
	$(Q)scripts/test.sh $(wildcard tests/long/*.bats)
