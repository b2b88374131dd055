/* The tests of the exported functions that are not run against a server, and why. */
#include "support/suite.h"

const suite_skip suite_skips[] = {
    {NULL, NULL},
};
