/* SPDX-License-Identifier: Apache-2.0 */
#include <husk/session.h>

#include "base/error.h"
#include "cgroup/cgroup.h"
#include "session/workspace.h"

int husk_sweep(const char *temp_dir, uint64_t *ret_workspaces, uint64_t *ret_groups,
	       struct husk_error *err)
{
	int workspaces = workspace_sweep(temp_dir), groups = cgroup_sweep();

	if (workspaces < 0)
		return error_sys(err, -workspaces, temp_dir ? temp_dir : "/tmp",
				 "cannot look for temporary workspaces");
	if (groups < 0)
		return error_sys(err, -groups, "control groups",
				 "cannot look for leftovers");
	if (ret_workspaces)
		*ret_workspaces = (uint64_t)workspaces;
	if (ret_groups)
		*ret_groups = (uint64_t)groups;
	return 0;
}
