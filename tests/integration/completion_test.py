# SPDX-License-Identifier: Apache-2.0
"""Completions: the candidates, and what real shells make of them."""

import os
import re
import subprocess

from harness import check, contains, equal, need, test
from integration.boxes import limits


@need("zsh")
def _zsh(t):
    return None if os.path.exists("/usr/bin/zsh") else "zsh is not installed"


@need("fish")
def _fish(t):
    return None if os.path.exists("/usr/bin/fish") else "fish is not installed"


def candidates(t, *words, **more):
    done = t.husk("completion", "words", *words, **more)
    equal((done.status, done.err), (0, ""), str(words))
    return [line.split("\t")[0] for line in done.out.splitlines()]


@test
def commands_and_options_are_offered(t):
    every = [line.split()[0] for line in t.husk("help").out.splitlines()
             if line.startswith("  ") and line[2:3].isalpha()]
    offered = candidates(t, "")
    check(set(offered) >= {"run", "code", "image", "mcp", "shell"}, str(offered))
    check(set(offered) <= set(every), f"{set(offered) - set(every)} are no commands")
    equal(candidates(t, "ru"), ["run"], "ru")
    equal(candidates(t, "image", "in"), ["inspect"], "image in")
    equal(candidates(t, "run", "--time"), ["--timeout"], "an option")
    check("--json" not in candidates(t, "shell", "--"), "an option of others")
    equal(candidates(t, "no-such", ""), [], "no command")


@test
def every_option_of_every_command_is_offered(t):
    """What --help of a command lists is what completing "-" and "--" after it offers."""
    commands = [line.split()[0] for line in t.husk("help").out.splitlines()
                if line.startswith("  ") and line[2:3].isalpha()]
    pairs = [(command,) for command in commands]
    pairs += [("image", name) for name in ("export", "import", "inspect", "ls", "prune", "rm")]
    pairs += [("config", "show")]
    check(len(pairs) > 20, str(pairs))
    for words in pairs:
        text = t.husk(*words, "--help").out
        listed = set(re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", text, re.MULTILINE))
        check("--help" in listed, text)
        equal(set(candidates(t, *words, "--")), listed, words)


@test
def values_are_offered(t):
    equal(candidates(t, "run", "--network", ""), ["none", "host"], "a choice")
    equal(candidates(t, "run", "--network=h"), ["host"], "joined")
    equal(candidates(t, "run", "--network", "=", "h"), ["host"], "as bash cuts it")
    check("host" in candidates(t, "run", "--image", ""), "images")
    equal(candidates(t, "run", "--workspace", ""), [":dirs"], "a directory")
    equal(candidates(t, "run", "--env-file", "x"), [":files"], "a file")
    equal(candidates(t, "run", "--memory", ""), [], "a number")
    equal(candidates(t, "code", "--language", "p"), ["python"], "a language")


@test
def words_are_offered(t):
    equal(candidates(t, "run", "--", ""), [":commands"], "a program")
    equal(candidates(t, "run", "-e", "A=1", "-it", "l"), [":commands"], "after options")
    equal(candidates(t, "run", "ls", "--"), [":files"], "after the program")
    equal(candidates(t, "code", ""), [":files"], "code")
    equal(candidates(t, "help", "docto"), ["doctor"], "help")
    equal(candidates(t, "completion", ""), ["bash", "fish", "zsh"], "completion")
    equal(candidates(t, "version", ""), [], "version")


@test
def boxes_that_run_are_offered(t):
    (t.tmp / "run").mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(t.tmp / "run")}
    box = subprocess.Popen([t.command, "run", *limits(t), "--name", "mine", "--", "sh", "-c",
                            f"echo; exec sleep {t.marker}"], env={**t.env, **env},
                           stdout=subprocess.PIPE, cwd=t.tmp)
    try:
        box.stdout.readline()
        equal(candidates(t, "stop", "m", env=env), ["mine"], "stop")
    finally:
        box.terminate()
        box.wait(30)


def path(t):
    """husk first on PATH."""
    return {"PATH": f"{t.build}:{t.env['PATH']}"}


@test
def bash_completes(t):
    (t.tmp / "a file.py").write_text("")
    (t.tmp / "folder").mkdir()

    def complete(*words):
        script = ("source <(husk completion bash); COMP_WORDS=(\"$@\"); "
                  "COMP_CWORD=$(($# - 1)); _husk; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = t.run(["bash", "-c", script, "bash", "husk", *words], env=path(t))
        equal((done.status, done.err), (0, ""), str(words))
        return [line for line in done.out.splitlines() if line]

    equal(complete("ru"), ["run"], "a command")
    equal(complete("run", "--netw"), ["--network"], "an option")
    equal(complete("run", "--network", "=", ""), ["none", "host"], "a value")
    equal(complete("code", "a"), ["a file.py"], "a file")
    equal(complete("run", "--workspace", "f"), ["folder"], "a directory")
    contains(" ".join(complete("run", "--", "ech")), "echo")


@test(needs=("zsh",))
def zsh_completes(t):
    script = r"""
autoload -Uz compinit; compinit -D -u
source <(husk completion zsh)
[[ $_comps[husk] == _husk ]] || { print "not registered"; exit 1 }
_describe() { shift; print -l -- ${(P)2} }
_files() { print "files $*" }
_command_names() { print commands }
ask() { local -a words; words=("$@"); local CURRENT=$#; _husk }
ask husk ru; print -r -- '==' ; ask husk run --network ''; print -r -- '=='; ask husk code ''
"""
    done = t.run(["/usr/bin/zsh", "-f", "-c", script], env=path(t))
    equal((done.status, done.err), (0, ""), "zsh")
    parts = [part.split("\n") for part in done.out.split("==\n")]
    contains(parts[0][0], "run:Run a program")
    equal(parts[1][:2], ["none", "host"], "values")
    equal(parts[2][0].strip(), "files", "files")


@test(needs=("fish",))
def fish_completes(t):
    def complete(text):
        done = t.run(["/usr/bin/fish", "--no-config", "-c",
                      f"husk completion fish | source; complete -C {text!r}"], env=path(t))
        equal(done.status, 0, text)
        return [line.split("\t")[0] for line in done.out.splitlines()]

    equal(complete("husk ru"), ["run"], "a command")
    equal(complete("husk run --netw"), ["--network"], "an option")
    equal(sorted(complete("husk run --network ")), ["host", "none"], "values")


@test
def other_shells_are_refused(t):
    for words in ((), ("tcsh",), ("bash", "zsh")):
        done = t.husk("completion", *words)
        equal((done.status, done.stdout), (125, b""), str(words))
