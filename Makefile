# Faultline. `make` builds build/faultline, `make demo` shows it, `make test` proves it.
# V=1 shows the commands.

CC       = gcc
MPICC    = mpicc
LUA      = lua5.4
CFLAGS   = -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wconversion -Werror
BUILD    = build

CPPFLAGS = -Iharness -I. -I$(BUILD)/gen -D_GNU_SOURCE
COMPILE  = $(CC) -std=c11 $(CFLAGS) $(WARNINGS) $(CPPFLAGS) -MMD -MP
Q        = $(if $(V),,@)

# What everything shares: no MPI, no Lua, libc only.
BASE_SOURCES    = $(wildcard harness/base/*.c harness/board/*.c harness/plan/*.c \
                            harness/store/*.c)
TRACE_SOURCES   = $(wildcard harness/trace/*.c)
ORACLE_SOURCES  = $(wildcard oracles/*.c)
REPLAY_SOURCES  = $(wildcard harness/replay/*.c)
REPORT_SOURCES  = $(wildcard reports/*.c)
WITNESS_SOURCES = $(wildcard harness/witness/*.c)
CAMPAIGN_SOURCES = $(wildcard harness/campaign/*.c)
DRIVER_SOURCES  = $(wildcard harness/script/*.c harness/shrink/*.c harness/driver/*.c) $(CAMPAIGN_SOURCES) \
                  $(WITNESS_SOURCES)
PROTOCOLS       = $(patsubst suites/protocols/%/,%,$(dir $(wildcard suites/protocols/*/*.c)))
PROGRAMS        = $(patsubst suites/programs/%.c,%,$(wildcard suites/programs/*.c))

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

.PHONY: all
all: $(BUILD)/faultline $(BUILD)/libfaultline.so suites

.PHONY: clean
clean:
	rm -rf $(BUILD)

# --- the driver -----------------------------------------------------------------------------------
DRIVER_LIBS = -llua5.4 -ljansson -lotf2 -lxslt -lxml2 -lxxhash -larchive -ldw -lelf -lm
$(BUILD)/faultline: $(BUILD)/faultline-rank
$(BUILD)/faultline: $(call objects,$(BASE_SOURCES) $(TRACE_SOURCES) $(ORACLE_SOURCES) \
                                   $(REPORT_SOURCES) $(REPLAY_SOURCES) $(DRIVER_SOURCES))
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(DRIVER_LIBS)

# The parent of a rank: libc alone, so that it starts fast.
RANK_SOURCES = harness/rank_parent.c $(patsubst %,harness/driver/%.c,exec arguments command lost \
               settings path process rank preload status)
$(BUILD)/faultline-rank: $(call objects,$(BASE_SOURCES) $(TRACE_SOURCES) $(RANK_SOURCES))
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^

$(BUILD)/obj/reports/junit.o: CPPFLAGS += -isystem /usr/include/libxml2
$(BUILD)/obj/harness/driver/memory.o: CPPFLAGS += -isystem /usr/include/libxml2
$(BUILD)/obj/harness/script/%.o: CPPFLAGS += -isystem /usr/include/lua5.4

$(BUILD)/obj/%.o: %.c
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

# --- the preloaded library, and what the suites test: see their own files ---------------------------
include harness/script/build.mk
include reports/build.mk
include injectors/build.mk
include suites/build.mk
include tests/fuzz/build.mk
include tests/sanitise/build.mk
include tests/build.mk
include scripts/build.mk

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
