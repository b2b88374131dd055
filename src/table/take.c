/*
 * Taking rows:
 *
 *   the numbers asked for, sorted, each once
 *   -> their addresses: fragment (its place in the table) and physical row; or there is none
 *   -> a scan of these rows, which comes in the order of the addresses
 *   -> the rows in the order asked
 */
#include "table/take.h"

#include <stdlib.h>

#include "arrow/cdata.h"
#include "table/deletion.h"
#include "table/row_ids.h"
#include "table/table_private.h"

#define NOWHERE UINT64_MAX

/* A number or an address, and which entry it belongs to. */
typedef struct keyed {
  uint64_t key;
  uint32_t index;
} keyed;

typedef struct taking {
  const table_snapshot *table;
  arena memory;
  size_t asked;
  uint32_t *number_of; /* per number asked for: its place in numbers */
  uint64_t *numbers;   /* ascending, each once */
  size_t count;
  uint64_t *addresses; /* per number: place of its fragment << 32 | row, or NOWHERE */
  uint32_t *ranks;     /* per number that has an address: its place among these */
  size_t found;
  scan_fragment *fragments;
  bitmap **offsets; /* owned */
  size_t fragment_count;
} taking;

static void taking_dispose(taking *t) {
  for (size_t i = 0; i < t->fragment_count; i++) {
    bitmap_free(t->offsets[i]);
  }
  arena_dispose(&t->memory);
}

static int by_key(const void *a, const void *b) {
  const uint64_t x = ((const keyed *)a)->key;
  const uint64_t y = ((const keyed *)b)->key;
  return (x > y) - (x < y);
}

/* ---- numbers ---- */

static glv_status sort_numbers(taking *t, const uint64_t *asked, size_t count, glv_error *err) {
  if (count > UINT32_MAX - 1) {
    return FAIL(err, GLV_E_LIMIT, "%zu rows are wanted at once", count);
  }
  keyed *sorted = ARENA_ARRAY(&t->memory, keyed, count);
  t->number_of = ARENA_ARRAY(&t->memory, uint32_t, count);
  t->numbers = ARENA_ARRAY(&t->memory, uint64_t, count);
  t->addresses = ARENA_ARRAY(&t->memory, uint64_t, count);
  t->ranks = ARENA_ARRAY(&t->memory, uint32_t, count);
  if (sorted == NULL || t->number_of == NULL || t->numbers == NULL || t->addresses == NULL ||
      t->ranks == NULL) {
    return error_nomem(err, count * sizeof *sorted);
  }
  for (size_t i = 0; i < count; i++) {
    sorted[i] = (keyed){asked[i], (uint32_t)i};
  }
  if (count > 0) {
    qsort(sorted, count, sizeof *sorted, by_key);
  }
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || sorted[i].key != sorted[i - 1].key) {
      t->addresses[t->count] = NOWHERE;
      t->numbers[t->count++] = sorted[i].key;
    }
    t->number_of[sorted[i].index] = (uint32_t)(t->count - 1);
  }
  t->asked = count;
  return GLV_OK;
}

/* ---- addresses ---- */

/* The physical row that has n live rows before it. There is one. */
static uint64_t live_row(const bitmap *deleted, uint64_t n) {
  if (deleted == NULL) {
    return n;
  }
  uint64_t low = n;
  uint64_t high = n + bitmap_count(deleted);
  while (low < high) { /* the first row with more than n live ones up to it */
    const uint64_t middle = low + (high - low) / 2;
    if (middle + 1 - bitmap_count_range(deleted, 0, middle + 1) > n) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

static glv_status find_places(taking *t, glv_error *err) {
  const table_snapshot *table = t->table;
  uint64_t before = 0;
  size_t k = 0;
  for (size_t i = 0; i < table->fragment_count && k < t->count; i++) {
    const fragment *f = &table->fragments[i];
    CLEANUP(bitmap_cleanup) bitmap *deleted = NULL;
    uint64_t removed = f->has_deletions ? f->deletions.count : 0;
    if (f->has_deletions && (removed == 0 || t->numbers[k] - before < f->physical_rows)) {
      TRY(deletion_load(table, f, &deleted, err));
      removed = deleted != NULL ? bitmap_count(deleted) : 0;
    }
    const uint64_t live = f->physical_rows - removed;
    for (; k < t->count && t->numbers[k] - before < live; k++) {
      t->addresses[k] = (uint64_t)i << 32 | live_row(deleted, t->numbers[k] - before);
    }
    before += live;
  }
  if (k < t->count) {
    return FAIL(err, GLV_E_INVALID_INPUT, "row %llu is wanted, table '%s' has %llu rows",
                (unsigned long long)t->numbers[k], table_name(table),
                (unsigned long long)table_live_rows(table));
  }
  return GLV_OK;
}

/* Rows of fragment i whose ids are wanted. An id that was moved by an update stands in several
 * fragments, deleted in all but one. */
static glv_status find_in_fragment(taking *t, size_t i, uint64_t *rows, glv_error *err) {
  const fragment *f = &t->table->fragments[i];
  row_id_sequence *ids = NULL;
  CLEANUP(bitmap_cleanup) bitmap *deleted = NULL;
  TRY(fragment_row_ids(t->table, f, &t->memory, &ids, err));
  row_ids_locate(ids, t->numbers, t->count, rows);
  for (size_t k = 0; k < t->count; k++) {
    if (rows[k] == UINT64_MAX || t->addresses[k] != NOWHERE) {
      continue;
    }
    if (f->has_deletions && deleted == NULL) {
      TRY(deletion_load(t->table, f, &deleted, err));
    }
    if (deleted == NULL || !bitmap_contains(deleted, (uint32_t)rows[k])) {
      t->addresses[k] = (uint64_t)i << 32 | rows[k];
    }
  }
  return GLV_OK;
}

static glv_status find_ids(taking *t, glv_error *err) {
  uint64_t *rows = ARENA_ARRAY(&t->memory, uint64_t, t->count);
  if (rows == NULL) {
    return error_nomem(err, t->count * sizeof *rows);
  }
  for (size_t i = 0; i < t->table->fragment_count; i++) {
    const arena_mark mark = arena_mark_get(&t->memory);
    const glv_status status = find_in_fragment(t, i, rows, err);
    arena_reset_to(&t->memory, mark);
    TRY(status);
  }
  return GLV_OK;
}

/* Numbers from k on that are addresses in one fragment. @return the first one that is not. */
static size_t find_in_place(taking *t, size_t k, const fragment *f, const bitmap *deleted) {
  const uint64_t id = t->numbers[k] >> 32;
  for (; k < t->count && t->numbers[k] >> 32 == id; k++) {
    const uint32_t row = (uint32_t)t->numbers[k];
    if (f != NULL && row < f->physical_rows &&
        (deleted == NULL || !bitmap_contains(deleted, row))) {
      t->addresses[k] = (uint64_t)(f - t->table->fragments) << 32 | row;
    }
  }
  return k;
}

static glv_status find_addresses(taking *t, glv_error *err) {
  for (size_t k = 0; k < t->count;) {
    const fragment *f = table_fragment(t->table, t->numbers[k] >> 32);
    CLEANUP(bitmap_cleanup) bitmap *deleted = NULL;
    if (f != NULL && f->has_deletions) {
      TRY(deletion_load(t->table, f, &deleted, err));
    }
    k = find_in_place(t, k, f, deleted);
  }
  return GLV_OK;
}

static glv_status find(taking *t, enum take_by by, glv_error *err) {
  return by == TAKE_BY_PLACE    ? find_places(t, err)
         : by == TAKE_BY_ROW_ID ? find_ids(t, err)
                                : find_addresses(t, err);
}

/* ---- rows ---- */

static bitmap *add_fragment(taking *t, size_t place) {
  bitmap *b = bitmap_new();
  if (b != NULL) {
    t->offsets[t->fragment_count] = b;
    t->fragments[t->fragment_count++] = (scan_fragment){t->table->fragments[place].id, b};
  }
  return b;
}

/* Ranks of the addresses, and which rows of which fragments they are. */
static glv_status choose_rows(taking *t, glv_error *err) {
  keyed *sorted = ARENA_ARRAY(&t->memory, keyed, t->count);
  const size_t most = size_min(t->count, t->table->fragment_count);
  t->fragments = ARENA_ARRAY(&t->memory, scan_fragment, most);
  t->offsets = ARENA_ARRAY(&t->memory, bitmap *, most);
  if (sorted == NULL || t->fragments == NULL || t->offsets == NULL) {
    return error_nomem(err, t->count * sizeof *sorted);
  }
  for (size_t k = 0; k < t->count; k++) {
    if (t->addresses[k] != NOWHERE) {
      sorted[t->found++] = (keyed){t->addresses[k], (uint32_t)k};
    }
  }
  if (t->found > 0) {
    qsort(sorted, t->found, sizeof *sorted, by_key);
  }
  bitmap *b = NULL;
  for (size_t i = 0; i < t->found; i++) {
    const uint64_t place = sorted[i].key >> 32;
    if (i == 0 || place != sorted[i - 1].key >> 32) {
      b = add_fragment(t, (size_t)place);
      if (b == NULL) {
        return error_nomem(err, sizeof b);
      }
    }
    bitmap_add(b, (uint32_t)sorted[i].key);
    t->ranks[sorted[i].index] = (uint32_t)i;
  }
  return GLV_OK;
}

static glv_status read_rows(taking *t, const take_options *o, batch *ret, glv_error *err) {
  const scan_options scan = {.columns = o->columns,
                             .column_count = o->column_count,
                             .expr_flags = o->expr_flags,
                             .with_row_id = o->with_row_id,
                             .with_blobs = o->with_blobs,
                             .fragments = t->fragments,
                             .fragment_count = t->fragment_count,
                             .keep_open = true,
                             .cancel = o->cancel};
  CLEANUP(batch_reader_dispose) batch_reader reader = {0};
  TRY(table_scan(t->table, &scan, &reader, err));
  TRY(batch_collect(table_env(t->table), &reader, ret, err));
  if (ret->length != t->found) {
    return FAIL(err, GLV_E_INTERNAL, "%zu rows of table '%s' were found, %zu were read", t->found,
                table_name(t->table), ret->length);
  }
  return GLV_OK;
}

/* ---- order ---- */

/* For each number that has a row: which of the rows read it is. */
static glv_status order_rows(taking *t, uint32_t **ret, size_t *ret_count, glv_error *err) {
  uint32_t *rows = ARENA_ARRAY(&t->memory, uint32_t, t->asked);
  size_t count = 0;
  if (rows == NULL) {
    return error_nomem(err, t->asked * sizeof *rows);
  }
  for (size_t i = 0; i < t->asked; i++) {
    const uint32_t k = t->number_of[i];
    if (t->addresses[k] != NOWHERE) {
      rows[count++] = t->ranks[k];
    }
  }
  *ret = rows;
  *ret_count = count;
  return GLV_OK;
}

static glv_status take_batch(glv_env *env, const batch *all, const uint32_t *rows, size_t count,
                             batch *ret, glv_error *err) {
  CLEANUP(batch_dispose) batch b = {0};
  TRY(batch_new(env, all->schema, count, all->column_count, &b, err));
  for (size_t c = 0; c < all->column_count; c++) {
    TRY(array_take(env, &all->columns[c], rows, count, &b.columns[c], err));
    b.columns[c].type = all->schema->fields[c].type;
  }
  *ret = b;
  b = (batch){0};
  return GLV_OK;
}

static glv_status deliver(taking *t, const batch *all, batch_reader *ret, glv_error *err) {
  glv_env *env = table_env(t->table);
  uint32_t *rows = NULL;
  size_t count = 0;
  TRY(order_rows(t, &rows, &count, err));
  const size_t batch_count = count / LIMIT_BATCH_ROWS + (count % LIMIT_BATCH_ROWS != 0);
  batch *batches = ARENA_ARRAY(&t->memory, batch, batch_count);
  if (batches == NULL) {
    return error_nomem(err, batch_count * sizeof *batches);
  }
  glv_status status = GLV_OK;
  for (size_t i = 0; status == GLV_OK && i < batch_count; i++) {
    const size_t first = i * LIMIT_BATCH_ROWS;
    const size_t here = size_min(count - first, LIMIT_BATCH_ROWS);
    status = take_batch(env, all, rows + first, here, &batches[i], err);
  }
  if (status == GLV_OK) {
    status = batch_reader_of(env, all->schema, batches, batch_count, ret, err);
  }
  for (size_t i = 0; i < batch_count; i++) {
    batch_dispose(&batches[i]);
  }
  return status;
}

glv_status table_take(const table_snapshot *t, const uint64_t *numbers, size_t count,
                      const take_options *options, batch_reader *ret, glv_error *err) {
  static const take_options defaults = {0};
  const take_options *o = options != NULL ? options : &defaults;
  CLEANUP(taking_dispose) taking take = {.table = t};
  arena_init(&take.memory, table_env(t));
  TRY(sort_numbers(&take, numbers, count, err));
  TRY(find(&take, o->by, err));
  TRY(choose_rows(&take, err));
  CLEANUP(batch_dispose) batch all = {0};
  TRY(read_rows(&take, o, &all, err));
  return deliver(&take, &all, ret, err);
}
