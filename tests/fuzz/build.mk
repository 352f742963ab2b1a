# What is fuzzed or has unit tests, built once more by clang with AddressSanitizer and
# UndefinedBehaviorSanitizer, under BUILD/checked; the same objects tell libFuzzer what was covered.
# Any finding ends the process. Not optimised: that takes a quarter of the time to compile, and the unit
# tests take as long to run.

CLANG          = clang
SANITIZE       = -fsanitize=address,undefined -fno-sanitize-recover=undefined
CHECKED_CFLAGS = -O0 -gline-tables-only $(SANITIZE) -fsanitize=fuzzer-no-link
CHECKED        = $(CLANG) -std=c11 $(CHECKED_CFLAGS) -Wall -Wextra -Werror $(CPPFLAGS) -MMD -MP
# lld takes half of the time of GNU ld, and there are some seventy programs to link.
CHECKED_LINK   = $(CHECKED) -fuse-ld=lld

checked = $(patsubst %.c,$(BUILD)/checked/%.o,$(1))

$(call checked,$(XML_SOURCES) reports/results/junit.c harness/system/memory.c): CPPFLAGS += -isystem $(SYSROOT)/usr/include/libxml2
$(BUILD)/checked/reports/page/page.o: $(BUILD)/gen/reports/page_parts.h
$(BUILD)/checked/reports/text/words.o: $(BUILD)/gen/reports/glossary.h
$(BUILD)/checked/harness/script/%.o: CPPFLAGS += -isystem $(SYSROOT)/usr/include/lua5.4
$(BUILD)/checked/harness/script/sandbox.o: $(BUILD)/gen/script/api.h
$(BUILD)/checked/harness/command/init.o: $(BUILD)/gen/command/init_files.h
# clang does not know the pragma with which this file asks gcc for AVX2.
$(BUILD)/checked/injectors/record/hash_avx2.o: CHECKED += -mavx2 -Wno-unknown-pragmas
.PRECIOUS: $(BUILD)/checked/%.o

$(BUILD)/checked/%.o: %.c
	@echo "  CHECKED $<"
	@mkdir -p $(@D)
	$(Q)$(CHECKED) -c -o $@ $<

# A fuzz target a file.
FUZZ_TARGETS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZERS      = $(patsubst %,$(BUILD)/fuzz/%,$(FUZZ_TARGETS))

$(BUILD)/checked/command.a: $(call checked,$(COMMAND_SOURCES))
	@echo "  AR      $@"
	$(Q)rm -f $@ && $(AR) rc $@ $^

$(BUILD)/fuzz/%: tests/fuzz/%.c $(call checked,$(wildcard tests/traces/*.c)) $(BUILD)/checked/command.a
	@echo "  FUZZER  $<"
	@mkdir -p $(@D)
	$(Q)$(CHECKED_LINK) -fsanitize=fuzzer -Itests -o $@ $(filter %.c %.o %.a,$^) $(COMMAND_LIBS)
