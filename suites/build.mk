# What is tested: programs, protocols (shared libraries to preload), and protocols broken on purpose.
# All found by wildcard; suites/README.md says how to add one.

MPI_COMPILE  = $(MPICC) -std=c11 $(CFLAGS) $(WARNINGS) -D_GNU_SOURCE
PROTOCOL_SO  = $(MPI_COMPILE) -shared -fPIC -fvisibility=hidden \
               -I$(CURDIR)/harness -I$(CURDIR)/suites/programs
PROTOCOLS   := $(filter-out common,$(sort $(PROTOCOLS)))
# suites/protocols/P/broken/B.patch makes the protocol P-B.
PATCHES      = $(wildcard suites/protocols/*/broken/*.patch)
BROKEN       = $(foreach patch,$(PATCHES),$(call broken_name,$(patch)))
broken_name  = $(word 3,$(subst /, ,$(1)))-$(basename $(notdir $(1)))

# What every protocol is linked with, and what it must be built again for.
PROTOCOL_BASE    = harness/base/error.c
PROTOCOL_SOURCES = $(wildcard suites/protocols/*/*.[ch]) $(PROTOCOL_BASE) harness/base/error.h \
                   harness/faultline.h suites/programs/checkpoint.h

# Communicators that survive a restart, for a protocol that includes the layer's header: its sources
# and the generated wrappers.
HANDLES         := suites/protocols/common/handles
HANDLES_WRAPPERS = $(BUILD)/gen/handles/wrappers.c
HANDLES_USERS   := $(foreach file,$(shell grep -l 'common/handles/handles\.h' \
                   suites/protocols/*/*.[ch]),$(word 3,$(subst /, ,$(file))))
# $(call handles_of,P,FOLDER): what P is linked with for it; FOLDER is that of all protocols.
handles_of       = $(if $(filter $(1),$(HANDLES_USERS)),$(2)common/handles/*.c \
                   $(abspath $(HANDLES_WRAPPERS)))
PROTOCOL_SOURCES += $(wildcard $(HANDLES)/*.[ch]) $(HANDLES_WRAPPERS)

# suites/protocols/P/wire.lua names the messages of P's own, and of its broken variants.
WIRES            = $(wildcard suites/protocols/*/wire.lua)
WIRED            = $(patsubst suites/protocols/%/wire.lua,%,$(WIRES))
WIRED_BROKEN     = $(foreach patch,$(PATCHES),$(if \
                   $(filter $(word 3,$(subst /, ,$(patch))),$(WIRED)),$(call broken_name,$(patch))))

# suites/protocols/P/canary.lua is a scenario that must fail: campaigns over P run it first.
CANARIES         = $(patsubst suites/protocols/%/canary.lua,%,$(wildcard suites/protocols/*/canary.lua))

.PHONY: suites
suites: $(PROGRAMS:%=$(BUILD)/programs/%) $(PROTOCOLS:%=$(BUILD)/protocols/lib%.so) \
        $(BROKEN:%=$(BUILD)/protocols/lib%.so) $(WIRED:%=$(BUILD)/protocols/%.wire.lua) \
        $(WIRED_BROKEN:%=$(BUILD)/protocols/%.wire.lua) $(CANARIES:%=$(BUILD)/protocols/%.canary.lua)

$(BUILD)/programs/%: suites/programs/%.c
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(MPI_COMPILE) -MMD -MP -Iharness -Isuites/programs -o $@ $< -lm

$(BUILD)/protocols/lib%.so: $(PROTOCOL_SOURCES) suites/build.mk
	@echo "  MPICC   suites/protocols/$*"
	@mkdir -p $(@D)
	$(Q)$(PROTOCOL_SO) -Isuites/protocols -o $@ $(wildcard suites/protocols/$*/*.c) \
		$(wildcard suites/protocols/common/*.c) $(PROTOCOL_BASE) \
		$(call handles_of,$*,suites/protocols/)

$(HANDLES_WRAPPERS): $(HANDLES)/generate.lua
	@echo "  GEN     $@"
	@mkdir -p $(@D)
	$(Q)$(LUA) $< $(MPICC) $@

$(WIRED:%=$(BUILD)/protocols/%.wire.lua): $(BUILD)/protocols/%.wire.lua: suites/protocols/%/wire.lua
	@echo "  COPY    $<"
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(CANARIES:%=$(BUILD)/protocols/%.canary.lua): $(BUILD)/protocols/%.canary.lua: suites/protocols/%/canary.lua
	@echo "  COPY    $<"
	@mkdir -p $(@D)
	$(Q)cp $< $@

# A patch is applied to a copy of all protocols; one that does not fit exactly stops the build.
define broken_rule
$(BUILD)/protocols/lib$(call broken_name,$(1)).so: $(1) $$(PROTOCOL_SOURCES) $$(WIRES) suites/build.mk
	@echo "  BROKEN  $(1)"
	@rm -rf $(BUILD)/broken/$(call broken_name,$(1))
	@mkdir -p $$(@D) $(BUILD)/broken/$(call broken_name,$(1))/suites
	$$(Q)cp -r suites/protocols $(BUILD)/broken/$(call broken_name,$(1))/suites
	$$(Q)patch -s -p1 -F0 -d $(BUILD)/broken/$(call broken_name,$(1)) < $(1)
	$$(Q)cd $(BUILD)/broken/$(call broken_name,$(1))/suites/protocols && \
		$$(PROTOCOL_SO) -I. -o $$(abspath $$@) $(word 3,$(subst /, ,$(1)))/*.c common/*.c \
		$$(PROTOCOL_BASE:%=$$(CURDIR)/%) $(call handles_of,$(word 3,$(subst /, ,$(1))))

# The library is made of the patched copy, so that is there.
$(BUILD)/protocols/$(call broken_name,$(1)).wire.lua: $(BUILD)/protocols/lib$(call broken_name,$(1)).so
	$$(Q)cp $(BUILD)/broken/$(call broken_name,$(1))/suites/protocols/$(word 3,$(subst /, ,$(1)))/wire.lua $$@
endef
$(foreach patch,$(PATCHES),$(eval $(call broken_rule,$(patch))))
