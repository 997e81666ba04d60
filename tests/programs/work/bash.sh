# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC1091 # checks.sh is beside it when this runs
# bash and the usual tools around it.
. ./checks.sh

pipes_and_substitutions() {
	local all
	all=$(seq 100 | grep 7 | sort -r | tee copy | wc -l) && [ "$all" -eq 19 ] &&
		[ "$(wc -l < <(cat copy copy))" -eq 38 ] && [ "$(cat <<<"words")" = words ] &&
		seq 5 > >(cat >later) && sleep 0.1 && mapfile -t lines <copy && [ ${#lines[@]} -eq 19 ]
	set -o pipefail
	! false | true
}
jobs_and_signals() {
	local pid got=
	sleep 60 & pid=$!
	kill -STOP $pid && kill -CONT $pid && kill $pid
	wait $pid
	[ $? -eq 143 ] || return 1
	trap 'got=yes' USR1
	kill -USR1 $BASHPID
	[ "$got" = yes ] || return 1
	trap - USR1
	set -m
	sleep 0.01 &
	wait -n
	for n in {1..30}; do (exit "$n") & done
	wait
}
coprocesses() {
	local answer
	coproc through { while read -r line; do echo "<$line>"; done; }
	echo words >&"${through[1]}" && read -r answer <&"${through[0]}" && [ "$answer" = "<words>" ]
}
descriptors_and_pipes_by_name() {
	mkfifo pipe && { echo through >pipe & } && [ "$(cat pipe)" = through ] && exec 7<>file &&
		echo seven >&7 && exec 7>&- && [ "$(cat file)" = seven ] && [ -r /dev/fd/0 ] &&
		read -r -t 0.01 _ < <(sleep 1)
	[ $? -gt 128 ]
}
limits_and_times() {
	(ulimit -n 100 && [ "$(ulimit -n)" = 100 ]) && (umask 077 && : >private &&
		[ "$(stat -c %a private)" = 600 ]) && times >/dev/null && [ "$SECONDS" -ge 0 ] &&
		[ "$EPOCHSECONDS" -gt 0 ] && printf '%(%Y)T\n' 0 | grep -Eq '19(69|70)'
}
connections() {
	python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True); c, _ = s.accept(); c.sendall(c.recv(100)); c.close()' >port &
	until [ -s port ]; do sleep 0.05; done
	exec 8<>"/dev/tcp/127.0.0.1/$(cat port)" && echo through >&8 && read -r line <&8 &&
		[ "$line" = through ]
}
usual_tools() {
	mkdir -p t/{a,b} && touch t/{a,b}/{1..20} && [ "$(find t -type f | wc -l)" -eq 40 ] &&
		tar -czf t.tgz t && tar -tzf t.tgz | grep -q a/7 && cp -a t u && diff -r t u &&
		find t -name '1*' -print0 | xargs -0 -P 2 -n 3 ls >/dev/null && rm -r t &&
		sed -i s/x/y/ file && awk 'BEGIN { "date" | getline d; exit d == "" }' &&
		seq 20000 | sort -R --parallel=2 | sort -n | tail -n 1 | grep -q 20000 &&
		split -n 4 copy part && stat -f . >/dev/null && timeout 5 nice -n 3 true && install -m 600 copy kept &&
		dd if=/dev/zero of=zero bs=64k count=4 conv=fsync status=none && truncate -s 10M zero &&
		cp --sparse=always --reflink=auto zero sparse && cmp zero sparse && sync file &&
		flock lock true && mktemp -d -p . >/dev/null && xz -kT2 zero && gzip -k copy && shuf copy >/dev/null &&
		env -i /bin/sh -c true && nohup true >/dev/null && stdbuf -oL true && date >/dev/null &&
		id >/dev/null && df . >/dev/null && du -s . >/dev/null && ps -ef >/dev/null && setsid true &&
		chrt -b 0 true && taskset -c -p $$ >/dev/null && prlimit --nofile >/dev/null && ionice true
}
perl_with_processes() {
	perl -MSocket -MPOSIX -MFcntl=:flock -MTime::HiRes=usleep -e '
		socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die;
		if (!fork) { syswrite $b, "child"; exit 3 }
		sysread $a, my $text, 5; wait; die unless $? >> 8 == 3 && $text eq "child";
		open my $f, ">", "perl.lock" or die; flock $f, LOCK_EX or die;
		local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; usleep 10; alarm 0; 1 } or die;
		die unless `echo shell` eq "shell\n"; die unless (POSIX::uname())[0] eq "Linux";'
}

report pipes_and_substitutions jobs_and_signals coprocesses descriptors_and_pipes_by_name \
	limits_and_times connections usual_tools perl_with_processes
