# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1091 # checks.sh is beside it when this runs
# git: histories are made, merged, copied, packed and checked.
. ./checks.sh

export GIT_CONFIG_GLOBAL="$PWD/gitconfig" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
git config --global user.name "A Name"
git config --global user.email name@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
top=$PWD

init_and_commit() {
	git init -q one && cd one || return 1
	for n in 1 2 3 4 5 6 7 8 9; do
		mkdir -p "d$n" && seq "$n" 500 >"d$n/file" && git add . && git commit -qm "number $n" ||
			return 1
	done
	test "$(git rev-list --count HEAD)" = 9 && test -z "$(git status --porcelain)"
}
differences_and_blame() {
	cd one && seq 2 600 >d1/file && test "$(git diff --numstat | cut -f 1)" = 100 &&
		git diff --stat | grep -q d1/file && git blame d2/file >/dev/null &&
		git stash -q && git stash pop -q && git checkout -q -- . && git grep -q 77 -- d3
}
branches_and_merges() {
	cd one && git checkout -qb side && echo side >side && git add side &&
		git commit -qm side && git checkout -q main && echo main >trunk &&
		git add trunk && git commit -qm main && git merge -q -m merged side &&
		test -e side && git log --graph --oneline | grep -q merged &&
		git checkout -qb moved HEAD~1 && echo moved >moved && git add moved &&
		git commit -qm moved && git rebase -q main && git checkout -q main -- &&
		git cherry-pick moved >/dev/null
}
conflicts() {
	cd one && git checkout -qb left && echo left >same && git add same &&
		git commit -qm left && git checkout -q main && echo right >same && git add same &&
		git commit -qm right || return 1
	if git merge left; then return 1; fi
	grep -q '<<<<' same && echo both >same && git commit -qam both
}
clone_by_links_and_by_protocol() {
	git clone -q one linked && git clone -q --no-local one copied &&
		git clone -q "file://$top/one" fetched && git clone -q --depth 2 "file://$top/one" flat &&
		git clone -q --bare one bare.git && test "$(git -C flat rev-list --count HEAD)" -le 4
}
push_fetch_and_hooks() {
	printf '#!/bin/sh\necho ran >>%s/hooked\n' "$top" >bare.git/hooks/post-receive &&
		chmod +x bare.git/hooks/post-receive && cd fetched &&
		git remote set-url origin "file://$top/bare.git" && echo new >new && git add new &&
		git commit -qm new && git push -q origin main && grep -q ran ../hooked &&
		cd ../copied && git remote set-url origin "$top/bare.git" && git pull -q --ff-only &&
		test -e new && git tag -am tag v1 && git push -q --tags && git describe | grep -q v1
}
packing_and_checking() {
	cd one && git gc -q --aggressive --prune=now && git fsck --full --strict &&
		git repack -q -a -d -b && git count-objects -v | grep -q 'packs: 1' &&
		git verify-pack -v .git/objects/pack/*.idx >/dev/null && git multi-pack-index write &&
		git commit-graph write && git fsck && git maintenance run --quiet
}
archives_bundles_and_patches() {
	cd one && git archive HEAD | tar -tf - | grep -q d9/file &&
		git archive --format=tar.gz HEAD >../a.tgz && git bundle create -q ../b.bundle main &&
		git clone -q ../b.bundle ../unbundled && git format-patch -q -1 -o .. HEAD~1 &&
		git fast-export --all >../export && git init -q ../imported &&
		git -C ../imported fast-import --quiet <../export
}
work_trees_and_submodules() {
	cd one && git worktree add -q ../tree HEAD~1 && test -e ../tree/d1/file &&
		git worktree remove ../tree && git init -q ../outer && cd ../outer &&
		git submodule --quiet add "file://$top/bare.git" inner && git commit -qm inner &&
		git submodule status | grep -q inner
}
large_files_and_threads() {
	git init -q big && cd big && head -c 5000000 /dev/urandom >blob && cp blob blob2 &&
		echo x >>blob2 && git add . && git commit -qm big && git config pack.threads 4 &&
		git -c core.preloadIndex=true status -s && git gc -q && git fsck
}
bisection() {
	cd one && git bisect start HEAD "$(git rev-list --max-parents=0 HEAD)" &&
		git bisect run sh -c '! test -d d6' | grep 'first bad commit' && git bisect reset
}
daemon_on_loopback() {
	touch bare.git/git-daemon-export-ok
	git daemon --listen=127.0.0.1 --port="$port" --base-path="$top" --reuseaddr --detach \
		--pid-file="$top/daemon.pid" || return 1
	n=0
	until git ls-remote "git://127.0.0.1:$port/bare.git" main >refs 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 100 ] || return 1
		sleep 0.1
	done
	git clone -q "git://127.0.0.1:$port/bare.git" daemon
	kept=$?
	kill "$(cat daemon.pid)"
	return $kept
}

# A port of its own for a control outside, where several may run at once.
port=$((20000 + $$ % 10000))
report init_and_commit differences_and_blame branches_and_merges conflicts \
	clone_by_links_and_by_protocol push_fetch_and_hooks packing_and_checking \
	archives_bundles_and_patches work_trees_and_submodules large_files_and_threads bisection \
	daemon_on_loopback
