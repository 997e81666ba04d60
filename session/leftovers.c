/* SPDX-License-Identifier: Apache-2.0 */
#include <husk/session.h>

#include <stdatomic.h>

#include "base/error.h"
#include "cgroup/cgroup.h"
#include "session/session.h"

void session_look_for_leftovers(void *data)
{
	struct husk_session *session = data;
	enum leftovers due = LEFTOVERS_DUE;

	/* One that has none to look for, or that another call looks for, is done. */
	if (!atomic_compare_exchange_strong(&session->leftovers, &due, LEFTOVERS_NONE))
		return;
	if (workspace_look(session->temp_dir, &session->found))
		atomic_store(&session->leftovers, LEFTOVERS_FOUND);
}

void session_remove_leftovers(struct husk_session *session)
{
	enum leftovers before = atomic_exchange(&session->leftovers, LEFTOVERS_NONE);

	if (before == LEFTOVERS_FOUND ||
	    (before == LEFTOVERS_DUE &&
	     workspace_look(session->temp_dir, &session->found)))
		workspace_remove_found(session->temp_dir, &session->found);
}

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
