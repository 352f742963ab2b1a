# For developers and CI.

.PHONY: setup check bench demo
setup:
	$(Q)scripts/setup.sh

check:
	$(Q)scripts/setup.sh check
	$(Q)scripts/check.sh

# Ratios measured in one run; takes minutes and wants an idle machine.
bench: setup
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/bench/pingpong
	$(Q)$(LUA) scripts/bench/bench.lua $(BUILD)

$(BUILD)/bench/%: scripts/bench/%.c
	@echo "  MPICC   $<"
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=c11 $(CFLAGS) $(WARNINGS) -o $@ $<

demo: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo.sh $(BUILD)
