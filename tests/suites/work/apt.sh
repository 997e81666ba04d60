# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1091,SC2086 # options are words
# apt in an image of Debian, from a repository that lies in a directory: /repository.
. ./checks.sh
top=$PWD
options="-qq -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root -o Acquire::Languages=none"
export DEBIAN_FRONTEND=noninteractive

lists() {
	rm -f /etc/apt/sources.list.d/* &&
		echo 'deb [trusted=yes] file:/repository ./' >/etc/apt/sources.list &&
		apt-get $options update && apt-cache policy husk-greeting | grep -q 2.0
}
install() {
	apt-get $options install husk-greeting && [ "$(husk-greeting)" = "hello from husk-library" ] &&
		[ -e /var/lib/husk-greeting/configured ]
}
what_is_installed() {
	dpkg -s husk-greeting | grep -q 'install ok installed' && dpkg -L husk-greeting |
		grep -q bin/husk-greeting && dpkg -S /usr/bin/husk-greeting && dpkg --audit &&
		dpkg -V husk-greeting && apt-mark showauto | grep -q husk-library && apt-get check
}
downgrade_and_upgrade() {
	apt-get $options --allow-downgrades install husk-greeting=1.0 &&
		[ "$(husk-greeting)" = "old" ] && apt-get $options upgrade &&
		[ "$(husk-greeting)" = "hello from husk-library" ]
}
triggers() {
	[ "$(cat /var/lib/husk-library.triggered)" = triggered ]
}
unpack_without_installing() {
	mkdir -p "$top/.deps/only" && cd "$top/.deps/only" && apt-get $options download husk-library &&
		dpkg-deb -x husk-library_*.deb . && [ -e usr/share/husk-library/word ]
}
remove() {
	apt-get $options purge husk-greeting && apt-get $options autoremove &&
		! command -v husk-greeting && ! dpkg -s husk-library
}
what_stays() {
	mkdir -p "$top/.deps/bin" && apt-get $options install husk-greeting &&
		cp /usr/bin/husk-greeting "$top/.deps/bin/"
}

report lists install what_is_installed downgrade_and_upgrade triggers unpack_without_installing \
	remove what_stays
