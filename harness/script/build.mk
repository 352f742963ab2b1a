# The scenario API is half Lua: each .lua becomes a C string literal, a line each.

SCRIPT_PARTS = $(patsubst harness/script/%.lua,$(BUILD)/gen/script/%.inc,\
                          $(wildcard harness/script/*.lua))

$(BUILD)/gen/script/%.inc: harness/script/%.lua
	@echo "  EMBED   $<"
	@mkdir -p $(@D)
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< >$@

$(BUILD)/obj/harness/script/sandbox.o: $(SCRIPT_PARTS)
