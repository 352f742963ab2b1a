# What is tested: programs, protocols (shared libraries to preload), and protocols broken on purpose.
# All found by wildcard; suites/README.md says how to add one.

MPI_COMPILE      = $(MPICC) -std=c11 $(CFLAGS) $(WARNINGS) -D_GNU_SOURCE
PROTOCOL_COMPILE = $(MPI_COMPILE) -fPIC -fvisibility=hidden -MMD -MP \
                   -I$(CURDIR)/harness -I$(CURDIR)/suites/programs
PROTOCOL_LINK    = $(MPICC) $(CFLAGS) -shared
# Protocols that call ULFM, as the layer of those that log messages does, are built where the library
# has it.
ULFM_USERS      := $(if $(LIBRARY_HAS_ULFM),,$(foreach file,$(shell grep -lE \
                   'MPIX_|common/(logging/logger|world/world)\.h' suites/protocols/*/*.[ch]),\
                   $(word 3,$(subst /, ,$(file)))))
PROGRAMS        := $(filter-out $(if $(LIBRARY_HAS_ULFM),,$(basename $(notdir \
                   $(shell grep -l 'MPIX_' $(PROGRAM_SOURCES))))),$(PROGRAMS))
# suites/programs/broken/P-B.patch makes the program P-B of P.
PROGRAMS_BROKEN := $(foreach patch,$(patsubst suites/programs/broken/%.patch,%,\
                   $(wildcard suites/programs/broken/*.patch)),\
                   $(if $(filter $(firstword $(subst -, ,$(patch))),$(PROGRAMS)),$(patch)))
PROTOCOLS       := $(filter-out common $(ULFM_USERS),$(sort $(PROTOCOLS)))
of_built         = $(filter-out $(ULFM_USERS:%=suites/protocols/%/%),$(1))

# suites/protocols/P/broken/B.patch makes the protocol P-B. Those of P/mutants/ are for `make mutants`
# alone, those of P/hunt/ for `make hunt` (scripts/build.mk). `make` builds those that canaries need,
# `make variants` and `make tests` build all of P/broken/.
PATCHES      = $(call of_built,$(wildcard suites/protocols/*/broken/*.patch))
# Those that were drawn (scripts/mutants/draw.lua) lie in $(BUILD)/mutants/drawn/P/hunt/.
MUTANTS      = $(call of_built,$(wildcard suites/protocols/*/mutants/*.patch suites/protocols/*/hunt/*.patch)) \
               $(wildcard $(BUILD)/mutants/drawn/*/hunt/*.patch)
BROKEN       = $(foreach patch,$(PATCHES),$(call broken_name,$(patch)))
broken_of    = $(notdir $(abspath $(dir $(1))..))
broken_name  = $(call broken_of,$(1))-$(basename $(notdir $(1)))

# Communicators that survive a restart, for a protocol that includes the layer's header: its sources
# and the generated wrappers.
HANDLES         := common/communicators
HANDLES_WRAPPERS = $(BUILD)/gen/handles/wrappers.c
HANDLES_USERS   := $(foreach file,$(shell grep -l 'common/communicators/handles\.h' \
                   suites/protocols/*/*.[ch]),$(word 3,$(subst /, ,$(file))))

# Protocols that log messages, those that include the header: the sources of the layer.
LOGGING_USERS := $(foreach file,$(shell grep -l 'common/logging/logger\.h' \
                 suites/protocols/*/*.[ch]),$(word 3,$(subst /, ,$(file))))

# How a protocol begins and ends, for one that includes the header.
JOB_USERS     := $(LOGGING_USERS) $(foreach file,\
                 $(shell grep -l 'common/job/job\.h' suites/protocols/*/*.[ch]),\
                 $(word 3,$(subst /, ,$(file))))

# Protocols that replace the dead: the same.
WORLD_USERS   := $(foreach file,$(shell grep -l 'common/world/world\.h' suites/protocols/*/*.[ch]),\
                 $(word 3,$(subst /, ,$(file))))

# Protocols that carry all messages of the application themselves: the sources of the layer, how it
# writes datatypes down, and the generated functions that refuse the rest of MPI.
LAYER         := common/messages
LAYER_REFUSED  = $(BUILD)/gen/layer/refused.c
LAYER_USERS   := $(LOGGING_USERS) $(foreach file,\
                 $(shell grep -l 'common/messages/layer\.h' suites/protocols/*/*.[ch]),\
                 $(word 3,$(subst /, ,$(file))))
LAYER_OBJECTS  = $(call objects_in,$(LAYER)) $(addprefix $(PROTOCOL_OBJ)/common/communicators/,types.o payload.o) \
                $(PROTOCOL_OBJ)/refused.o

# $(call protocol_objects,P): all that P is linked from.
PROTOCOL_OBJ     = $(BUILD)/protocols/obj
objects_in       = $(patsubst suites/protocols/%.c,$(PROTOCOL_OBJ)/%.o,\
                   $(wildcard suites/protocols/$(1)/*.c suites/protocols/$(1)/*/*.c))
protocol_objects = $(call objects_in,$(1)) $(call objects_in,common/base) $(PROTOCOL_OBJ)/error.o \
                   $(if $(filter $(1),$(JOB_USERS)),$(call objects_in,common/job)) \
                   $(if $(filter $(1),$(WORLD_USERS)),$(call objects_in,common/world)) \
                   $(if $(filter $(1),$(HANDLES_USERS)),\
                   $(call objects_in,$(HANDLES)) $(PROTOCOL_OBJ)/wrappers.o) \
                   $(if $(filter $(1),$(LOGGING_USERS)),\
                   $(call objects_in,common/logging) $(call objects_in,common/newcomers)) \
                   $(if $(filter $(1),$(LAYER_USERS)),$(LAYER_OBJECTS))

# suites/protocols/P/wire.lua names the messages of P's own, and of its broken variants.
WIRES            = $(call of_built,$(wildcard suites/protocols/*/wire.lua))
WIRED            = $(patsubst suites/protocols/%/wire.lua,%,$(WIRES))
WIRED_BROKEN     = $(foreach patch,$(PATCHES),$(if \
                   $(filter $(call broken_of,$(patch)),$(WIRED)),$(call broken_name,$(patch))))

# suites/protocols/P/canary.lua is a scenario that must fail: campaigns over P run it first.
CANARIES         = $(patsubst suites/protocols/%/canary.lua,%,\
                   $(call of_built,$(wildcard suites/protocols/*/canary.lua)))

CANARY_PROTOCOLS := $(filter $(BROKEN),$(shell sed -n 's/.*protocol = "\([^"]*\)".*/\1/p' \
                    $(CANARIES:%=suites/protocols/%/canary.lua)))

.PHONY: suites variants
suites: $(PROGRAMS:%=$(BUILD)/programs/%) $(PROTOCOLS:%=$(BUILD)/protocols/lib%.so) \
        $(CANARY_PROTOCOLS:%=$(BUILD)/protocols/lib%.so) $(WIRED:%=$(BUILD)/protocols/%.wire.lua) \
        $(WIRED_BROKEN:%=$(BUILD)/protocols/%.wire.lua) $(CANARIES:%=$(BUILD)/protocols/%.canary.lua)

variants: all $(BROKEN:%=$(BUILD)/protocols/lib%.so) $(PROGRAMS_BROKEN:%=$(BUILD)/programs/%)

define program_rule
$(BUILD)/programs/$(1): $(2)
	@echo "  MPICC   $$<"
	@mkdir -p $$(@D)
	$$(Q)$$(MPI_COMPILE) -MMD -MP -Iharness -Isuites/programs -o $$@ $$< -lm
endef
$(foreach source,$(PROGRAM_SOURCES),$(eval $(call program_rule,$(basename $(notdir $(source))),$(source))))

define broken_program_rule
$(BUILD)/programs/$(1): suites/programs/broken/$(1).patch $(2) $(wildcard suites/programs/*.h)
	@echo "  BROKEN  $$<"
	@mkdir -p $$(@D) $(BUILD)/broken
	$$(Q)patch -s -F0 --posix -o $(BUILD)/broken/$(1).c $(2) <$$<
	$$(Q)$$(MPI_COMPILE) -Iharness -Isuites/programs -o $$@ $(BUILD)/broken/$(1).c -lm
endef
$(foreach broken,$(PROGRAMS_BROKEN),$(eval $(call broken_program_rule,$(broken),\
    $(filter %/$(firstword $(subst -, ,$(broken))).c,$(PROGRAM_SOURCES)))))

$(PROTOCOL_OBJ)/%.o: suites/protocols/%.c
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(PROTOCOL_COMPILE) -Isuites/protocols -c -o $@ $<

$(PROTOCOL_OBJ)/error.o: harness/base/error.c
$(PROTOCOL_OBJ)/wrappers.o: $(HANDLES_WRAPPERS)
$(PROTOCOL_OBJ)/refused.o: $(LAYER_REFUSED)
$(PROTOCOL_OBJ)/error.o $(PROTOCOL_OBJ)/wrappers.o $(PROTOCOL_OBJ)/refused.o:
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(PROTOCOL_COMPILE) -Isuites/protocols -c -o $@ $<

# Computed once for each protocol, because hundreds of patches ask for it.
$(foreach protocol,$(PROTOCOLS),$(eval OBJECTS_OF_$(protocol) := $(call protocol_objects,$(protocol))))

# Prints the files of suites/protocols that P is built from.
.PHONY: $(PROTOCOLS:%=sources-of-%)
$(PROTOCOLS:%=sources-of-%): sources-of-%:
	@ls $(patsubst $(PROTOCOL_OBJ)/%.o,suites/protocols/%.c,\
	    $(filter-out %/error.o %/wrappers.o %/refused.o,$(OBJECTS_OF_$*)))

define protocol_rule
$(BUILD)/protocols/lib$(1).so: $$(OBJECTS_OF_$(1))
	@echo "  LINK    $$@"
	$$(Q)$$(PROTOCOL_LINK) -o $$@ $$^
endef
$(foreach protocol,$(PROTOCOLS),$(eval $(call protocol_rule,$(protocol))))

$(HANDLES_WRAPPERS): suites/protocols/$(HANDLES)/generate.lua suites/protocols/common/mpi_names.lua
	@echo "  GEN     $@"
	@mkdir -p $(@D)
	$(Q)$(LUA) $< '$(MPICC)' $@

$(LAYER_REFUSED): suites/protocols/$(LAYER)/generate.lua suites/protocols/common/mpi_names.lua $(wildcard suites/protocols/$(LAYER)/*.c)
	@echo "  GEN     $@"
	@mkdir -p $(@D)
	$(Q)$(LUA) $< '$(MPICC)' $@ $(filter %.c,$^)

$(WIRED:%=$(BUILD)/protocols/%.wire.lua): $(BUILD)/protocols/%.wire.lua: suites/protocols/%/wire.lua
	@echo "  COPY    $<"
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(CANARIES:%=$(BUILD)/protocols/%.canary.lua): $(BUILD)/protocols/%.canary.lua: suites/protocols/%/canary.lua
	@echo "  COPY    $<"
	@mkdir -p $(@D)
	$(Q)cp $< $@

# A patch is applied to a copy of all protocols; one that does not fit exactly stops the build.
# The sources that it changes are compiled without optimisation, in half the time.
# $(call broken_rule,PATCH,FOLDER_OF_THE_LIBRARY)
define broken_rule
$(2)/lib$(call broken_name,$(1)).so: $(1) $(wildcard $(basename $(1))/*.c) \
		suites/broken.sh \
		$$(OBJECTS_OF_$(call broken_of,$(1)))
	@echo "  BROKEN  $(1)"
	@mkdir -p $(2)
	$$(Q)COMPILE='$$(PROTOCOL_COMPILE) -O0' LINK='$$(PROTOCOL_LINK)' suites/broken.sh $(1) \
		$(BUILD)/broken/$(call broken_name,$(1)) $$@ $$(filter %.o,$$^)

# Also where the library is not built, so that scenarios can be listed.
$(2)/$(call broken_name,$(1)).wire.lua: $(1) suites/protocols/$(call broken_of,$(1))/wire.lua
	@mkdir -p $(2)
	$$(Q)cp $$(lastword $$^) $$@
	$$(Q)awk '/^--- /{ on = /wire[.]lua/ } on' $(1) | patch -s -F0 --no-backup-if-mismatch $$@
endef
$(foreach patch,$(PATCHES),$(eval $(call broken_rule,$(patch),$(BUILD)/protocols)))
$(foreach patch,$(MUTANTS),$(eval $(call broken_rule,$(patch),$(BUILD)/mutants/protocols)))
