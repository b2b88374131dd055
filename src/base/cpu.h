/**
 * @file cpu.h
 * Loops in two versions: CPU_CLONES before a function has the compiler make it for the oldest
 * processors of the architecture and for AVX2; which one runs is decided when the library is
 * loaded.
 *
 * The decision is the linker's (an indirect function), so calling costs nothing more than any call,
 * and the loops stay plain C in one place. Where indirect functions do not exist (other systems
 * than Linux with glibc, other processors), or are called before a sanitizer or a coverage run is
 * ready for them, there is one version. For functions that spend their time in loops over whole
 * arrays.
 *
 * They are never inlined: that would happen before there are versions to choose from.
 *
 * For static functions only: what chooses the version of one that is not static would be visible
 * outside of the library. Their names must not occur twice in it.
 */
#ifndef GLAIVE_BASE_CPU_H
#define GLAIVE_BASE_CPU_H

#include <stddef.h>
#include <stdint.h> /* which tells about the C library */

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define CPU_ONE_VERSION
#endif
#endif

#if defined __x86_64__ && defined __GLIBC__ && defined __OPTIMIZE__ &&                             \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && !defined CPU_ONE_VERSION
#ifdef __clang__ /* which refuses the two together, and does not inline what has versions */
#define CPU_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CPU_CLONES __attribute__((target_clones("avx2", "default"), noinline))
#endif
#else
#define CPU_CLONES
#endif

/** Have the processor fetch memory while it is busy with what came before: a loop over blocks that
 * names the next one here does not wait for it. NULL is fine when bytes is 0. */
static inline void cpu_fetch(const void *at, size_t bytes) {
  enum { LINE = 64 };
  for (size_t i = 0; i < bytes; i += LINE) {
    __builtin_prefetch((const char *)at + i);
  }
}

#endif
