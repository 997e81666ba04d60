# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Checks of a shell program: each is a function; `report NAME...` at the end runs them and
# prints a line for each, `ok NAME` or `not ok NAME WHY`, and 1..N after the last.
report() {
	failed=0
	for name; do
		if ("$name") >"$name.log" 2>&1 </dev/null; then
			echo "ok $name"
		else
			failed=1
			echo "not ok $name $(tail -n 3 "$name.log" | tr '\n' ' ')"
		fi
	done
	echo "1..$#"
	exit $failed
}
