/**
 * @file alloc_fault.h
 * An allocator that counts what is in use and can refuse the Nth request.
 */
#ifndef GLAIVE_TESTS_ALLOC_FAULT_H
#define GLAIVE_TESTS_ALLOC_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <glaive/env.h>

typedef struct alloc_fault {
  glv_allocator table;              /* give this to the environment; user is the struct itself */
  atomic_uint_fast64_t requests;    /* alloc and resize calls since the last arm */
  atomic_uint_fast64_t live_blocks; /* blocks not freed yet */
  atomic_uint_fast64_t live_bytes;
  uint64_t fail_at; /* 0 = never */
  bool persistent;  /* every request from fail_at on fails, not only that one */
  atomic_bool fired;
} alloc_fault;

void alloc_fault_init(alloc_fault *f);
/** Refuse the nth request from now on (1 = the next); 0 = none. Not while other threads allocate.
 */
void alloc_fault_arm(alloc_fault *f, uint64_t nth, bool persistent);

#endif
