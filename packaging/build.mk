# Installed into PREFIX, below DESTDIR where that is given; and a Debian package of that.

PREFIX     = /usr/local
DESTDIR    =
VERSION   := $(shell sed -n 's/^.define FAULTLINE_VERSION "\(.*\)"/\1/p' harness/system/status.h)
HEADERS    = harness/faultline.h harness/faultline_lives.h suites/programs/checkpoint.h

# What is installed: all but the protocols that are broken on purpose, of which canaries need some.
INSTALLED_PROTOCOLS = $(PROTOCOLS) $(CANARY_PROTOCOLS)
DEB = $(BUILD)/deb

# So that what is outside the tree can be built without an installation.
$(BUILD)/pkgconfig/faultline.pc: packaging/faultline.pc.in packaging/build.mk harness/system/status.h $(HEADERS)
	@mkdir -p $(@D) $(BUILD)/include
	$(Q)cp $(HEADERS) $(BUILD)/include
	$(Q)packaging/pkgconfig.sh '$${pcfiledir}/..' '$${prefix}/include' $(VERSION) >$@
all: $(BUILD)/pkgconfig/faultline.pc

.PHONY: install uninstall deb test-deb
install:
	$(Q)scripts/setup.sh install
	$(Q)$(MAKE) --no-print-directory all
	$(Q)DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' BUILD='$(BUILD)' VERSION='$(VERSION)' \
		packaging/install.sh '$(HEADERS)' '$(PROGRAMS)' '$(INSTALLED_PROTOCOLS)'

uninstall:
	$(Q)DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' packaging/uninstall.sh

# DEB/faultline_VERSION_ARCHITECTURE.deb
deb:
	$(Q)scripts/setup.sh deb
	$(Q)rm -rf '$(DEB)'
	$(Q)$(MAKE) --no-print-directory install DESTDIR='$(abspath $(DEB))/root' PREFIX=/usr
	$(Q)packaging/deb.sh '$(DEB)' '$(VERSION)'

# Half a minute: lintian finds no error in it, and what it installs runs.
test-deb: deb
	$(Q)packaging/test_deb.sh '$(DEB)'/*.deb
