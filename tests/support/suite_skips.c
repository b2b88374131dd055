/* The tests of the exported functions that are not run against a server, and why. */
#include "support/suite.h"

#define NEWEST "a server shows handles that are not checked out the newest version"
#define FORCED "writes to a view itself (GLV_WRITE_VIEW), which is for directories"
#define PLANS "no server prepares views: there are no plans"
#define PARTS "a definition in parts travels as SQL: other words, and no exact text of expressions"
#define EMBEDDED_JOBS "about jobs of this process"
#define FILES "works on the files of the database"

const suite_skip suite_skips[] = {
    {"later_versions_are_noticed", FILES},
    {"names_in_namespaces_move", FILES},
    {"stream_errors_are_told_in_full", "a server computes the first rows before it answers"},
    {"refusals", FORCED},
    {"views", FORCED},
    {"compact_view", FORCED},
    {"direct_writes_are_refused", FORCED},
    {"verified", FORCED},
    {"tags", "no server of ours has branches"},
    {"cleanup", "handles of clients keep no versions"},
    {"two_creates_of_one_plan", PLANS},
    {"a_plan_outlives_its_connection", PLANS},
    {"wide_views", PLANS},
    {"lists", "recursive lists of views come whole"},
    {"planning_refusals", PARTS},
    {"odd_names_are_escaped", PARTS},
    {"a_view_lives_by_jobs", EMBEDDED_JOBS},
    {"what_is_refused_at_once", EMBEDDED_JOBS},
    {"jobs_end_with_their_connection", EMBEDDED_JOBS},
    {"readers_see_old_or_new", NEWEST},
    {NULL, NULL},
};
