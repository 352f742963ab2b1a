# Templates, style and script of the pages: inside the command, a string each.

PAGE_PARTS = $(wildcard reports/html/*.xsl reports/html/*.css reports/html/*.js)

$(BUILD)/gen/reports/page_parts.h: $(PAGE_PARTS) reports/build.mk
	@echo "  EMBED   $@"
	@mkdir -p $(@D)
	$(Q){ echo 'static const struct part { const char *name, *text; } parts[] = {'; \
	  for part in $(PAGE_PARTS); do \
	    echo "{\"$${part##*/}\","; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $$part; \
	    echo '},'; \
	  done; echo '};'; } >$@

XML_SOURCES = reports/xml.c reports/page.c
$(call objects,$(XML_SOURCES)): CPPFLAGS += -isystem /usr/include/libxml2
$(BUILD)/obj/reports/page.o: $(BUILD)/gen/reports/page_parts.h
