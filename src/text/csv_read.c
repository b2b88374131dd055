/*
 * Reading CSV. Without given columns the text is read twice: the first pass finds the type of each
 * column from all of its values, the second makes batches. A field is null when it is not quoted
 * and equals one of the null texts. A line without anything on it is skipped, unless there is only
 * one column: there it is a null.
 */
#include "text/csv_scan.h"
#include "text/reader.h"

typedef struct csv_reader {
  text_reader common;
  arena memory;
  str *nulls;
  size_t null_count;
  csv_scan scan;
  size_t *targets; /* column of each field */
  size_t field_count;
  size_t *missing; /* columns that the text lacks */
  size_t missing_count;
} csv_reader;

static bool is_null(const csv_reader *r, const csv_field *f, str value) {
  for (size_t i = 0; !f->quoted && i < r->null_count; i++) {
    if (str_equal(value, r->nulls[i])) {
      return true;
    }
  }
  return false;
}

static text_place place(const csv_reader *r, str column) {
  return (text_place){r->common.source.name, r->scan.line, column};
}

/* All fields of the record are UTF-8; header (may be NULL) names the columns. */
static glv_status check_utf8(const csv_reader *r, const str *header, glv_error *err) {
  const csv_scan *s = &r->scan;
  if (str_is_utf8(str_slice(s->window.bytes.data + s->record, s->size))) {
    return GLV_OK; /* the usual case; rewritten fields leave halves of characters behind them */
  }
  for (size_t i = 0; i < s->count; i++) {
    if (!str_is_utf8(csv_scan_field(s, i))) {
      const text_place at = place(r, header != NULL && i < r->field_count ? header[i] : (str){0});
      return text_bad(&at, "the text is not UTF-8", err);
    }
  }
  return GLV_OK;
}

/* The next record that is not blank, with as many fields as the header. */
static glv_status next_record(csv_reader *r, const str *header, bool *ret_found, glv_error *err) {
  csv_scan *s = &r->scan;
  do {
    TRY(csv_scan_next(s, ret_found, err));
  } while (*ret_found && r->field_count != 1 && csv_scan_is_blank(s));
  if (!*ret_found) {
    return GLV_OK;
  }
  if (r->field_count != 0 && s->count != r->field_count) {
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' line %llu: %zu fields, the header has %zu",
                r->common.source.name, (unsigned long long)s->line, s->count, r->field_count);
  }
  return check_utf8(r, header, err);
}

/* Start over: open the text and read the header into *ret, whose names are in the arena. */
static glv_status read_header(csv_reader *r, str **ret, glv_error *err) {
  CLEANUP(map_dispose) map seen;
  bool found;
  map_init(&seen, r->common.env);
  csv_scan_dispose(&r->scan);
  TRY(csv_scan_open(&r->scan, r->common.env, &r->common.source, err));
  r->field_count = 0;
  TRY(next_record(r, NULL, &found, err));
  if (!found) {
    return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' is empty: the header line is missing",
                r->common.source.name);
  }
  r->field_count = r->scan.count;
  str *names = ARENA_ARRAY(&r->memory, str, r->field_count);
  if (names == NULL) {
    return error_nomem(err, r->field_count * sizeof *names);
  }
  *ret = names;
  for (size_t i = 0; i < r->field_count; i++) {
    const str name = csv_scan_field(&r->scan, i);
    const text_place at = place(r, name);
    uint64_t *slot;
    bool is_new;
    if (name.size == 0 || memchr(name.data, 0, name.size) != NULL) {
      return FAIL(err, GLV_E_INVALID_INPUT,
                  "file '%s' line %llu: column %zu of the header has no name",
                  r->common.source.name, (unsigned long long)r->scan.line, i + 1);
    }
    names[i] = str_slice(arena_strdup(&r->memory, name), name.size);
    if (names[i].data == NULL) {
      return error_nomem(err, name.size);
    }
    TRY(map_put(&seen, names[i], &slot, &is_new, err));
    if (!is_new) {
      return text_bad(&at, "the header names this column twice", err);
    }
  }
  return GLV_OK;
}

typedef struct found_type {
  unsigned fits;
  bool any_value;
} found_type;

/* The first pass. */
static glv_status find_types(csv_reader *r, const str *header, found_type *types, glv_error *err) {
  bool found;
  for (;;) {
    TRY(next_record(r, header, &found, err));
    if (!found) {
      return GLV_OK;
    }
    for (size_t i = 0; i < r->field_count; i++) {
      const str value = csv_scan_field(&r->scan, i);
      if (types[i].fits != 0 && !is_null(r, &r->scan.fields[i], value)) {
        types[i].fits = text_fits(types[i].fits, value);
        types[i].any_value = true;
      }
    }
  }
}

static glv_status find_schema(void *reader, const text_read_options *o, schema **ret,
                              glv_error *err) {
  csv_reader *r = reader;
  str *header;
  TRY(read_header(r, &header, err));
  found_type *types = ARENA_ARRAY(&r->memory, found_type, r->field_count);
  field *fields = ARENA_ARRAY(&r->memory, field, r->field_count);
  if (types == NULL || fields == NULL) {
    return error_nomem(err, r->field_count * sizeof *fields);
  }
  for (size_t i = 0; i < r->field_count; i++) {
    types[i].fits = text_override(o, header[i]) == NULL ? FITS_ALL : 0;
  }
  TRY(find_types(r, header, types, err));
  for (size_t i = 0; i < r->field_count; i++) {
    const type *t = text_override(o, header[i]);
    t = t != NULL ? t : text_fits_type(&r->memory, types[i].fits, types[i].any_value);
    if (t == NULL) {
      return error_nomem(err, sizeof *t);
    }
    fields[i] = (field){.name = header[i].data, .type = t, .nullable = true};
  }
  return schema_new(r->common.env, fields, r->field_count, (metadata){0}, ret, err);
}

static glv_status note_missing(csv_reader *r, const bool *present, glv_error *err) {
  for (size_t i = 0; i < r->common.schema->field_count; i++) {
    if (present[i]) {
      continue;
    }
    if (!r->common.schema->fields[i].nullable) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND,
                  "file '%s' lacks column '%s', which must not be null", r->common.source.name,
                  r->common.schema->fields[i].name);
    }
    r->missing[r->missing_count++] = i;
  }
  return GLV_OK;
}

/* Which column each field goes to. */
static glv_status bind_header(csv_reader *r, const str *header, glv_error *err) {
  const schema *s = r->common.schema;
  bool *present = ARENA_ARRAY(&r->memory, bool, s->field_count);
  r->targets = ARENA_ARRAY(&r->memory, size_t, r->field_count);
  r->missing = ARENA_ARRAY(&r->memory, size_t, s->field_count);
  if (present == NULL || r->targets == NULL || r->missing == NULL) {
    return error_nomem(err, s->field_count * sizeof *r->missing);
  }
  for (size_t i = 0; i < r->field_count; i++) {
    const uint64_t *target = map_get(&r->common.index, header[i]);
    if (target == NULL) {
      return FAIL(err, GLV_E_COLUMN_NOT_FOUND, "file '%s' has column '%.*s', the table has not",
                  r->common.source.name, STR_ARG(header[i]));
    }
    r->targets[i] = (size_t)*target;
    present[*target] = true;
  }
  return note_missing(r, present, err);
}

static glv_status append_field(csv_reader *r, size_t i, glv_error *err) {
  const str value = csv_scan_field(&r->scan, i);
  const size_t target = r->targets[i];
  const field *f = &r->common.schema->fields[target];
  const text_place at = place(r, str_of(f->name));
  if (!is_null(r, &r->scan.fields[i], value)) {
    return text_column_text(&r->common.columns.items[target], value, &at, &r->common.scratch, err);
  }
  return f->nullable ? text_column_null(&r->common.columns.items[target], err)
                     : text_bad(&at, "the value is missing and must not be null", err);
}

static glv_status append_record(csv_reader *r, glv_error *err) {
  for (size_t i = 0; i < r->field_count; i++) {
    TRY(append_field(r, i, err));
  }
  for (size_t i = 0; i < r->missing_count; i++) {
    TRY(text_column_null(&r->common.columns.items[r->missing[i]], err));
  }
  r->common.columns.rows++;
  r->common.columns.bytes += r->scan.size;
  return GLV_OK;
}

static glv_status append_next(void *reader, bool *ret_found, glv_error *err) {
  csv_reader *r = reader;
  TRY(next_record(r, NULL, ret_found, err));
  return *ret_found ? append_record(r, err) : GLV_OK;
}

static glv_status copy_nulls(csv_reader *r, const text_read_options *o, glv_error *err) {
  static const str usual[] = {{"", 0}, {"NA", 2}};
  const str *from = o->nulls != NULL ? o->nulls : usual;
  r->null_count = o->nulls != NULL ? o->null_count : 2;
  r->nulls = ARENA_ARRAY(&r->memory, str, r->null_count);
  for (size_t i = 0; r->nulls != NULL && i < r->null_count; i++) {
    r->nulls[i] = str_slice(arena_strdup(&r->memory, from[i]), from[i].size);
    if (r->nulls[i].data == NULL) {
      r->nulls = NULL;
    }
  }
  return r->nulls != NULL ? GLV_OK : error_nomem(err, r->null_count * sizeof *r->nulls);
}

static glv_status init(void *reader, const text_read_options *o, glv_error *err) {
  csv_reader *r = reader;
  arena_init(&r->memory, r->common.env);
  return copy_nulls(r, o, err);
}

static glv_status start(void *reader, glv_error *err) {
  csv_reader *r = reader;
  str *header;
  TRY(read_header(r, &header, err));
  return bind_header(r, header, err);
}

static void dispose(void *reader) {
  csv_reader *r = reader;
  csv_scan_dispose(&r->scan);
  arena_dispose(&r->memory);
}

glv_status csv_reader_open(glv_env *env, text_source source, const text_read_options *options,
                           batch_reader *ret, glv_error *err) {
  static const text_format csv = {
      .size = sizeof(csv_reader),
      .init = init,
      .find_schema = find_schema,
      .start = start,
      .append = append_next,
      .dispose = dispose,
  };
  return text_reader_open(env, &csv, source, options, ret, err);
}
