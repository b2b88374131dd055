/* Routes of the life of tables. */
#include "server/routes.h"

const route table_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
