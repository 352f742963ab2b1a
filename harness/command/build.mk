# What `faultline init` writes: the example, inside the command.

INIT_FOLDER = examples/own-protocol
INIT_FILES  = Makefile my_protocol.c my_program.c my.lua .gitignore .gitlab-ci.yml \
              .github/workflows/faultline.yml

$(BUILD)/gen/command/init_files.h: $(INIT_FILES:%=$(INIT_FOLDER)/%) harness/command/build.mk
	@echo "  EMBED   $@"
	@mkdir -p $(@D)
	$(Q){ echo 'static const struct file { const char *name, *text; } files[] = {'; \
	  for file in $(INIT_FILES); do \
	    echo "{\"$$file\","; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $(INIT_FOLDER)/$$file; \
	    echo '},'; \
	  done; echo '};'; } >$@

$(BUILD)/obj/harness/command/init.o: $(BUILD)/gen/command/init_files.h
