/* Routes of jobs. */
#include "server/routes.h"

const route job_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
