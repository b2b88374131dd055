/*
 * The columns of a file: one for each leaf of the schema in the order of its fields, with the way
 * from the top-level array to it (lance-file-format section 5).
 */
#include "base/limits.h"
#include "format/page_leaf_private.h"

/* The descent through the schema. */
struct collecting {
  arena *a;
  format_version version;
  const char *top; /* name of the top-level field */
  size_t field;
  leaf_step steps[LIMIT_TYPE_DEPTH];
  size_t depth;
  leaf_column *columns;
  size_t count; /* without columns: only counted */
};

static glv_status refuse(const lance_field *f, glv_error *err) {
  return FAIL(
      err, GLV_E_UNSUPPORTED,
      "column '%s' has type %s, which Lance cannot store; cast it to another type or leave it out",
      f->arrow.name, f->arrow.type != NULL ? TYPE_TEXT(f->arrow.type) : f->logical_type);
}

/* What the reference says about types that only later versions have. */
static glv_status check_version(const struct collecting *c, const type *t, glv_error *err) {
  if (c->version >= FORMAT_2_2) {
    return GLV_OK;
  }
  return FAIL(err, GLV_E_UNSUPPORTED,
              "column '%s': %s data type is not enabled by the selected "
              "file format version %s; it needs 2.2",
              c->top, t->kind == TYPE_MAP ? "Map" : "FixedSizeList<Struct>",
              format_version_text(c->version));
}

static bool has_kind(const struct collecting *c, enum step_kind kind) {
  for (size_t i = 0; i < c->depth; i++) {
    if (c->steps[i].kind == kind) {
      return true;
    }
  }
  return false;
}

static glv_status push(struct collecting *c, const lance_field *f, enum step_kind kind,
                       glv_error *err) {
  if (c->depth == LIMIT_TYPE_DEPTH) {
    return FAIL(err, GLV_E_LIMIT, "column '%s' is nested deeper than %d levels", c->top,
                LIMIT_TYPE_DEPTH);
  }
  c->steps[c->depth++] = (leaf_step){
      .kind = kind, .name = f->arrow.name, .type = f->arrow.type, .is_nullable = f->arrow.nullable};
  const bool is_mixed = has_kind(c, STEP_REPEAT) && has_kind(c, STEP_LIST);
  return is_mixed ? FAIL(err, GLV_E_UNSUPPORTED,
                         "column '%s' has a fixed-size list of structs inside or around a list, "
                         "which the format cannot store",
                         c->top)
                  : GLV_OK;
}

/* Path of a leaf with dots, for messages. NULL = no memory. */
static const char *path_of(const struct collecting *c, const lance_field *f) {
  const char *path = c->depth != 0 ? c->steps[0].name : f->arrow.name;
  for (size_t i = 1; path != NULL && i < c->depth; i++) {
    path = arena_printf(c->a, "%s.%s", path, c->steps[i].name);
  }
  return path != NULL && c->depth != 0 ? arena_printf(c->a, "%s.%s", path, f->arrow.name) : path;
}

/* The next column, named and initialised; NULL while they are only counted. */
static glv_status add_column(struct collecting *c, const lance_field *f, const field *stored,
                             leaf_column **ret, glv_error *err) {
  leaf_column *to = c->columns != NULL ? &c->columns[c->count] : NULL;
  c->count++;
  *ret = to;
  if (to == NULL) {
    return GLV_OK;
  }
  to->field = c->field;
  TRY(page_leaf_init(stored, &to->leaf, err));
  to->leaf.name = path_of(c, f);
  to->leaf.version = c->version;
  return to->leaf.name != NULL ? GLV_OK : error_nomem(err, 0);
}

/* Packed structs whose values are not just numbers one after another. Vectors count as numbers in
 * version 2.0. */
static glv_status check_packed(const struct collecting *c, page_leaf *leaf, glv_error *err) {
  if (!leaf->is_packed || leaf->form != LEAF_VARIABLE || c->version >= FORMAT_2_2) {
    return GLV_OK;
  }
  bool has_text = false;
  for (size_t i = 0; i < leaf->type->child_count; i++) {
    has_text = has_text || leaf_packed_width(leaf->type->children[i].type) == 0;
  }
  if (has_text || c->version != FORMAT_2_0) {
    return FAIL(err, GLV_E_UNSUPPORTED,
                "column '%s': packed structs with text or vectors need data files of version 2.2",
                c->top);
  }
  leaf->form = LEAF_FIXED;
  return GLV_OK;
}

static glv_status add_leaf(struct collecting *c, const lance_field *f, glv_error *err) {
  leaf_column *to;
  TRY(add_column(c, f, &f->arrow, &to, err));
  if (to == NULL) {
    return GLV_OK;
  }
  TRY(check_packed(c, &to->leaf, err));
  if (c->version == FORMAT_2_0) {
    return GLV_OK;
  }
  leaf_step *steps = ARENA_ARRAY(c->a, leaf_step, c->depth);
  if (steps == NULL) {
    return error_nomem(err, c->depth * sizeof *steps);
  }
  if (c->depth != 0) {
    memcpy(steps, c->steps, c->depth * sizeof *steps);
  }
  to->leaf.steps = steps;
  to->leaf.step_count = c->depth;
  for (size_t i = 0; i < c->depth; i++) {
    to->leaf.list_count += steps[i].kind == STEP_LIST;
    if (steps[i].kind == STEP_REPEAT &&
        !size_mul(to->leaf.repeat, (size_t)steps[i].type->width, &to->leaf.repeat)) {
      return refuse(f, err);
    }
  }
  return GLV_OK;
}

/* The column that a list or struct itself has in version 2.0. */
static glv_status add_own(struct collecting *c, const lance_field *f, glv_error *err) {
  const bool is_list = f->arrow.type->kind != TYPE_STRUCT;
  const field stored = {.name = f->arrow.name,
                        .type = type_simple(is_list ? TYPE_UINT64 : TYPE_NULL),
                        .nullable = true};
  leaf_column *to;
  TRY(add_column(c, f, &stored, &to, err));
  if (to != NULL) {
    to->leaf.old = is_list ? LEAF_OLD_LENGTHS : LEAF_OLD_HEADER;
  }
  return GLV_OK;
}

static enum step_kind kind_of(const type *t) {
  return t->kind == TYPE_STRUCT            ? STEP_STRUCT
         : t->kind == TYPE_FIXED_SIZE_LIST ? STEP_REPEAT
                                           : STEP_LIST;
}

/* The depth of the recursion is limited by push. */
static glv_status visit(struct collecting *c, const lance_field *f, glv_error *err) {
  const type *t = f->arrow.type;
  if (!f->is_supported || t == NULL) {
    return refuse(f, err);
  }
  if (f->is_leaf) {
    return add_leaf(c, f, err);
  }
  const bool is_repeat = t->kind == TYPE_FIXED_SIZE_LIST;
  if (t->kind == TYPE_MAP || is_repeat) {
    TRY(check_version(c, t, err));
  }
  if (f->child_count == 0 || (is_repeat && t->width < 1)) {
    return refuse(f, err);
  }
  if (c->version == FORMAT_2_0) {
    TRY(add_own(c, f, err));
  }
  TRY(push(c, f, kind_of(t), err));
  for (size_t i = 0; i < f->child_count; i++) {
    c->steps[c->depth - 1].child = i;
    TRY(visit(c, &f->children[i], err));
  }
  c->depth--;
  return GLV_OK;
}

static glv_status visit_all(struct collecting *c, const lance_schema *s, glv_error *err) {
  c->count = 0;
  for (size_t i = 0; i < s->field_count; i++) {
    c->field = i;
    c->top = s->fields[i].arrow.name;
    TRY(visit(c, &s->fields[i], err));
  }
  return GLV_OK;
}

glv_status leaf_columns_of(arena *a, const lance_schema *s, format_version version,
                           leaf_column **ret, size_t *ret_count, glv_error *err) {
  struct collecting c = {.a = a, .version = version};
  TRY(visit_all(&c, s, err));
  c.columns = ARENA_ARRAY(a, leaf_column, c.count);
  if (c.columns == NULL) {
    return error_nomem(err, c.count * sizeof *c.columns);
  }
  TRY(visit_all(&c, s, err));
  *ret = c.columns;
  *ret_count = c.count;
  return GLV_OK;
}

/* ---- narrowing ---- */

/* A copy with its own references whose types, children included, are those of t. */
static glv_status retype(glv_env *env, const array *a, const type *t, array *ret, glv_error *err) {
  CLEANUP(array_unref) array copy = array_ref(a);
  copy.type = t;
  if (a->child_count != 0) {
    buffer_unref(copy.child_owner);
    copy.child_owner = NULL;
    copy.children = NULL;
    TRY(array_new_children(env, a->child_count, &copy, err));
    for (size_t i = 0; i < a->child_count; i++) {
      TRY(retype(env, &a->children[i], t->children[i].type, &copy.children[i], err));
    }
  }
  *ret = copy;
  copy = (array){0};
  return GLV_OK;
}

static glv_status narrow(glv_env *env, const page_leaf *leaf, size_t step, const array *a,
                         array *ret, glv_error *err) {
  if (step == leaf->step_count) {
    return retype(env, a, leaf->type, ret, err);
  }
  const leaf_step *s = &leaf->steps[step];
  CLEANUP(array_unref) array copy = array_ref(a);
  copy.type = s->type;
  buffer_unref(copy.child_owner);
  copy.child_owner = NULL;
  copy.children = NULL;
  TRY(array_new_children(env, 1, &copy, err));
  TRY(narrow(env, leaf, step + 1, &a->children[s->child], &copy.children[0], err));
  *ret = copy;
  copy = (array){0};
  return GLV_OK;
}

glv_status leaf_narrow(glv_env *env, const page_leaf *leaf, const array *column, array *ret,
                       glv_error *err) {
  return narrow(env, leaf, 0, column, ret, err);
}

const array *leaf_array(const page_leaf *leaf, const array *narrow) {
  for (size_t i = 0; i < leaf->step_count; i++) {
    narrow = &narrow->children[0];
  }
  return narrow;
}
