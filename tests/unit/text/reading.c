/* Sources for reader tests. */
#include "unit/text/reading.h"

#include "support/cmocka.h"

static glv_status read_piece(void *context, void *data, size_t size, size_t *ret, glv_error *err) {
  reading *r = context;
  if (r->fail_at != 0 && r->position >= r->fail_at) {
    return error_set(err, GLV_E_IO, "the disk is gone");
  }
  const size_t part = size_min(size_min(size, r->piece), r->text.size - r->position);
  memcpy(data, r->text.data + r->position, part);
  r->position += part;
  *ret = part;
  return GLV_OK;
}

static glv_status open_again(void *context, byte_source *ret, glv_error *err) {
  reading *r = context;
  (void)err;
  r->position = 0;
  r->opened++;
  *ret = (byte_source){.read = read_piece, .context = r};
  return GLV_OK;
}

text_source reading_source(reading *r) { return (text_source){"f.txt", open_again, r}; }

static glv_status drain(glv_env *env, batch_reader *r, batch *ret, glv_error *err) {
  enum { MOST = 4096 };
  static batch parts[MOST];
  size_t count = 0;
  glv_status status = GLV_OK;
  for (bool end = false; !end && status == GLV_OK;) {
    assert_true(count < MOST);
    status = r->next(r->state, &parts[count], &end, err);
    count += status == GLV_OK && !end;
  }
  size_t length = 0;
  for (size_t i = 0; i < count; i++) {
    length += parts[i].length;
  }
  const size_t columns = r->schema->field_count;
  if (status == GLV_OK) {
    assert_int_equal(batch_new(env, r->schema, length, columns, ret, NULL), GLV_OK);
  }
  for (size_t c = 0; c < columns && status == GLV_OK; c++) {
    array *pieces = mem_calloc(env, count + 1, sizeof *pieces);
    for (size_t i = 0; i < count; i++) {
      pieces[i] = parts[i].columns[c];
      assert_int_equal(array_validate(&pieces[i], SIZE_MAX, "c", NULL), GLV_OK);
    }
    assert_int_equal(count == 0
                         ? array_new_null(env, r->schema->fields[c].type, 0, &ret->columns[c], NULL)
                         : array_concat(env, pieces, count, &ret->columns[c], NULL),
                     GLV_OK);
    mem_free(env, pieces);
  }
  for (size_t i = 0; i < count; i++) {
    batch_dispose(&parts[i]);
  }
  return status;
}

glv_status reading_all(glv_env *env, text_opener open, reading *r, const text_read_options *o,
                       batch *ret, glv_error *err) {
  batch_reader reader;
  const glv_status status = open(env, reading_source(r), o, &reader, err);
  if (status != GLV_OK) {
    return status;
  }
  const glv_status drained = drain(env, &reader, ret, err);
  batch_reader_dispose(&reader);
  return drained;
}

batch reading_text(test_env *t, text_opener open, const char *text, size_t piece,
                   const text_read_options *o) {
  reading r = {.text = str_of(text), .piece = piece};
  batch b;
  glv_error err = {0};
  const glv_status status = reading_all(t->env, open, &r, o, &b, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, GLV_OK);
  return b;
}

void reading_refused(test_env *t, text_opener open, const char *text, const text_read_options *o,
                     glv_status want, const char *part) {
  reading r = {.text = str_of(text), .piece = 1000};
  batch b;
  glv_error err = {0};
  assert_int_equal(reading_all(t->env, open, &r, o, &b, &err), want);
  if (strstr(err.message, part) == NULL) {
    assert_string_equal(err.message, part);
  }
}

const array *reading_column(const batch *b, const char *column) {
  const size_t i = schema_find(b->schema, str_of(column));
  assert_true(i != SIZE_MAX);
  return &b->columns[i];
}

const char *reading_type(const batch *b, const char *column) {
  static char text[TYPE_TEXT_SIZE];
  return type_text(reading_column(b, column)->type, text, sizeof text);
}

int reading_setup(void **state) {
  static test_env t;
  test_env_open_mem(&t);
  *state = &t;
  return 0;
}

int reading_teardown(void **state) {
  test_env_close(*state);
  return 0;
}
