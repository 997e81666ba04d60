# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Packages of Go's library test themselves: `go_std.sh PACKAGE...`. A line for each test.
export GOCACHE="$PWD/cache" GOFLAGS=-buildvcs=false
for package; do
	go test -short -count=1 -timeout 300s -v "$package" >log 2>&1
	status=$?
	awk -v package="$package" -v status="$status" '
		$1 == "---" && $2 == "PASS:" { print "ok " package "." $3; n++ }
		$1 == "---" && $2 == "FAIL:" { print "not ok " package "." $3; n++ }
		$1 == "---" && $2 == "SKIP:" { print "not ok " package "." $3 " skipped"; n++ }
		{ last = $0 }
		END {
			if (status == 0) print "ok " package ".end"
			else print "not ok " package ".end status " status " " last
		}' log
	grep -A 12 -E '^(--- FAIL|panic:|fatal)|signal: ' log | head -n 60 >&2
done
echo "1..0"
