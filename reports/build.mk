# Templates, style and script of the pages: inside the command, a string each.

PAGE_PARTS = $(wildcard reports/page/html/*.xsl reports/page/html/*.css reports/page/html/*.js)

$(BUILD)/gen/reports/page_parts.h: $(PAGE_PARTS) reports/build.mk
	@echo "  EMBED   $@"
	@mkdir -p $(@D)
	$(Q){ echo 'static const struct part { const char *name, *text; } parts[] = {'; \
	  for part in $(PAGE_PARTS); do \
	    echo "{\"$${part##*/}\","; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $$part; \
	    echo '},'; \
	  done; echo '};'; } >$@

# The words of the glossary, which pages explain.
$(BUILD)/gen/reports/glossary.h: reports/words.awk GLOSSARY.md
	@echo "  GEN     $@"
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@.new && mv $@.new $@

XML_SOURCES = reports/text/xml.c reports/page/page.c
$(call objects,$(XML_SOURCES)): CPPFLAGS += -isystem $(SYSROOT)/usr/include/libxml2
$(BUILD)/obj/reports/page/page.o: $(BUILD)/gen/reports/page_parts.h
$(BUILD)/obj/reports/text/words.o: $(BUILD)/gen/reports/glossary.h
