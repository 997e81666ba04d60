# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1010,SC1091,SC2015,SC2016,SC2086 # words of other shells
# busybox: its applets, run by its own shell. is OUTPUT WORD... compares what a command says.
. ./checks.sh

for b in /bin/busybox /usr/bin/busybox; do
	[ ! -x $b ] || break
done
is() {
	wanted=$1
	shift
	got=$("$@") || return 1
	[ "$got" = "$wanted" ] || { echo "$*: got '$got', not '$wanted'"; return 1; }
}
seq 20 >twenty

every_applet_says_what_it_is() {
	for applet in $($b --list); do
		case $applet in
		# Not programs that answer: shells without a line, tests, and what has no --help.
		'[' | '[[' | test | true | false | echo | printf | busybox | linuxrc) continue ;;
		esac
		# Its own words, or the answer of something that took --help for a name.
		$b timeout 20 $b "$applet" --help >help 2>&1 </dev/null
		status=$?
		[ $status -lt 124 ] && [ -s help ] || { echo "$applet: $status"; return 1; }
	done
}
shell_itself() {
	is 42 $b sh -c 'echo $((6 * 7))' && is 3 $b sh -c '(exit 3); echo $?' &&
		is abc $b sh -c 'trap "echo abc" EXIT' && is "x y" $b sh -c 'set -- x y; echo "$@"' &&
		is 5 $b sh -c 'f() { local a=5; echo $a; }; f' && is here $b sh -c 'cat <<A
here
A' && is done $b sh -c 'sleep 0.01 & wait $!; echo done' &&
		is TERM $b sh -c 'trap "echo TERM" TERM; kill -TERM $$; sleep 0' &&
		is 022 $b sh -c 'umask 22; umask | cut -c 2-' && is 64 $b sh -c 'ulimit -n 64; ulimit -n'
}
text() {
	is "20 twenty" $b wc -l twenty && is 3 $b sed -n 3p twenty && is 210 $b awk '{ s += $1 } END { print s }' twenty &&
		is 11 $b grep -c 1 twenty && is 20 $b tail -n 1 twenty && is 1 $b head -n 1 twenty &&
		is 20 sh -c "$b sort -rn twenty | $b head -n 1" && is cba sh -c "echo abc | $b rev" &&
		is ABC sh -c "echo abc | $b tr a-z A-Z" && is b sh -c "echo a:b | $b cut -d : -f 2" &&
		is 20 sh -c "$b tac twenty | $b sed 1q" && is 1 sh -c "echo a a | $b uniq | $b wc -l" &&
		is "1 2" sh -c "echo 1 2 | $b fold -w 80" && is 2 $b expr 1 + 1 &&
		is "2 3" sh -c "$b factor 6 | $b cut -d ' ' -f 2-" && is 6 sh -c "echo '2*3' | $b bc" &&
		is 6 $b dc -e '2 3 * p' && is a,b sh -c "printf 'a\nb\n' | $b paste -s -d , -" &&
		is YWJj sh -c "printf abc | $b base64" && is 616263 sh -c "printf abc | $b xxd -p" &&
		is 0000000 sh -c "printf '' | $b od" && $b strings "$b" | $b grep -q BusyBox &&
		is 20 sh -c "$b nl twenty | $b wc -l" && $b shuf twenty | $b sort -n | $b cmp - twenty
}
editors_and_differences() {
	printf '1\n2\n' >one && printf '1\n3\n' >two && ! $b diff -u one two >edits &&
		$b patch one edits && $b cmp one two && printf '1d\nw\nq\n' | $b ed one >/dev/null &&
		is 3 $b cat one
}
files() {
	$b mkdir -p fd/e && $b touch fd/f && $b cp -a fd fcopy && $b mv fcopy fmoved && $b ln -s f fd/soft &&
		$b ln fd/f fd/hard && is f $b readlink fd/soft && is 2 $b stat -c %h fd/f &&
		$b chmod 640 fd/f && is 640 $b stat -c %a fd/f && $b chown "$(id -u):$(id -g)" fd/f &&
		$b touch -d '2001-01-01 00:00:00' fd/f && is 2001 sh -c "$b date -r fd/f +%Y" &&
		is 5 sh -c "$b find fd | $b wc -l" && $b mkfifo fd/pipe && is fd/pipe $b find fd -type p &&
		$b rm -r fd/e && $b rmdir fmoved/e && $b truncate -s 5000 fd/f &&
		$b fallocate -l 9000 fd/f && is 9000 $b stat -c %s fd/f && $b du fd >/dev/null &&
		$b df . >/dev/null && is f $b basename fd/f && is fd $b dirname fd/f &&
		$b realpath fd >/dev/null && $b mktemp -p . >/dev/null && $b sync && $b ls -lR fd >/dev/null &&
		$b dd if=/dev/zero of=fd/dd bs=1000 count=7 2>/dev/null && is 7000 $b stat -c %s fd/dd &&
		$b shred -n 1 fd/dd && $b unlink fd/hard && ! $b test -e fd/hard
}
archives_and_sums() {
	mkdir -p at out && seq 5000 >at/f && $b tar -czf at.tgz at && $b tar -xzf at.tgz -C out &&
		$b cmp at/f out/at/f &&
		$b gzip -c at/f >at/f.gz && $b zcat at/f.gz | $b cmp - at/f && $b bzip2 -c at/f >at/f.bz2 &&
		$b bzcat at/f.bz2 | $b cmp - at/f && $b lzop -c at/f | $b lzop -dc | $b cmp - at/f &&
		$b find at | $b cpio -o -H newc 2>/dev/null | $b cpio -t 2>/dev/null | $b grep -q at/f &&
		printf abc >abc && is "900150983cd24fb0d6963f7d28e17f72  abc" $b md5sum abc &&
		$b sha256sum abc >sums && $b sha256sum -c -s sums && $b sha512sum abc >/dev/null &&
		$b sha3sum abc >/dev/null && $b crc32 abc >/dev/null && $b uuencode abc abc | $b uudecode -o - |
		$b cmp - abc
}
processes() {
	$b sleep 60 &
	pid=$!
	$b kill -0 $pid && $b ps >ps.out && $b grep -q sleep ps.out && $b renice -n 3 -p $pid >/dev/null &&
		$b kill $pid
	wait $pid
	[ $? -eq 143 ] || return 1
	$b timeout 0.1 $b sleep 60
	[ $? -eq 143 ] || return 1
	is 7 $b sh -c "$b setsid $b sh -c 'exit 7'; echo \$?" &&
		is 6 sh -c "seq 3 | $b xargs -n 1 -P 2 $b echo | $b awk '{ s += \$1 } END { print s }'" &&
		$b time $b true && $b taskset 1 $b true && $b top -b -n 1 >top.out && $b grep -q PID top.out && $b uptime >/dev/null && $b free >/dev/null &&
		$b nproc >/dev/null && $b ionice >/dev/null && cp "$b" daemon && $b start-stop-daemon -S -b -x "$PWD/daemon" -- true &&
		is 1 sh -c "$b setpriv --nnp $b grep -c 'NoNewPrivs:.1' /proc/self/status"
}
system() {
	is Linux $b uname && $b id >/dev/null && $b date +%s >/dev/null && $b hostname >/dev/null &&
		$b env A=b $b sh -c 'test $A = b' && $b tty >/dev/null
	$b cal 2020 >/dev/null && is " -a -- '1'" $b getopt -o a -- -a 1 && $b mount | $b grep -q ' on / ' && $b linux64 $b true && $b usleep 10 && $b hexdump twenty >/dev/null
}
accounts() {
	test -n "$($b whoami 2>/dev/null || $b id -u)" && $b mkpasswd -m sha256 -S saltsalt word |
		$b grep -q '^$5\$saltsalt' && $b hostid >/dev/null
}
network_on_loopback() {
	mkdir web && echo page >web/page && $b httpd -f -p "127.0.0.1:$port" -h web &
	server=$!
	n=0
	until $b wget -q -O got "http://127.0.0.1:$port/page"; do
		n=$((n + 1))
		[ $n -lt 100 ] || return 1
		$b sleep 0.1
	done
	$b kill $server
	is page $b cat got || return 1
	$b nc -l -p $((port + 1)) >heard &
	n=0
	until echo through | $b nc 127.0.0.1 $((port + 1)) 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 100 ] || return 1
		$b sleep 0.1
	done
	wait $!
	is through $b cat heard && $b ip addr show lo | $b grep -q lo && $b ifconfig lo | $b grep -q lo &&
		$b route -n >/dev/null && $b netstat -an >/dev/null && is 10.0.0.0 sh -c \
		"$b ipcalc -n 10.0.0.7/24 | $b cut -d = -f 2"
}

port=$((20000 + $$ % 10000))
report every_applet_says_what_it_is shell_itself text editors_and_differences files \
	archives_and_sums processes system accounts network_on_loopback
