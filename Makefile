# Faultline. `make` builds build/faultline, `make demo` shows it, `make test` proves it.
# V=1 shows the commands.

# All rules are in this file and in those that it includes. make would also try its own rules, for every
# file that an object depends on, and spend most of its time on that when nothing is to be done.
MAKEFLAGS += --no-builtin-rules

# The MPI library that the taps, the programs and the protocols are built for: mpich, or openmpi,
# which has a folder of its own. Both may be installed, so neither goes by the plain name of mpicc.
MPI      = mpich
MPICC    = mpicc.$(MPI)
MPIFORT  = mpifort.$(MPI)
LAUNCHER = $(LAUNCHER_$(MPI))
LAUNCHER_mpich   = hydra
LAUNCHER_openmpi = $(if $(OPENMPI_ULFM),prterun,mpirun)
# Open MPI has ULFM, and another launcher, from version 5 on.
OPENMPI_ULFM    := $(if $(filter openmpi,$(MPI)),$(filter-out 1 2 3 4,$(shell $(MPICC) --showme:version \
                   2>/dev/null | sed 's/.*Open MPI \([0-9]*\)\..*/\1/')))
LIBRARY_HAS_ULFM = $(filter mpich,$(MPI))$(OPENMPI_ULFM)
$(if $(LAUNCHER),,$(error MPI=$(MPI): accepted are mpich, openmpi))

CC       = gcc
LUA      = lua5.4
CFLAGS   = -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wconversion -Werror
BUILD    = build$(if $(filter-out mpich,$(MPI)),-$(MPI))
SYSROOT  =

CPPFLAGS = -Iharness -I. -I$(BUILD)/gen -D_GNU_SOURCE
COMPILE  = $(CC) -std=c11 $(CFLAGS) $(WARNINGS) $(CPPFLAGS) -MMD -MP
Q        = $(if $(V),,@)

# The command is one archive, of which each program takes what it needs: the command itself, the
# parent of a rank, the unit tests and the fuzzers. Nothing of it but the choice of the launcher depends
# on the MPI library, so a build for another library can be given the archive of the first.
COMMAND_ARCHIVE = $(BUILD)/command.a
COMMAND_SOURCES = $(filter-out $(MAIN_SOURCES),$(wildcard harness/*/*.c oracles/*.c oracles/*/*.c reports/*/*.c))
MAIN_SOURCES    = harness/command/main.c harness/command/rank_parent.c
# What the command shares with the preloaded library: no MPI, no Lua, libc only.
BASE_SOURCES    = $(wildcard harness/base/*.c harness/board/*.c harness/plan/*.c harness/store/*.c)
TRACE_SOURCES   = $(wildcard harness/trace/*.c)
PROTOCOLS       = $(patsubst suites/protocols/%/,%,$(dir $(wildcard suites/protocols/*/*.c)))
PROGRAM_SOURCES = $(wildcard suites/programs/*.c suites/programs/*/*.c)
PROGRAMS        = $(basename $(notdir $(PROGRAM_SOURCES)))

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

.PHONY: all
all: $(BUILD)/faultline $(BUILD)/libfaultline.so suites

.PHONY: clean
clean:
	rm -rf $(BUILD)

# --- the command -----------------------------------------------------------------------------------
COMMAND_LIBS = -llua5.4 -ljansson -lotf2 -lxslt -lxml2 -lxxhash -larchive -ldw -lelf -lm
$(BUILD)/faultline: $(BUILD)/faultline-rank
$(BUILD)/faultline: $(call objects,harness/command/main.c harness/launch/launcher.c) $(COMMAND_ARCHIVE)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(COMMAND_LIBS)

$(BUILD)/command.a: $(call objects,$(COMMAND_SOURCES))
	@echo "  AR      $@"
	$(Q)rm -f $@ && $(AR) rc $@ $^

# The parent of a rank: libc alone, so that it starts fast.
$(BUILD)/faultline-rank: $(call objects,harness/command/rank_parent.c) $(COMMAND_ARCHIVE)
	@echo "  LINK    $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^)

$(BUILD)/obj/reports/results/junit.o: CPPFLAGS += -isystem $(SYSROOT)/usr/include/libxml2
$(BUILD)/obj/harness/system/memory.o: CPPFLAGS += -isystem $(SYSROOT)/usr/include/libxml2
$(BUILD)/obj/harness/script/%.o: CPPFLAGS += -isystem $(SYSROOT)/usr/include/lua5.4

%/harness/launch/launcher.o: CPPFLAGS += -DLAUNCHER_OF_LIBRARY=launcher_$(LAUNCHER)

$(BUILD)/obj/%.o: %.c
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

# --- the preloaded library, and what the suites test: see their own files ---------------------------
include harness/script/build.mk
include harness/command/build.mk
include reports/build.mk
include injectors/build.mk
include suites/build.mk
include packaging/build.mk
include docs/build.mk
include tests/fuzz/build.mk
include tests/sanitise/build.mk
include tests/build.mk
include scripts/build.mk

-include $(shell find $(BUILD) -type f -name '*.d' 2>/dev/null)
