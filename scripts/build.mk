# For developers and CI.

.PHONY: setup
setup:
	$(Q)scripts/setup.sh
