/**
 * @file memory.h
 * How much memory this process may use.
 */
#ifndef GLAIVE_SERVER_MEMORY_H
#define GLAIVE_SERVER_MEMORY_H

#include <stdint.h>

/** Bytes that are available: what the machine has free, or what the control group has left when
 * that is less. 0 = not known. */
uint64_t memory_available(void);

#endif
