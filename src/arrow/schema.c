/*
 * Schemas: one counted block that holds the reference count, the environment and the arena with all
 * fields, types and metadata. The public `schema` is its first member, so a pointer to one leads to
 * the other; a schema that was not made by schema_new has no count and must not be referenced.
 */
#include <stdatomic.h>

#include "arrow/type.h"

struct counted_schema {
  schema visible; /* first */
  atomic_size_t refs;
  glv_env *env;
  arena memory;
};

/* The counted block behind a schema. The count may change behind a pointer to const. */
static struct counted_schema *counted(const schema *s) {
  return (struct counted_schema *)(uintptr_t)s;
}

static glv_status fill(struct counted_schema *c, const field *fields, size_t count, metadata m,
                       glv_error *err) {
  field *copies = ARENA_ARRAY(&c->memory, field, count);
  if (copies == NULL) {
    return error_nomem(err, count * sizeof *copies);
  }
  for (size_t i = 0; i < count; i++) {
    if (!field_copy(&c->memory, &fields[i], &copies[i])) {
      return error_nomem(err, sizeof *copies);
    }
  }
  bool ok;
  c->visible.metadata = metadata_copy(&c->memory, m, &ok);
  if (!ok) {
    return error_nomem(err, m.count * sizeof *m.pairs);
  }
  c->visible.fields = copies;
  c->visible.field_count = count;
  return GLV_OK;
}

glv_status schema_new(glv_env *env, const field *fields, size_t count, metadata m, schema **ret,
                      glv_error *err) {
  struct counted_schema *c = mem_zalloc(env, sizeof *c);
  if (c == NULL) {
    return error_nomem(err, sizeof *c);
  }
  atomic_init(&c->refs, 1);
  c->env = env_ref(env);
  arena_init(&c->memory, env);
  const glv_status status = fill(c, fields, count, m, err);
  if (status != GLV_OK) {
    schema_unref(&c->visible);
    return status;
  }
  *ret = &c->visible;
  return GLV_OK;
}

schema *schema_ref(const schema *s) {
  struct counted_schema *c = counted(s);
  if (c == NULL) {
    return NULL;
  }
  atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
  return &c->visible;
}

void schema_unref(const schema *s) {
  struct counted_schema *c = counted(s);
  if (c == NULL || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  glv_env *env = c->env;
  arena_dispose(&c->memory);
  mem_free(env, c);
  env_unref(env);
}

void schema_cleanup(schema **s) { schema_unref(*s); }

size_t schema_find(const schema *s, str name) {
  for (size_t i = 0; i < s->field_count; i++) {
    if (str_is(name, s->fields[i].name)) {
      return i;
    }
  }
  return SIZE_MAX;
}

bool schema_equal(const schema *a, const schema *b) {
  if (a->field_count != b->field_count) {
    return false;
  }
  for (size_t i = 0; a != b && i < a->field_count; i++) {
    if (!field_equal(&a->fields[i], &b->fields[i])) {
      return false;
    }
  }
  return true;
}
