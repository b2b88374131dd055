/*
 * Batches over the C data interface.
 *
 * Import: the foreign struct moves into a counted holder; each of our buffers keeps the holder, and
 * the last one calls its release. The interface carries no buffer sizes, so what can be checked is:
 * counts, negative and overflowing lengths and offsets, missing buffers, children that are too
 * short, and then everything that array_validate checks.
 *
 * A window [first, first + length) of each foreign array is imported, relative to its offset: a
 * struct or fixed_size_list passes its own offset on to the children this way.
 *
 * Export: each node holds a reference to its array. Arrow has one offset for validity and values;
 * ours has none for values, so a validity that starts inside a byte is copied (bool excepted, where
 * the offsets are the same).
 */
#include "arrow/array_private.h"
#include "arrow/bits.h"
#include "arrow/cdata.h"
#include "arrow/cdata_private.h"

typedef struct holder {
  atomic_size_t refs;
  glv_env *env; /* the buffers in front of it keep it */
  struct ArrowArray foreign;
} holder;

static void holder_unref(void *owner) {
  holder *h = owner;
  if (atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) == 1) {
    h->foreign.release(&h->foreign);
    mem_free(h->env, h);
  }
}

static void holder_cleanup(holder **h) {
  if (*h != NULL) {
    holder_unref(*h);
  }
}

typedef struct importer {
  glv_env *env;
  holder *from;
  const char *column;
  glv_error *err;
} importer;

static glv_status malformed(const importer *in, const type *t, const char *what) {
  return FAIL(in->err, GLV_E_INVALID_INPUT, "malformed Arrow data: column '%s' of type %s: %s",
              in->column, TYPE_TEXT(t), what);
}

/* A buffer object over foreign memory. */
static glv_status keep(const importer *in, const void *data, size_t size, buffer **ret) {
  atomic_fetch_add_explicit(&in->from->refs, 1, memory_order_relaxed);
  return buffer_wrap(in->env, data, size, holder_unref, in->from, ret, in->err);
}

/* Buffers that a foreign array of the type has; views have this many or more. */
static int64_t buffer_count(const type *t) {
  switch (array_layout_of(t)) {
  case LAYOUT_NULL:
    return 0;
  case LAYOUT_BOOL:
  case LAYOUT_FIXED:
  case LAYOUT_LIST:
    return 2;
  case LAYOUT_BYTES:
    return 3;
  case LAYOUT_FIXED_LIST:
  case LAYOUT_STRUCT:
    break;
  }
  return 1;
}

static bool is_view(const type *t) {
  return t->kind == TYPE_UTF8_VIEW || t->kind == TYPE_BINARY_VIEW;
}

/* Everything about a node that can be seen without its buffers. *ret_start: first value of the
 * window, counted from the start of the buffers. */
static glv_status check_node(const importer *in, const type *t, const struct ArrowArray *f,
                             size_t first, size_t length, size_t *ret_start) {
  size_t end;
  if (f == NULL || f->release == NULL) {
    return malformed(in, t, "an array is missing or was released");
  }
  if (f->length < 0 || f->offset < 0 || f->null_count < -1 || f->null_count > f->length) {
    return malformed(in, t, "a length, an offset or a null count is out of range");
  }
  if (!size_add(first, length, &end) || end > (size_t)f->length) {
    return malformed(in, t, "an array is shorter than its parent says");
  }
  if (!size_add((size_t)f->offset, first, ret_start) || !size_add(*ret_start, length, &end) ||
      end > SIZE_MAX / 64) {
    return malformed(in, t, "an offset is out of range");
  }
  const int64_t want = buffer_count(t);
  const bool counts_fit = is_view(t)             ? f->n_buffers >= want
                          : t->kind == TYPE_NULL ? f->n_buffers >= 0 && f->n_buffers <= 1
                                                 : f->n_buffers == want;
  if (!counts_fit || (f->n_buffers > 0 && f->buffers == NULL)) {
    return malformed(in, t, "wrong number of buffers");
  }
  const bool is_dictionary = t->kind == TYPE_DICTIONARY;
  if (is_dictionary != (f->dictionary != NULL)) {
    return malformed(in, t, "a dictionary is missing or not expected");
  }
  const size_t children = is_dictionary ? 0 : t->child_count;
  if (f->n_children < 0 || (size_t)f->n_children != children ||
      (children != 0 && f->children == NULL)) {
    return malformed(in, t, "wrong number of children");
  }
  return GLV_OK;
}

static glv_status import_validity(const importer *in, const struct ArrowArray *f, size_t start,
                                  array *a) {
  if (a->type->kind == TYPE_NULL) {
    return GLV_OK;
  }
  const uint8_t *bits = f->buffers[0];
  if (bits == NULL) {
    if (f->null_count > 0) {
      return malformed(in, a->type, "nulls without a validity buffer");
    }
    return GLV_OK;
  }
  if (f->null_count == 0 || a->length == 0) {
    return GLV_OK;
  }
  const size_t nulls = a->length - bits_count(bits, start, a->length);
  if (nulls == 0) {
    return GLV_OK;
  }
  const size_t skip = start / 8;
  TRY(keep(in, bits + skip, bits_size(start % 8 + a->length), &a->owners[0]));
  a->validity = bits + skip;
  a->bit_offset = start % 8;
  a->null_count = nulls;
  return GLV_OK;
}

/* size bytes from byte `skip` of buffer 1 on, aligned for entries of `width` bytes. */
static glv_status import_values(const importer *in, const struct ArrowArray *f, size_t width,
                                size_t skip, size_t size, array *a) {
  if (f->buffers[1] == NULL) {
    return malformed(in, a->type, "a buffer is missing");
  }
  a->values = (const uint8_t *)f->buffers[1] + skip;
  TRY(keep(in, a->values, size, &a->owners[1]));
  return array_align(in->env, width, size, &a->values, &a->owners[1], in->err);
}

static glv_status import_bool(const importer *in, const struct ArrowArray *f, size_t start,
                              array *a) {
  TRY(import_values(in, f, 1, start / 8, bits_size(start % 8 + a->length), a));
  a->bit_offset = start % 8;
  return GLV_OK;
}

static glv_status import_fixed(const importer *in, const struct ArrowArray *f, size_t start,
                               array *a) {
  const size_t width = array_value_width(a->type);
  size_t end;
  if (!size_mul(start + a->length, width, &end)) {
    return malformed(in, a->type, "a length is out of range");
  }
  const size_t align = a->type->kind == TYPE_FIXED_SIZE_BINARY ? 1 : width;
  return width == 0 ? GLV_OK : import_values(in, f, align, start * width, a->length * width, a);
}

static glv_status import_offsets(const importer *in, const struct ArrowArray *f, size_t start,
                                 array *a) {
  const size_t width = type_offset_width(a->type->kind);
  TRY(import_values(in, f, width, start * width, (a->length + 1) * width, a));
  if (array_offset(a, a->length) < 0) {
    return malformed(in, a->type, "an offset is negative");
  }
  return GLV_OK;
}

static glv_status import_bytes(const importer *in, const struct ArrowArray *f, size_t start,
                               array *a) {
  TRY(import_offsets(in, f, start, a));
  const size_t size = (size_t)array_offset(a, a->length);
  if (size == 0) {
    return GLV_OK; /* array_validate sees to it that all offsets are 0 */
  }
  if (f->buffers[2] == NULL) {
    return malformed(in, a->type, "a buffer is missing");
  }
  a->data = f->buffers[2];
  return keep(in, a->data, size, &a->owners[2]);
}

static glv_status import_views(const importer *in, const struct ArrowArray *f, size_t start,
                               array *a) {
  const size_t count = (size_t)f->n_buffers - 3;
  const uint8_t *views = f->buffers[1];
  const int64_t *sizes = f->buffers[f->n_buffers - 1];
  if (views == NULL || (count != 0 && sizes == NULL)) {
    return malformed(in, a->type, "a buffer is missing");
  }
  const view_column v = {
      .views = views + start * 16,
      .buffers = (const uint8_t *const *)(const void *)(f->buffers + 2),
      .sizes = sizes,
      .buffer_count = count,
  };
  return array_from_views(in->env, &v, in->column, a, in->err);
}

static glv_status import_array(const importer *in, const type *t, const struct ArrowArray *f,
                               size_t first, size_t length, array *ret);

/* A child as a whole: of a list, or the values of a dictionary. */
static glv_status import_whole(const importer *in, const struct ArrowArray *child, array *a) {
  TRY(array_new_children(in->env, 1, a, in->err));
  const type *t = a->type->children[0].type;
  if (child == NULL || child->length < 0) {
    return malformed(in, a->type, "a child is missing");
  }
  return import_array(in, t, child, 0, (size_t)child->length, &a->children[0]);
}

/* Children in step with the parent, `items` values of each for one of its rows. */
static glv_status import_parts(const importer *in, const struct ArrowArray *f, size_t start,
                               size_t items, array *a) {
  size_t first;
  size_t count;
  if (!size_mul(start, items, &first) || !size_mul(a->length, items, &count)) {
    return malformed(in, a->type, "a length is out of range");
  }
  TRY(array_new_children(in->env, a->type->child_count, a, in->err));
  for (size_t i = 0; i < a->type->child_count; i++) {
    TRY(import_array(in, a->type->children[i].type, f->children[i], first, count, &a->children[i]));
  }
  return GLV_OK;
}

static glv_status import_payload(const importer *in, const struct ArrowArray *f, size_t start,
                                 array *a) {
  const array_layout layout = array_layout_of(a->type);
  if (a->type->kind == TYPE_DICTIONARY) {
    TRY(import_whole(in, f->dictionary, a));
  } else if (layout == LAYOUT_LIST) {
    TRY(import_whole(in, f->children[0], a));
  }
  if (a->length == 0 && layout < LAYOUT_FIXED_LIST) {
    return GLV_OK; /* buffers of empty arrays may be missing */
  }
  switch (layout) {
  case LAYOUT_NULL:
    return GLV_OK;
  case LAYOUT_BOOL:
    return import_bool(in, f, start, a);
  case LAYOUT_FIXED:
    return import_fixed(in, f, start, a);
  case LAYOUT_BYTES:
    return is_view(a->type) ? import_views(in, f, start, a) : import_bytes(in, f, start, a);
  case LAYOUT_LIST:
    return import_offsets(in, f, start, a);
  case LAYOUT_FIXED_LIST:
    return import_parts(in, f, start, (size_t)a->type->width, a);
  case LAYOUT_STRUCT:
    return import_parts(in, f, start, 1, a);
  }
  return malformed(in, a->type, "unknown layout");
}

/* Recursion is bounded by the depth of the type. */
static glv_status import_array(const importer *in, const type *t, const struct ArrowArray *f,
                               size_t first, size_t length, array *ret) {
  size_t start;
  TRY(check_node(in, t, f, first, length, &start));
  CLEANUP(array_unref) array a = array_empty(t, length);
  TRY(import_validity(in, f, start, &a));
  TRY(import_payload(in, f, start, &a));
  *ret = a;
  a = (array){0};
  return GLV_OK;
}

static glv_status import_columns(importer *in, const schema *s, batch *b) {
  const struct ArrowArray *f = &in->from->foreign;
  const type columns = {.kind = TYPE_STRUCT, .children = s->fields, .child_count = s->field_count};
  size_t start;
  CLEANUP(array_unref) array top = array_empty(&columns, b->length);
  in->column = "";
  TRY(check_node(in, &columns, f, 0, b->length, &start));
  TRY(import_validity(in, f, start, &top));
  if (top.null_count != 0) {
    return FAIL(in->err, GLV_E_INVALID_INPUT, "malformed Arrow data: rows of a batch are null");
  }
  for (size_t i = 0; i < s->field_count; i++) {
    in->column = s->fields[i].name;
    TRY(import_array(in, s->fields[i].type, f->children[i], start, b->length, &b->columns[i]));
    TRY(array_validate(&b->columns[i], SIZE_MAX, in->column, in->err));
  }
  return GLV_OK;
}

/* Move *from into a holder with one reference; *from is released or moved in every case. */
static glv_status hold(glv_env *env, struct ArrowArray *from, holder **ret, glv_error *err) {
  if (from->release == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "malformed Arrow data: the array was released");
  }
  holder *h = mem_alloc(env, sizeof *h);
  if (h == NULL) {
    from->release(from);
    return error_nomem(err, sizeof *h);
  }
  atomic_init(&h->refs, 1);
  h->env = env;
  h->foreign = *from;
  from->release = NULL;
  *ret = h;
  return GLV_OK;
}

glv_status cdata_import_batch(glv_env *env, const schema *s, struct ArrowArray *in, batch *ret,
                              glv_error *err) {
  CLEANUP(holder_cleanup) holder *h = NULL;
  CLEANUP(batch_dispose) batch b = {0};
  TRY(hold(env, in, &h, err));
  if (h->foreign.length < 0) {
    return FAIL(err, GLV_E_INVALID_INPUT, "malformed Arrow data: the length is negative");
  }
  importer i = {.env = env, .from = h, .column = "", .err = err};
  TRY(batch_new(env, s, (size_t)h->foreign.length, s->field_count, &b, err));
  TRY(import_columns(&i, s, &b));
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

/* Export. */

struct exported {
  glv_env *env;     /* a reference */
  array held;       /* keeps the memory of this node */
  buffer *validity; /* a copy, when it started inside a byte */
  const void *buffers[3];
  struct ArrowArray dictionary;
  struct ArrowArray **pointers;
  struct ArrowArray *children;
};

static void release_array(struct ArrowArray *a) {
  struct exported *e = a->private_data;
  for (int64_t i = 0; i < a->n_children; i++) {
    if (e->children[i].release != NULL) {
      e->children[i].release(&e->children[i]);
    }
  }
  if (e->dictionary.release != NULL) {
    e->dictionary.release(&e->dictionary);
  }
  glv_env *env = e->env;
  array_unref(&e->held);
  buffer_unref(e->validity);
  mem_free(env, e->pointers);
  mem_free(env, e->children);
  mem_free(env, e);
  a->release = NULL;
  env_unref(env);
}

/* An exported node without content. */
static glv_status new_node(glv_env *env, struct ArrowArray *ret, struct exported **ret_e,
                           glv_error *err) {
  struct exported *e = mem_zalloc(env, sizeof *e);
  if (e == NULL) {
    return error_nomem(err, sizeof *e);
  }
  e->env = env_ref(env);
  *ret = (struct ArrowArray){.buffers = e->buffers, .release = release_array, .private_data = e};
  *ret_e = e;
  return GLV_OK;
}

static glv_status new_child_nodes(struct exported *e, size_t count, struct ArrowArray *a,
                                  glv_error *err) {
  e->children = mem_calloc(e->env, count, sizeof *e->children);
  e->pointers = mem_calloc(e->env, count, sizeof *e->pointers);
  if (e->children == NULL || e->pointers == NULL) {
    return error_nomem(err, count * sizeof *e->children);
  }
  for (size_t i = 0; i < count; i++) {
    e->pointers[i] = &e->children[i];
  }
  a->children = e->pointers;
  a->n_children = (int64_t)count;
  return GLV_OK;
}

static glv_status export_validity(struct exported *e, struct ArrowArray *out, glv_error *err) {
  const array *a = &e->held;
  const size_t shift = a->bit_offset % 8;
  if (a->validity == NULL || array_layout_of(a->type) == LAYOUT_NULL) {
    return GLV_OK;
  }
  e->buffers[0] = a->validity + a->bit_offset / 8;
  if (shift != 0 && a->type->kind != TYPE_BOOL) {
    TRY(buffer_new_zeroed(e->env, bits_size(a->length), &e->validity, err));
    bits_copy(e->validity->data, 0, a->validity, a->bit_offset, a->length);
    e->buffers[0] = e->validity->data;
  }
  out->null_count = (int64_t)array_null_count(a);
  return GLV_OK;
}

static glv_status export_array(glv_env *env, const array *a, struct ArrowArray *ret,
                               glv_error *err);

static glv_status fill_array(struct exported *e, struct ArrowArray *out, glv_error *err) {
  const array *a = &e->held;
  const array_layout layout = array_layout_of(a->type);
  out->length = (int64_t)a->length;
  out->null_count = layout == LAYOUT_NULL ? (int64_t)a->length : 0;
  out->n_buffers = buffer_count(a->type);
  TRY(export_validity(e, out, err));
  if (layout == LAYOUT_BOOL) {
    out->offset = (int64_t)(a->bit_offset % 8);
    e->buffers[1] = (const uint8_t *)a->values + a->bit_offset / 8;
  } else if (out->n_buffers >= 2) {
    e->buffers[1] = a->values;
    e->buffers[2] = layout == LAYOUT_BYTES ? a->data : NULL;
  }
  if (a->type->kind == TYPE_DICTIONARY) {
    TRY(export_array(e->env, &a->children[0], &e->dictionary, err));
    out->dictionary = &e->dictionary;
    return GLV_OK;
  }
  TRY(new_child_nodes(e, a->type->child_count, out, err));
  for (size_t i = 0; i < a->type->child_count; i++) {
    TRY(export_array(e->env, &a->children[i], &e->children[i], err));
  }
  return GLV_OK;
}

static glv_status export_array(glv_env *env, const array *a, struct ArrowArray *ret,
                               glv_error *err) {
  struct exported *e;
  if (a->type == NULL) {
    return FAIL(err, GLV_E_INTERNAL, "a batch with an absent column cannot be handed out");
  }
  TRY(new_node(env, ret, &e, err));
  e->held = array_ref(a);
  const glv_status status = fill_array(e, ret, err);
  if (status != GLV_OK) {
    ret->release(ret);
  }
  return status;
}

static glv_status fill_batch(struct exported *e, const batch *b, struct ArrowArray *out,
                             glv_error *err) {
  out->length = (int64_t)b->length;
  out->n_buffers = 1;
  TRY(new_child_nodes(e, b->column_count, out, err));
  for (size_t i = 0; i < b->column_count; i++) {
    TRY(export_array(e->env, &b->columns[i], &e->children[i], err));
  }
  return GLV_OK;
}

glv_status cdata_export_batch(glv_env *env, const batch *b, struct ArrowArray *ret,
                              glv_error *err) {
  struct ArrowArray out;
  struct exported *e;
  TRY(new_node(env, &out, &e, err));
  const glv_status status = fill_batch(e, b, &out, err);
  if (status != GLV_OK) {
    out.release(&out);
    return status;
  }
  *ret = out;
  return GLV_OK;
}
