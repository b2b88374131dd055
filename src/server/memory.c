/* /proc/meminfo, and the files of the control group in its two versions. */
#include "server/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/str.h"

enum { TEXT_BYTES = 8192, PATH_BYTES = 4096 };

/* The beginning of a small file; empty when it cannot be read. */
static str read_small(const char *path, char text[TEXT_BYTES]) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd >= 0 ? read(fd, text, TEXT_BYTES - 1) : -1;
  if (fd >= 0) {
    close(fd);
  }
  text[size > 0 ? size : 0] = '\0';
  return str_slice(text, size > 0 ? (size_t)size : 0);
}

/* The decimal number that text begins with; false for another beginning, as "max". */
static bool leading_number(const char *text, uint64_t *ret) {
  return str_to_u64(str_slice(text, strspn(text, "0123456789")), ret);
}

static uint64_t free_of_machine(void) {
  char text[TEXT_BYTES];
  uint64_t kib = 0;
  (void)read_small("/proc/meminfo", text);
  const char *line = strstr(text, "MemAvailable:");
  if (line != NULL) {
    line += strlen("MemAvailable:");
    line += strspn(line, " ");
    (void)leading_number(line, &kib);
  }
  return kib * 1024;
}

static bool number_in(const char *directory, const char *name, uint64_t *ret) {
  char path[PATH_BYTES];
  char text[TEXT_BYTES];
  const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
  if (length < 0 || (size_t)length >= sizeof path) {
    return false;
  }
  (void)read_small(path, text);
  return leading_number(text, ret);
}

/* What is left of the limit of one group, if it has one. */
static void apply_group(const char *directory, const char *limit, const char *usage,
                        uint64_t *available) {
  uint64_t most;
  uint64_t used = 0;
  if (number_in(directory, limit, &most)) {
    (void)number_in(directory, usage, &used);
    *available = u64_min(*available, most > used ? most - used : 0);
  }
}

/* The group of this process and all above it. */
static void apply_groups(uint64_t *available) {
  char text[TEXT_BYTES];
  char path[PATH_BYTES] = "/sys/fs/cgroup";
  const size_t root = strlen(path);
  const str own = read_small("/proc/self/cgroup", text);
  const char *start = strstr(text, "0::");
  if (own.size != 0 && start != NULL) {
    start += 3;
    const size_t size = strcspn(start, "\n");
    if (root + size < sizeof path) {
      memcpy(path + root, start, size);
      path[root + size] = '\0';
    }
  }
  for (char *slash = path + strlen(path); slash != NULL && slash >= path + root;
       slash = strrchr(path, '/')) {
    *slash = '\0';
    apply_group(path, "memory.max", "memory.current", available);
  }
  apply_group("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", available);
}

uint64_t memory_available(void) {
  uint64_t available = free_of_machine();
  if (available == 0) {
    return 0;
  }
  apply_groups(&available);
  return available;
}
