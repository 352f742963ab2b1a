# Faultline under sanitisers and valgrind; README.md says what is where.

# In `make test`: the command and the parent of a rank from the objects of the unit tests (clang,
# AddressSanitizer and UndefinedBehaviorSanitizer), and the recorder alone under ThreadSanitizer.
# Taps, protocols and programs are the usual ones there.
$(BUILD)/checked/faultline: $(call checked,harness/command/main.c)
$(BUILD)/checked/faultline-rank: $(call checked,harness/command/rank_parent.c)
$(BUILD)/checked/faultline $(BUILD)/checked/faultline-rank: $(BUILD)/checked/command.a
	@echo "  LINK    $@"
	$(Q)$(CHECKED_LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(COMMAND_LIBS)

THREAD_SANITIZE = -fsanitize=thread -fno-omit-frame-pointer
THREAD_SOURCES  = $(BASE_SOURCES) $(TRACE_SOURCES) $(RECORDING_SOURCES) harness/decisions/decisions.c \
                  harness/decisions/words.c harness/stacks/snapshot.c

# gcc does not follow fences under ThreadSanitizer, and says so.
$(BUILD)/threads/%.o: %.c
	@echo "  THREADS $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -O1 $(THREAD_SANITIZE) -Wno-tsan -c -o $@ $<

THREAD_OBJECTS = $(patsubst %.c,$(BUILD)/threads/%.o,$(THREAD_SOURCES))
.SECONDARY: $(THREAD_OBJECTS) # kept, or they would be compiled again each time

$(BUILD)/threads/%.t: tests/unit/injectors/%.c $(THREAD_OBJECTS)
	@echo "  THREADS $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -O1 $(THREAD_SANITIZE) -Wno-tsan -Itests -o $@ $(filter %.c %.o,$^) -lxxhash -lm

SANITISED_TESTS = $(BUILD)/checked/faultline $(BUILD)/checked/faultline-rank \
                  $(BUILD)/threads/recording.t

# --- by hand -----------------------------------------------------------------------------------------
# Some minutes: everything of ours (command, taps, protocols, programs) built by gcc with both
# sanitisers in BUILD/sanitised, and all verbs and some suites with it. gcc's warnings are another
# compiler's then: what is instrumented looks uninitialised, or converted, to it.
SANITISED_FLAGS = CFLAGS='-O1 -g -fno-omit-frame-pointer $(1)' WARNINGS='-Wall -Wextra \
                  $(MPI_WARNINGS) -Wno-tsan'
.PHONY: sanitise
sanitise: setup
	$(Q)scripts/setup.sh test $(BUILD)
	$(Q)$(MAKE) --no-print-directory all $(SANITISED_TESTS) \
		$(addprefix $(BUILD)/tests/mpi/engine_,messages random ulfm spawn)
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitised \
		$(call SANITISED_FLAGS,-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined) \
		all
	$(Q)tests/sanitise/suites.sh $(BUILD)

# A minute or two: programs with several threads, and steps of plans, under ThreadSanitizer.
THREADED = taps_threads taps_cancel identity_threads identity_type_in_use
.PHONY: tsan
tsan: setup
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/threads/recording.t $(BUILD)/threads/writer.t
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/threads \
		$(call SANITISED_FLAGS,$(THREAD_SANITIZE)) $(BUILD)/threads/libfaultline.so \
		$(THREADED:%=$(BUILD)/threads/tests/mpi/%)
	$(Q)tests/sanitise/threads.sh $(BUILD)

# A minute: what AddressSanitizer does not see, which is reads of what was never written.
.PHONY: valgrind
valgrind: setup
	$(Q)scripts/setup.sh valgrind
	$(Q)$(MAKE) --no-print-directory all $(PAGES_TOOLS)
	$(Q)tests/sanitise/valgrind.sh $(BUILD)
