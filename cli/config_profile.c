/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: settings under a name. One that several files have is taken from the user's
 * before the administrator's before husk's own, and taken whole. */
#include "cli/config.h"

#include "cli/say.h"
#include "cli/suggest.h"

/* For code that nobody has looked at: nothing of what the layers below show it or tell
 * it, and little of everything. */
const char cli_config_built_in[] = "{\"profiles\": {\"untrusted\": {\n"
				   "\"network\": \"none\",\n"
				   "\"seccomp\": \"strict\",\n"
				   "\"limits\": \"enforce\",\n"
				   "\"memory\": \"256m\",\n"
				   "\"pids\": 64,\n"
				   "\"timeout\": 10,\n"
				   "\"tmp-size\": \"64m\",\n"
				   "\"max-output\": \"8m\",\n"
				   "\"deps-readonly\": true,\n"
				   "\"writable-root\": false,\n"
				   "\"env\": {},\n"
				   "\"volume\": []\n"
				   "}}}\n";

int cli_config_find_profile(const struct cli_config *config, const char *name,
			    struct cli_config_place *ret_place, const json_t **ret_object,
			    struct husk_error *err)
{
	struct cli_suggestion near = {.input = name};
	const char *other;
	json_t *ignored;

	for (size_t i = CLI_CONFIG_FILES; i-- > 0;) {
		json_t *profiles = json_object_get(config->files[i].root, "profiles");

		*ret_object = json_object_get(profiles, name);
		if (*ret_object) {
			*ret_place = (struct cli_config_place){
			    .file = &config->files[i],
			    .keys = {"profiles", name},
			    .depth = 2,
			};
			return 0;
		}
		json_object_foreach(profiles, other, ignored)
		{
			cli_suggestion_offer(&near, other);
		}
	}
	(void)cli_error(err, "--profile", "%s: there is no profile of this name", name);
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	else
		cli_error_hint(err, "`husk config show` lists the profiles");
	return HUSK_E_INVALID;
}
