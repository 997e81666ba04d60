/* SPDX-License-Identifier: Apache-2.0 */
/* husk completion: the scripts for shells. They ask husk itself what could come next, so
 * they know every option of the version that is installed. */
#include "cli/complete.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>

static const char bash[] =
    "# husk completion bash\n"
    "_husk() {\n"
    "\tlocal line cur=${COMP_WORDS[COMP_CWORD]}\n"
    "\tCOMPREPLY=()\n"
    "\t[[ $cur == = ]] && cur=\n"
    "\twhile IFS= read -r line; do\n"
    "\t\tcase $line in\n"
    "\t\t:files) compopt -o filenames 2>/dev/null\n"
    "\t\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "\t\t:dirs) compopt -o filenames 2>/dev/null\n"
    "\t\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "\t\t:commands)\n"
    "\t\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
    "\t\t*:) compopt -o nospace 2>/dev/null; COMPREPLY+=(\"$line\") ;;\n"
    "\t\t*) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "\t\tesac\n"
    "\tdone < <(husk completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _husk husk\n";

static const char zsh[] =
    "#compdef husk\n"
    "# husk completion zsh\n"
    "_husk() {\n"
    "\tlocal line\n"
    "\tlocal -a described\n"
    "\tfor line in \"${(@f)$(husk completion words \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "\t\tcase $line in\n"
    "\t\t('') ;;\n"
    "\t\t(:files) _files ;;\n"
    "\t\t(:dirs) _files -/ ;;\n"
    "\t\t(:commands) _command_names -e ;;\n"
    "\t\t(*$'\\t'*) described+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "\t\t(*) described+=(\"${line//:/\\\\:}\") ;;\n"
    "\t\tesac\n"
    "\tdone\n"
    "\tif (( $#described )); then\n"
    "\t\t_describe -V husk described\n"
    "\tfi\n"
    "}\n"
    "if [[ $funcstack[1] == _husk ]]; then\n"
    "\t_husk \"$@\"\n"
    "else\n"
    "\tcompdef _husk husk\n"
    "fi\n";

static const char fish[] =
    "# husk completion fish\n"
    "function __husk_complete\n"
    "\tset -l words (commandline -opc) (commandline -ct)\n"
    "\tfor line in (husk completion words $words[2..-1] 2>/dev/null)\n"
    "\t\tswitch $line\n"
    "\t\t\tcase ':files'\n"
    "\t\t\t\t__fish_complete_path (commandline -ct)\n"
    "\t\t\tcase ':dirs'\n"
    "\t\t\t\t__fish_complete_directories (commandline -ct)\n"
    "\t\t\tcase ':commands'\n"
    "\t\t\t\t__fish_complete_command\n"
    "\t\t\tcase '*'\n"
    "\t\t\t\techo $line\n"
    "\t\tend\n"
    "\tend\n"
    "end\n"
    "complete -c husk -f -a '(__husk_complete)'\n";

static const struct {
	const char *name, *script;
} shells[] = {{"bash", bash}, {"fish", fish}, {"zsh", zsh}};

static int print_candidates(struct cli_settings *settings, size_t count, char **words)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r = CLI_EXIT_CANNOT;

	if (!out)
		return r;
	cli_complete(settings, count, words, out);
	if (fclose(out) == 0)
		r = cli_print(text, size);
	free(text);
	return r;
}

int cli_completion(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};

	if (count > 0 && strcmp(words[0], "words") == 0)
		return print_candidates(settings, count - 1, words + 1);
	for (size_t i = 0; count == 1 && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, words[0]) == 0)
			return cli_print(shells[i].script, strlen(shells[i].script));
	}
	(void)cli_error(&err, count > 0 ? words[0] : "usage", "%s",
			count > 0 ? "no shell that is known" : "no shell is given");
	cli_error_hint(&err, "one of bash, fish and zsh");
	return cli_say_usage(&err, "completion");
}
