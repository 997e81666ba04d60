# husk: one plain makefile. `make help` lists the targets.
# Each variant builds in a folder of its own: release in build/, the others in build/VARIANT/.

VERSION  := 0.1.0
SOVERSION := 0
VARIANT  ?= release
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
CC       ?= cc
HOSTCC   ?= $(CC)
PKG_CONFIG ?= pkg-config
PYTHON   ?= /usr/bin/python3

ifeq ($(VARIANT),release)
OUT := build
else
OUT := build/$(VARIANT)
endif
OBJ := build/$(VARIANT)/obj
GEN := build/$(VARIANT)/gen

# -- flags --------------------------------------------------------------------------------
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wvla -Wunused-result \
	-Wno-missing-field-initializers
# Hardening: stack protector, fortified calls, no lazy binding, no text relocations, and a
# guard page that large stack frames cannot step over.
HARDEN := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2 \
	$(if $(filter x86_64,$(shell uname -m)),-fcf-protection)
HARDEN_LD := -Wl,-z,relro,-z,now,-z,noexecstack
ifeq ($(VARIANT),release)
OPT := -O2 -g $(HARDEN)
else ifeq ($(VARIANT),asan)
OPT := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer -DHUSK_TEST_HOOKS
OPT_LD := -fsanitize=address,undefined
else ifeq ($(VARIANT),tsan)
OPT := -O1 -g -fsanitize=thread -DHUSK_TEST_HOOKS
OPT_LD := -fsanitize=thread
else ifeq ($(VARIANT),coverage)
OPT := -O0 -g --coverage -DHUSK_TEST_HOOKS
OPT_LD := --coverage
else ifeq ($(VARIANT),fuzz)
# For make fuzz: libFuzzer is clang's. The warnings that count are gcc's.
CC := clang
OPT := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer -DHUSK_TEST_HOOKS
OPT_LD := -fsanitize=address,undefined
WARN += -Wno-error
else ifeq ($(VARIANT),hooks)
# The release build plus the switches that tests use to make set-up steps fail.
OPT := -O2 -g $(HARDEN) -DHUSK_TEST_HOOKS
else
$(error VARIANT is one of release, hooks, asan, tsan, coverage, fuzz)
endif
CPPFLAGS += -D_GNU_SOURCE -DHUSK_VERSION='"$(VERSION)"' -DHUSK_LIBDIR='"$(LIBDIR)"' \
	-I. -Iinclude -I$(GEN)
# The folder that it was built in leaves no trace: the same sources make the same bytes.
CFLAGS   += -ffile-prefix-map=$(CURDIR)=. -std=gnu17 $(OPT) $(WARN) -fPIC -fvisibility=hidden -pthread
LDFLAGS  += $(OPT_LD) $(HARDEN_LD) -pthread
LIBS     := -ljansson
# The command carries these inside: loading them would cost more than starting a box.
STATIC_LIBS := -Wl,-Bstatic -ljansson -Wl,-Bdynamic

# -- sources ------------------------------------------------------------------------------
LIB_DIRS := base seccomp cgroup oci runtime session
LIB_SRC  := $(wildcard $(addsuffix /*.c,$(LIB_DIRS)))
CLI_SRC  := $(wildcard cli/*.c)
GEN_SRC  := $(wildcard seccomp/gen/*.c) $(wildcard seccomp/policy*.c) \
	$(wildcard seccomp/compose*.c) $(wildcard base/*.c)
# The last is in the library too.
INIT_SRC := $(wildcard runtime/init/*.c) runtime/wire_check.c
PUBLIC   := $(wildcard include/*.h include/husk/*.h)

LIB_OBJ  := $(LIB_SRC:%.c=$(OBJ)/%.o) $(OBJ)/gen/seccomp_filters.o $(OBJ)/runtime/init_program.o
CLI_OBJ  := $(CLI_SRC:%.c=$(OBJ)/%.o)
INIT_OBJ := $(INIT_SRC:%.c=$(OBJ)/init/%.o)
INIT     := $(OUT)/husk-init

.PHONY: all
all: $(OUT)/husk $(OUT)/libhusk.so $(OUT)/libhusk.a $(OUT)/husk.pc

$(OBJ)/%.o: %.c | $(GEN)/version.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# The prefix is compiled in, into one file: it is built again for another one.
.PHONY: FORCE
$(GEN)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX) $(LIBDIR)' | cmp -s - $@ || echo '$(PREFIX) $(LIBDIR)' >$@
$(OBJ)/runtime/init_image.o $(OUT)/husk.pc: $(GEN)/prefix

$(GEN)/version.h: Makefile
	@mkdir -p $(@D)
	@printf '#define HUSK_VERSION_STRING "%s"\n' '$(VERSION)' >$@

# Between clone3 and exec the child shares the caller's memory: no stack protector, no
# sanitizer, nothing that calls out.
$(OBJ)/runtime/stub.o $(OBJ)/runtime/probe_tries.o $(OBJ)/oci/program_child.o: CFLAGS := $(filter-out -fstack-protector% -fstack-clash-protection \
	-fsanitize=% -fno-sanitize% --coverage,$(CFLAGS)) -fno-stack-protector -ffreestanding \
	$(if $(filter fuzz,$(VARIANT)),,-fno-tree-loop-distribute-patterns)

# The program that becomes PID 1: static, freestanding, the same in every variant but for
# the test switches.
INIT_CFLAGS := -std=gnu17 -O2 -g $(WARN) -D_GNU_SOURCE -I. -Iinclude -ffreestanding -fno-builtin \
	-fno-stack-protector -fno-pic -fno-pie -mno-red-zone -fno-asynchronous-unwind-tables \
	-I$(GEN) $(filter -DHUSK_TEST_HOOKS,$(OPT))
$(OBJ)/init/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(INIT_CFLAGS) -MMD -MP -c $< -o $@
$(INIT): $(INIT_OBJ)
	@mkdir -p $(@D)
	$(CC) -static -nostdlib -no-pie -Wl,--build-id=none,-z,noexecstack,-z,max-page-size=4096 \
		-Wl,--gc-sections,-s $^ -o $@
$(OBJ)/runtime/init_program.o: runtime/init_program.S $(INIT)
	@mkdir -p $(@D)
	$(CC) -DINIT_PATH='"$(INIT)"' -c $< -o $@

# The built-in filters are compiled now, so that a start makes one call.
$(OUT)/gen-filters: $(GEN_SRC:%.c=$(OBJ)/%.o)
	$(CC) $(LDFLAGS) $^ -lseccomp $(LIBS) -o $@
$(GEN)/seccomp_filters.c: $(OUT)/gen-filters
	@mkdir -p $(@D)
	$< >$@.tmp && mv $@.tmp $@
$(GEN)/init_filter.h: $(OUT)/gen-filters
	@mkdir -p $(@D)
	$< init >$@.tmp && mv $@.tmp $@
$(OBJ)/init/runtime/init/guard.o: $(GEN)/init_filter.h
$(OBJ)/gen/seccomp_filters.o: $(GEN)/seccomp_filters.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(OUT)/libhusk.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
$(OUT)/libhusk.so.$(SOVERSION): $(LIB_OBJ) runtime/libhusk.map
	$(CC) -shared $(LDFLAGS) -Wl,-soname,libhusk.so.$(SOVERSION) \
		-Wl,--version-script=runtime/libhusk.map -Wl,--no-undefined-version \
		$(if $(findstring sanitize,$(OPT)),,-Wl,-z,defs) $(LIB_OBJ) $(LIBS) -o $@
$(OUT)/libhusk.so: $(OUT)/libhusk.so.$(SOVERSION)
	ln -sf libhusk.so.$(SOVERSION) $@
$(OUT)/husk: $(CLI_OBJ) $(OUT)/libhusk.a
	$(CC) $(LDFLAGS) -pie $^ $(STATIC_LIBS) -o $@
$(OUT)/husk.pc: Makefile
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' \
		'Name: husk' 'Description: run untrusted code in a fresh kernel sandbox' \
		'Version: $(VERSION)' 'Libs: -L$${libdir} -lhusk' \
		'Libs.private: $(LIBS) -pthread' 'Cflags: -I$${includedir}' >$@

include tests/tests.mk
include bindings/python/wheel.mk
include cli/package/package.mk

# The reference of the C interface, from the comments of the headers: for readers and man.
# Where there is no Python, an installation goes without; the headers say the same.
DOCS := $(OUT)/docs
.PHONY: docs
docs: $(DOCS)/API.md
$(DOCS)/API.md: docs/make_reference $(PUBLIC) Makefile
	$(PYTHON) docs/make_reference --out $(DOCS)

.PHONY: install
install: all $(if $(wildcard $(PYTHON)),docs)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/husk $(DESTDIR)$(PREFIX)/libexec/husk
	install -m 0755 $(OUT)/husk $(DESTDIR)$(PREFIX)/bin/husk
	install -m 0755 $(OUT)/husk-init $(DESTDIR)$(PREFIX)/libexec/husk/husk-init
	install -m 0755 $(OUT)/libhusk.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/
	ln -sf libhusk.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libhusk.so
	install -m 0644 $(OUT)/libhusk.a $(DESTDIR)$(LIBDIR)/
	install -m 0644 $(OUT)/husk.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 0644 include/husk.h $(DESTDIR)$(PREFIX)/include/
	install -m 0644 include/husk/*.h $(DESTDIR)$(PREFIX)/include/husk/
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man3 \
		$(DESTDIR)$(PREFIX)/share/doc/husk $(DESTDIR)$(PREFIX)/share/husk/apparmor
	install -m 0644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 0644 docs/man/*.3 $(if $(wildcard $(PYTHON)),$(DOCS)/man3/*.3) $(DESTDIR)$(PREFIX)/share/man/man3/
	$(if $(wildcard $(PYTHON)),install -m 0644 $(DOCS)/API.md $(DESTDIR)$(PREFIX)/share/doc/husk/)
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(OUT)/husk completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/husk
	$(OUT)/husk completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_husk
	$(OUT)/husk completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/husk.fish
	sed 's|^profile husk [^ ]*|$(if $(filter /usr /usr/local,$(PREFIX)),&,profile husk $(PREFIX)/bin/husk)|' docs/apparmor/husk >$(DESTDIR)$(PREFIX)/share/husk/apparmor/husk
	chmod 0644 $(DESTDIR)$(PREFIX)/share/husk/apparmor/husk

# What install has put there, and no more: configuration, stores of images and an AppArmor
# profile that doctor has installed stay.
SHARE := $(DESTDIR)$(PREFIX)/share
.PHONY: uninstall
uninstall: $(if $(wildcard $(PYTHON)),docs)
	rm -f $(DESTDIR)$(PREFIX)/bin/husk $(DESTDIR)$(PREFIX)/libexec/husk/husk-init \
		$(DESTDIR)$(LIBDIR)/libhusk.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libhusk.so \
		$(DESTDIR)$(LIBDIR)/libhusk.a $(DESTDIR)$(LIBDIR)/pkgconfig/husk.pc \
		$(DESTDIR)$(PREFIX)/include/husk.h \
		$(addprefix $(DESTDIR)$(PREFIX)/,$(wildcard include/husk/*.h)) \
		$(addprefix $(SHARE)/man/man1/,$(notdir $(wildcard docs/man/*.1))) \
		$(addprefix $(SHARE)/man/man3/,$(notdir $(wildcard docs/man/*.3))) \
		$(SHARE)/doc/husk/API.md $(SHARE)/husk/apparmor/husk \
		$(SHARE)/bash-completion/completions/husk \
		$(SHARE)/zsh/site-functions/_husk \
		$(SHARE)/fish/vendor_completions.d/husk.fish
	for page in $(DOCS)/man3/*.3; do rm -f "$(SHARE)/man/man3/$${page##*/}"; done
	-rmdir $(DESTDIR)$(PREFIX)/libexec/husk $(DESTDIR)$(PREFIX)/include/husk \
		$(SHARE)/doc/husk $(SHARE)/husk/apparmor $(SHARE)/husk

# The examples are programs like any other user's: public headers, the static library.
EXAMPLES := $(patsubst examples/%.c,$(OUT)/examples/%,$(wildcard examples/*.c))
$(OUT)/examples/%: examples/%.c $(OUT)/libhusk.a
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARN) -Iinclude $(OPT_LD) $< $(OUT)/libhusk.a $(STATIC_LIBS) -pthread -o $@
.PHONY: examples
examples: $(EXAMPLES)

# Everything from a bare machine to boxes that have run.
.PHONY: quickstart
quickstart: deps-build
	@echo "building..."
	@$(MAKE) --no-print-directory -s all $(OUT)/examples/quickstart
	@$(OUT)/examples/quickstart

# Measurements: side by side with the kernel's floor and with peers, never part of the check.
$(OUT)/bench/%: bench/%.c bench/crowd.h $(OUT)/libhusk.a
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -std=gnu17 -O2 -g $(WARN) -I. -Iinclude $(OPT_LD) $< $(OUT)/libhusk.a \
		$(STATIC_LIBS) -pthread -o $@
# Without the C library, whose start would be most of what is timed.
$(OUT)/bench/true $(OUT)/bench/pause $(OUT)/bench/steps: $(OUT)/bench/%: bench/%.c $(GEN)/init_filter.h \
		$(GEN)/seccomp_filters.c
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -std=gnu17 -O2 $(WARN) -I. -Iinclude -I$(GEN) -static -nostdlib -ffreestanding \
		-fno-builtin -fno-stack-protector -fno-pic -no-pie $< -o $@
.PHONY: bench bench-deps
bench-deps:
	@tests/deps build bench
bench: all $(addprefix $(OUT)/bench/,floor start steps files true pause)
	$(PYTHON) bench/run --build $(OUT)
	$(PYTHON) bench/images --build $(OUT)

.PHONY: clean
clean:
	rm -rf build

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(INIT_OBJ:.o=.d)
