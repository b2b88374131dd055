/*
 * Lists in pages. The order is that of the bytes of the names; a page begins strictly after its
 * token, which is the last name of the page before and need not exist any more. Root tables also
 * take LanceDB's form of a token, the directory entry `<name>.lance/`; a name that itself ends in
 * `.lance` or `/` goes out in that form, so that it is not mistaken (namespaces.md 5).
 */
#include <stdlib.h>

#include "base/checked.h"
#include "catalog/catalog_private.h"

void name_set_dispose(name_set *s) { mem_free(s->env, s->entries); }

glv_status name_set_add(name_set *s, catalog_entry entry, glv_error *err) {
  TRY(vec_reserve(s->env, &s->entries, &s->capacity, s->count + 1, sizeof *s->entries, err));
  s->entries[s->count++] = entry;
  return GLV_OK;
}

static int compare(const void *a, const void *b) {
  return strcmp(((const catalog_entry *)a)->name, ((const catalog_entry *)b)->name);
}

static void sort_distinct(name_set *s) {
  if (s->count == 0) {
    return;
  }
  qsort(s->entries, s->count, sizeof *s->entries, compare);
  size_t kept = 1;
  for (size_t i = 1; i < s->count; i++) {
    if (compare(&s->entries[kept - 1], &s->entries[i]) != 0) {
      s->entries[kept++] = s->entries[i];
    }
  }
  s->count = kept;
}

static str token_name(str token, bool is_root_tables) {
  if (is_root_tables && str_ends_with(token, STR("/"))) {
    token.size--;
  }
  if (is_root_tables && str_ends_with(token, STR(TABLE_SUFFIX))) {
    token.size -= sizeof TABLE_SUFFIX - 1;
  }
  return token;
}

static const char *token_of(arena *a, const char *name, bool is_root_tables) {
  const bool is_ambiguous = is_root_tables && str_ends_with(str_of(name), STR(TABLE_SUFFIX));
  return is_ambiguous ? arena_printf(a, "%s" TABLE_SUFFIX "/", name) : name;
}

glv_status name_set_page(name_set *s, const catalog_page *page, bool is_root_tables, arena *a,
                         catalog_list *ret, glv_error *err) {
  static const catalog_page everything = {0};
  const catalog_page *p = page != NULL ? page : &everything;
  sort_distinct(s);
  size_t first = 0;
  if (p->token != NULL) {
    const str after = token_name(str_of(p->token), is_root_tables);
    while (first < s->count && str_compare(str_of(s->entries[first].name), after) <= 0) {
      first++;
    }
  }
  const size_t left = s->count - first;
  const size_t count = p->has_limit && p->limit < left ? (size_t)p->limit : left;
  catalog_entry *entries = ARENA_ARRAY(a, catalog_entry, count);
  if (entries == NULL) {
    return error_nomem(err, count * sizeof *entries);
  }
  if (count != 0) {
    memcpy(entries, s->entries + first, count * sizeof *entries);
  }
  const char *token = NULL;
  if (count != 0 && count < left) {
    token = token_of(a, entries[count - 1].name, is_root_tables);
    if (token == NULL) {
      return error_nomem(err, LIMIT_NAME_BYTES);
    }
  }
  *ret = (catalog_list){entries, count, token};
  return GLV_OK;
}
