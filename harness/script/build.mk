# The scenario API is half Lua: prelude.lua becomes a C string literal, a line each.

$(BUILD)/gen/script/prelude.inc: harness/script/prelude.lua
	@echo "  EMBED   $<"
	@mkdir -p $(@D)
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< >$@

$(BUILD)/obj/harness/script/sandbox.o: $(BUILD)/gen/script/prelude.inc
