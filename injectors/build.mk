# build/libfaultline.so: the two taps. Position-independent objects of their own under build/pic,
# because the same sources go into the driver without that. Links libc alone: the MPI library is
# found in the process, by name.

# The recording path without MPI: unit tests link it too.
RECORDING_SOURCES = $(wildcard injectors/rules/*.c injectors/actions/*.c) \
                    $(filter-out injectors/replay/steer_replay.c,$(wildcard injectors/replay/*.c)) \
                    $(patsubst %,injectors/record/%.c,recording note hash hash_avx2)
.SECONDARY: $(call objects,$(RECORDING_SOURCES))

TAP_GENERATED = $(patsubst %,$(BUILD)/gen/taps/wrappers_%.c,1 2 3 4)
TAP_TABLE     = $(BUILD)/gen/taps/library_table.h
# The step engine makes handles as MPICH's are.
ENGINE_SOURCES = $(if $(filter mpich,$(MPI)),\
                 $(filter-out engine/none/%,$(wildcard engine/*.c engine/*/*.c)),engine/none/take_over.c)
TAP_SOURCES   = $(wildcard injectors/*.c injectors/*/*.c) $(ENGINE_SOURCES) harness/base/error.c harness/base/nearest.c \
                harness/base/regular_file.c \
                harness/stacks/snapshot.c \
                $(wildcard harness/board/*.c) $(wildcard harness/plan/*.c) harness/trace/writer.c \
                harness/trace/calls.c harness/trace/clock.c harness/trace/end.c harness/store/journal.c \
                harness/trace/record.c harness/trace/event.c harness/decisions/decisions.c harness/decisions/words.c
TAP_OBJECTS   = $(patsubst %.c,$(BUILD)/pic/%.o,$(TAP_SOURCES)) \
                $(patsubst $(BUILD)/gen/%.c,$(BUILD)/pic/gen/%.o,$(TAP_GENERATED))

# Where mpi.h is, as the MPI's own compiler wrapper says. -isystem: its warnings are not ours.
TAP_CPPFLAGS := $(patsubst -I%,-isystem %,$(filter -I%,$(shell $(MPICC) -show 2>/dev/null))) -I$(BUILD)/gen/taps
# Fields of a record that were just stored one by one must not be loaded back as one wide word (SLP,
# store merging): the processor has to wait for that.
TAP_COMPILE   = $(COMPILE) $(TAP_CPPFLAGS) -fPIC -fvisibility=hidden -fno-tree-slp-vectorize \
                -fno-store-merging

$(BUILD)/libfaultline.so: $(TAP_OBJECTS)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-z,defs -Wl,-soname,libfaultline.so -o $@ $^ -ldl

# The generator writes all of its files at once.
$(TAP_GENERATED) $(TAP_TABLE) &: injectors/generate/generate.lua injectors/generate/roles.lua injectors/generate/functions.lua \
		harness/trace/calls.def
	@echo "  GEN     $(BUILD)/gen/taps"
	@mkdir -p $(BUILD)/gen/taps
	$(Q)$(LUA) injectors/generate/generate.lua '$(MPICC)' harness/trace/calls.def $(BUILD)/gen/taps
	@touch $(TAP_GENERATED) $(TAP_TABLE)

$(BUILD)/pic/gen/%.o: $(BUILD)/gen/%.c
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(TAP_COMPILE) -c -o $@ $<

$(BUILD)/pic/%.o: %.c | $(TAP_TABLE)
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(TAP_COMPILE) -c -o $@ $<
