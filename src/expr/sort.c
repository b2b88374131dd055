/* A merge sort from the bottom up: qsort takes no context, and equal rows must keep their order. */
#include "expr/sort.h"

#include "expr/compare.h"

int sort_compare(const sort_key *keys, size_t count, size_t i, size_t j) {
  for (size_t k = 0; k < count; k++) {
    const sort_key *key = &keys[k];
    const bool valid_i = array_is_valid(key->values, i);
    const bool valid_j = array_is_valid(key->values, j);
    if (valid_i != valid_j) {
      return valid_i == key->nulls_first ? 1 : -1;
    }
    const int order = valid_i ? compare_values(key->values, i, key->values, j) : 0;
    if (order != 0) {
      return key->descending ? -order : order;
    }
  }
  return 0;
}

/* Merge rows[low, middle) and rows[middle, high) into spare. */
static void merge(const sort_key *keys, size_t count, const uint32_t *rows, uint32_t *spare,
                  size_t low, size_t middle, size_t high) {
  size_t left = low;
  size_t right = middle;
  for (size_t out = low; out < high; out++) {
    const bool take_left =
        left < middle && (right >= high || sort_compare(keys, count, rows[left], rows[right]) <= 0);
    spare[out] = take_left ? rows[left++] : rows[right++];
  }
}

void sort_rows(const sort_key *keys, size_t count, uint32_t *rows, uint32_t *spare, size_t n) {
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t low = 0; low < n; low += 2 * width) {
      merge(keys, count, rows, spare, low, size_min(low + width, n), size_min(low + 2 * width, n));
    }
    memcpy(rows, spare, n * sizeof *rows);
  }
}
