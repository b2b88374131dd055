/* Finding functions by name: a walk over the tables of the families, and the known name that is
 * nearest to an unknown one. */
#include "expr/function.h"

#include "expr/function_private.h"

static const function *const FAMILIES[] = {
    functions_case,        functions_length,      functions_trim,       functions_slice,
    functions_concat,      functions_search,      functions_token,      functions_character,
    functions_edit,        functions_levenshtein, functions_digest,     functions_encode,
    functions_system,      functions_json,        functions_regexp,     functions_regexp_find,
    functions_math,        functions_power,       functions_number,     functions_integer,
    functions_round,       functions_date_part,   functions_date_trunc, functions_date_bin,
    functions_time,        functions_date,        functions_timestamp,  functions_vector,
    functions_struct,      functions_list_access, functions_list_make,  functions_list_measure,
    functions_list_order,  functions_list_range,  functions_list_set,   functions_map,
    functions_list_search, functions_list_shape,  functions_list_text,  functions_condition,
    functions_arrow,       functions_later};

enum { FAMILY_COUNT = sizeof FAMILIES / sizeof FAMILIES[0], NAME_MAX_SIZE = 64 };

static bool has_name(const function *f, str name) {
  if (str_is(name, f->name)) {
    return true;
  }
  for (const char *const *alias = f->aliases; alias != NULL && *alias != NULL; alias++) {
    if (str_is(name, *alias)) {
      return true;
    }
  }
  return false;
}

const function *function_find(str name) {
  for (size_t i = 0; i < FAMILY_COUNT; i++) {
    for (const function *f = FAMILIES[i]; f->name != NULL; f++) {
      if (has_name(f, name)) {
        return f;
      }
    }
  }
  return NULL;
}

/* Levenshtein distance of two short texts. */
static size_t distance(str a, str b) {
  size_t row[NAME_MAX_SIZE + 1];
  for (size_t j = 0; j <= b.size; j++) {
    row[j] = j;
  }
  for (size_t i = 0; i < a.size; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size; j++) {
      const size_t replaced = diagonal + (a.data[i] != b.data[j]);
      diagonal = row[j + 1];
      row[j + 1] = size_min(replaced, size_min(row[j], row[j + 1]) + 1);
    }
  }
  return row[b.size];
}

const char *function_suggest(str name) {
  const char *best = NULL;
  size_t best_distance = name.size / 3 + 1; /* further away is no likeness */
  if (name.size > NAME_MAX_SIZE) {
    return NULL;
  }
  for (size_t i = 0; i < FAMILY_COUNT - 1; i++) { /* without those that do not work yet */
    for (const function *f = FAMILIES[i]; f->name != NULL; f++) {
      const size_t d = distance(name, str_of(f->name));
      if (d < best_distance) {
        best = f->name;
        best_distance = d;
      }
    }
  }
  return best;
}
