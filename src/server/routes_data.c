/* Routes of rows of tables: insert, update, delete, merge, columns. */
#include "server/routes.h"

const route data_routes[] = {
    {NULL, 0, ACCESS_NONE, NULL, NULL},
};
