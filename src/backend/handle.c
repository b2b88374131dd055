/*
 * Counted handles, owned paths and lists: what every implementation of the backend interface needs.
 * A handle holds a reference to its environment, so that handles may be released in any order.
 */
#include "backend/backend.h"
#include "base/name.h"

void handle_init(handle *h, glv_env *env, void (*dispose)(handle *h)) {
  atomic_init(&h->refs, 1);
  h->env = env_ref(env);
  h->dispose = dispose;
}

void handle_ref(handle *h) { atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed); }

void handle_unref(handle *h) {
  if (h != NULL && atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) == 1) {
    glv_env *env = h->env;
    h->dispose(h);
    env_unref(env);
  }
}

glv_status ident_copy(glv_env *env, glv_id id, ident *ret, glv_error *err) {
  ident copy = {mem_calloc(env, id.count + 1, sizeof(char *)), 0};
  if (copy.parts == NULL) {
    return error_nomem(err, (id.count + 1) * sizeof(char *));
  }
  for (; copy.count < id.count; copy.count++) {
    const char *part = id.parts[copy.count];
    copy.parts[copy.count] = mem_strndup(env, part, strlen(part));
    if (copy.parts[copy.count] == NULL) {
      ident_dispose(env, &copy);
      return error_nomem(err, strlen(part));
    }
  }
  *ret = copy;
  return GLV_OK;
}

void ident_dispose(glv_env *env, ident *id) {
  for (size_t i = 0; i < id->count; i++) {
    mem_free(env, id->parts[i]);
  }
  mem_free(env, id->parts);
  *id = (ident){NULL, 0};
}

/* Append c if it fits and leave room for the NUL. */
static size_t put(char *text, size_t size, size_t used, char c) {
  if (used + 1 < size) {
    text[used++] = c;
  }
  return used;
}

const char *ident_text(glv_id id, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < id.count; i++) {
    const bool bare = name_is_bare(str_of(id.parts[i]));
    used = i > 0 ? put(text, size, used, '.') : used;
    used = bare ? used : put(text, size, used, '"');
    for (const char *c = id.parts[i]; *c != '\0'; c++) {
      used = *c == '"' ? put(text, size, used, '"') : used;
      used = put(text, size, used, *c);
    }
    used = bare ? used : put(text, size, used, '"');
  }
  text[used] = '\0';
  return text;
}

glv_status list_new(glv_env *env, glv_list **ret, glv_error *err) {
  glv_list *list = mem_zalloc(env, sizeof *list);
  if (list == NULL) {
    return error_nomem(err, sizeof *list);
  }
  list->env = env_ref(env);
  arena_init(&list->memory, env);
  *ret = list;
  return GLV_OK;
}

void list_free(glv_list *list) {
  if (list != NULL) {
    glv_env *env = list->env;
    arena_dispose(&list->memory);
    mem_free(env, list->entries);
    mem_free(env, list);
    env_unref(env);
  }
}

static const char *copy_or_null(arena *a, const char *text) {
  return text == NULL ? NULL : arena_strdup(a, str_of(text));
}

glv_status list_add(glv_list *list, glv_id ns, str name, const char *form, const char *state,
                    glv_error *err) {
  TRY(vec_reserve(list->env, &list->entries, &list->capacity, list->count + 1, sizeof(list_entry),
                  err));
  const char **parts = ARENA_ARRAY(&list->memory, const char *, ns.count + 1);
  if (parts == NULL) {
    return error_nomem(err, (ns.count + 1) * sizeof *parts);
  }
  bool ok = true;
  for (size_t i = 0; i <= ns.count; i++) {
    parts[i] = arena_strdup(&list->memory, i < ns.count ? str_of(ns.parts[i]) : name);
    ok = ok && parts[i] != NULL;
  }
  list_entry entry = {parts, ns.count + 1, copy_or_null(&list->memory, form),
                      copy_or_null(&list->memory, state)};
  if (!ok || (entry.form == NULL && form != NULL) || (entry.state == NULL && state != NULL)) {
    return error_nomem(err, name.size);
  }
  list->entries[list->count++] = entry;
  return GLV_OK;
}

glv_status list_set_token(glv_list *list, str token, glv_error *err) {
  list->token = arena_strdup(&list->memory, token);
  return list->token != NULL ? GLV_OK : error_nomem(err, token.size);
}
