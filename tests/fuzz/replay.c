/*
 * Runs a fuzz target over files and folders of inputs, for compilers without libFuzzer:
 * `replay CORPUS...`. Prints the number of inputs; a finding ends the process.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path, long size) {
  FILE *f = fopen(path, "rb");
  uint8_t *data = malloc(size > 0 ? (size_t)size : 1); /* of exact size, so overruns are seen */
  if (f == NULL || data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  fclose(f);
  LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
  return 1;
}

static int run(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) {
    fprintf(stderr, "cannot find %s\n", path);
    exit(2);
  }
  if (!S_ISDIR(st.st_mode)) {
    return run_file(path, (long)st.st_size);
  }
  int count = 0;
  DIR *dir = opendir(path);
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    char name[4096];
    if (e->d_name[0] == '.' ||
        snprintf(name, sizeof name, "%s/%s", path, e->d_name) >= (int)sizeof name) {
      continue;
    }
    count += run(name);
  }
  closedir(dir);
  return count;
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++) {
    count += run(argv[i]);
  }
  printf("%d inputs\n", count);
  return count == 0;
}
