# Tests: built and run by `make check`. Included by the top Makefile.

UNIT_SRC := $(wildcard tests/unit/*_test.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(OUT)/%)

# A unit test is one cmocka program linked with every object of the library, so that it
# sees internal symbols; GEN_SRC objects are shared with the generator.
$(OUT)/tests/unit/%: $(OBJ)/tests/unit/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ $(LIBS) -lcmocka -o $@

.PHONY: unit-build
unit-build: $(UNIT_BIN)
