# SPDX-License-Identifier: Apache-2.0
# Tests: built and run by `make check`. Included by the top Makefile.
# What there is to run, and in which order, is in tests/run_layers.py; packages: tests/deps.

UNIT_SRC := $(wildcard tests/unit/*_test.c)
UNIT_OBJ := $(UNIT_SRC:%.c=$(OBJ)/%.o)
UNIT_BIN := $(UNIT_SRC:%.c=$(OUT)/%)

# A unit test is one cmocka program linked with every object of the library and of the
# command (but for its main), so that it sees internal symbols.
UNIT_LINK := $(LIB_OBJ) $(filter-out $(OBJ)/cli/main.o,$(CLI_OBJ))
$(OUT)/tests/unit/%: $(OBJ)/tests/unit/%.o $(UNIT_LINK)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ $(LIBS) $(if $(findstring oracle,$@),-lseccomp) -lcmocka -o $@

$(OBJ)/tests/unit/seccomp_init_test.o: $(GEN)/init_filter.h

# A fuzz target is one function. libFuzzer drives it in the variant fuzz; in the others
# tests/fuzz/driver.c does, which runs it over its corpus.
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(OBJ)/%.o)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(OUT)/%)
FUZZ_DRIVER := $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer,$(OBJ)/tests/fuzz/driver.o)
$(OUT)/tests/fuzz/%: $(OBJ)/tests/fuzz/%.o $(filter %.o,$(FUZZ_DRIVER)) $(UNIT_LINK)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(FUZZ_LINK) $(filter -%,$(FUZZ_DRIVER)) $^ $(LIBS) -o $@
# Calls of the command into the library that a target answers itself.
$(OUT)/tests/fuzz/fuzz_mcp: FUZZ_LINK := \
	-Wl,--wrap=husk_session_run,--wrap=husk_session_run_code

.SECONDARY: $(UNIT_OBJ) $(FUZZ_OBJ) $(OBJ)/tests/fuzz/driver.o
-include $(UNIT_OBJ:.o=.d) $(FUZZ_OBJ:.o=.d)

.PHONY: help
help:
	@printf '%s\n' \
	'make                 build the command and the libraries into build/' \
	'make VARIANT=asan    the same into build/asan: also hooks, tsan, coverage' \
	'make quickstart      set up, build and show the main job on this machine' \
	'make check           run every layer of the tests' \
	'make check-LAYER     run one layer, or those of one kind: check-unit, check-unit-asan' \
	'make check LAYERS="lint unit"   the same for several' \
	'make layers          list the layers' \
	'make lint            the checks of the source alone' \
	'make format          lay out the C files as .clang-format says' \
	'make spares          suites with every call in a box made ahead of it; SUITES="NAME..."' \
	'make programs        real programs and their own tests under both filters, hours' \
	'make fuzz            every fuzz target for FUZZ_SECONDS (60); FUZZ="NAME..." for some' \
	'make crash           callers killed at KILLS (1000) random instants, as root and as a user' \
	'make soak            BOXES (100000) boxes, or as many as SECONDS (3600) allow; WHO=user' \
	'make fault           every system call and allocation made to fail, in every way (hours)' \
	'make tsan            unit and integration tests under the thread sanitizer' \
	'make valgrind        unit tests under memcheck; VALGRIND="NAME..." for some' \
	'make coverage        unit and integration tests on the coverage variant, summed up' \
	'make examples        build the programs of examples/' \
	'make docs            the reference of the C interface, from the headers, into build/docs' \
	'make wheel           a Python wheel that carries the library, into build/wheel' \
	'make deb             Debian packages, into build/package' \
	'make bundle          one archive that runs on a host without any library' \
	'make bench           measure starts against the floor and against peers' \
	'make bench-deps      install those peers that the archive has (apt)' \
	'make deps            install what is missing for building and testing (apt)' \
	'make deps-build      install what is missing for building alone' \
	'make install         install below PREFIX (/usr/local), honours DESTDIR' \
	'make uninstall       take away what make install has put there' \
	'make clean           remove build/'

.PHONY: deps deps-build
deps:
	@tests/deps
deps-build:
	@tests/deps build

.PHONY: unit-build fuzz-build
unit-build: $(UNIT_BIN) $(FUZZ_BIN)
fuzz-build: $(FUZZ_BIN)

# What tests/lint/analyse gives to the analysers.
.PHONY: print-cppflags
print-cppflags:
	@printf '%s\n' "$(subst ",\",$(CPPFLAGS))"

# LAYERS="lint unit" selects; empty means all.
LAYERS ?=
.PHONY: check lint layers
check: deps
	@/usr/bin/python3 tests/run $(LAYERS)
check-%: deps
	@/usr/bin/python3 tests/run $*

# The suites once more with every call in a box that was made ahead of it.
SUITES ?= python integration hostile images
.PHONY: spares
spares: deps
	@/usr/bin/python3 tests/run $(foreach how,spares preload,\
		$(foreach suite,$(SUITES),$(suite)-$(how)-root $(suite)-$(how)-user))
lint: deps
	@/usr/bin/python3 tests/run lint
layers:
	@/usr/bin/python3 tests/run --list

# What programs bring along to test themselves takes hours: on demand.
.PHONY: programs
programs: deps
	@tests/deps programs
	@/usr/bin/python3 tests/run programs suites-user suites-root

FUZZ_SECONDS ?= 60
FUZZ ?=
.PHONY: fuzz
fuzz:
	@tests/deps build fuzz
	@tests/fuzz/run --seconds $(FUZZ_SECONDS) $(FUZZ)

# The check has both in a short form. SEED repeats the instants of a run that printed it.
KILLS ?= 1000
BOXES ?= 100000
SECONDS ?= 3600
WHO ?= root
SEED ?=
.PHONY: crash soak
crash: all deps
	@for who in root user; do \
		tests/crash/run --as $$who --build $(OUT) --kills $(KILLS) $(SEED:%=--seed %) || exit 1; \
	done
soak: all deps
	@tests/soak/run --as $(WHO) --build $(OUT) --boxes $(BOXES) --seconds $(SECONDS) $(SEED:%=--seed %)

# The check does a part of it: the layers fault-user and fault-root.
.PHONY: fault
fault: deps all
	@HUSK_TEST_LONG=1 tests/fault/run --as root --build $(OUT)
	@HUSK_TEST_LONG=1 tests/fault/run --as user --build $(OUT)
	@$(MAKE) --no-print-directory -s VARIANT=asan all
	@HUSK_TEST_LONG=1 tests/fault/run --as root --build build/asan --only 'memory.*'

.PHONY: tsan
tsan: deps
	@/usr/bin/python3 tests/run unit-tsan integration-tsan-root

VALGRIND ?=
.PHONY: valgrind
valgrind: deps
	@$(MAKE) --no-print-directory -s VARIANT=hooks all unit-build
	@tests/run_valgrind $(VALGRIND)

.PHONY: coverage
coverage: deps
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	@/usr/bin/python3 tests/run unit-coverage integration-coverage-root
	@/usr/bin/python3 tests/run_coverage

.PHONY: format
format:
	@git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i
