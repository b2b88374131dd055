#include "corpus/group_case.h"

#include "expr/group.h"

enum { KEYS_MAX = 8 };

/* The texts between commas that stand outside of parentheses and quotes. */
static size_t split_keys(str text, str *ret) {
  size_t count = 0;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i <= text.size; i++) {
    const char c = i < text.size ? text.data[i] : ',';
    quoted = c == '\'' ? !quoted : quoted;
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0 && !quoted && count < KEYS_MAX) {
      ret[count++] = str_slice(text.data + begin, i - begin);
      begin = i + 1;
    }
  }
  return count;
}

glv_status group_case_run(glv_env *env, const batch *rows, str group_by, str expression, batch *ret,
                          glv_error *err) {
  str keys[KEYS_MAX];
  const size_t key_count = split_keys(group_by, keys);
  const group_item items[] = {{STR("key"), keys[0]}, {STR("value"), expression}};
  const group_query query = {
      .items = items, .item_count = 2, .keys = keys, .key_count = key_count, .row_id = SIZE_MAX};
  const expr_scope scope = {rows->schema, SIZE_MAX};
  CLEANUP(group_plan_cleanup) group_plan *plan = NULL;
  CLEANUP(group_run_cleanup) group_run *run = NULL;
  bool end = false;
  TRY(group_plan_new(env, &scope, &query, 0, &plan, err));
  TRY(group_run_new(plan, &run, err));
  TRY(group_feed(run, rows, (selection){NULL, rows->length}, err));
  return group_next(run, ret, &end, err);
}
