# The documentation as plain HTML: BUILD/site/index.html. See docs/README.md.
.PHONY: site
site:
	$(Q)scripts/setup.sh site
	$(Q)$(MAKE) --no-print-directory $(BUILD)/faultline
	$(Q)docs/site/make.sh $(BUILD)
