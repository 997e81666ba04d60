# SPDX-License-Identifier: Apache-2.0
# Packages of the command: `make deb`, `make bundle`. Included by the top Makefile.

$(OUT)/package/launcher: cli/package/launcher.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -O2 $(WARN) -D_GNU_SOURCE -static -s -ffile-prefix-map=$(CURDIR)=. \
		-Wl,--build-id=none $< -o $@

BUNDLE := $(OUT)/package/husk-$(VERSION)-$(shell uname -m).tar.gz
# One after the other, also under make -j: each builds the tree for a prefix of its own.
.PHONY: bundle
bundle: $(if $(filter deb,$(MAKECMDGOALS)),deb)
	$(MAKE) --no-print-directory all $(OUT)/package/launcher
	$(PYTHON) cli/package/bundle --build $(OUT) --launcher $(OUT)/package/launcher \
		--version $(VERSION) --out $(BUNDLE)

# The prefix is compiled in, so packages have a build of their own.
TRIPLET := $(shell $(CC) -print-multiarch 2>/dev/null)
.PHONY: deb
deb:
	@rm -rf $(OUT)/package/stage
	$(MAKE) --no-print-directory install PREFIX=/usr LIBDIR=/usr/lib/$(TRIPLET) \
		DESTDIR=$(CURDIR)/$(OUT)/package/stage
	$(PYTHON) cli/package/deb --stage $(OUT)/package/stage --version $(VERSION) \
		--out $(OUT)/package
