# SPDX-License-Identifier: Apache-2.0
# The wheel of the Python module: `make wheel`. Included by the top Makefile.
# Its library carries libseccomp and jansson inside, so that it needs nothing but glibc.

WHEEL_LIB := $(OUT)/wheel/libhusk.so.$(SOVERSION)

# The archive of jansson was not made for shared libraries: its code compares with stdin in a
# way that cannot be linked into one. Nothing here reads stdin through it.
$(WHEEL_LIB): $(LIB_OBJ) $(OBJ)/bindings/python/wheel_stdin.o runtime/libhusk.map
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -Wl,-soname,libhusk.so.$(SOVERSION) \
		-Wl,--version-script=runtime/libhusk.map -Wl,-z,defs -Wl,--wrap=stdin -Wl,-S \
		-Wl,--exclude-libs,ALL $(LIB_OBJ) $(OBJ)/bindings/python/wheel_stdin.o \
		$(STATIC_LIBS) -o $@

.PHONY: wheel
wheel: $(WHEEL_LIB)
	$(PYTHON) bindings/python/make_wheel --library $(WHEEL_LIB) --out $(OUT)/wheel
