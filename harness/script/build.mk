# The scenario API is half Lua: a C string literal each, a line each, in the order in which the
# parts need each other.

API_PARTS = $(patsubst %,harness/script/%.lua,order check messages condition actions plan scenario world)

$(BUILD)/gen/script/api.h: $(API_PARTS) harness/script/build.mk
	@echo "  EMBED   $@"
	@mkdir -p $(@D)
	$(Q){ echo 'static const char *const api[] = {'; \
	  for part in $(API_PARTS); do \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' -e '$$s/$$/,/' $$part; \
	  done; echo '};'; } >$@

$(BUILD)/obj/harness/script/sandbox.o: $(BUILD)/gen/script/api.h
