/* The pipeline of a scan: windows are cut in order, handed to the pool, and delivered in order.
 *
 * A ring holds the windows in flight; the consumer waits for the oldest one (running it itself when
 * no thread has taken it yet) and cuts a new one for each that it takes out. The number in flight
 * is the number of threads plus a few; with a limit it starts at one and doubles, so that LIMIT 10
 * does not decode what nobody will see. A scan of a single window runs in the consumer's thread and
 * never starts the pool. The rows of a window are chosen by an estimate of their size in memory;
 * how many elements a list has, which is how often what else is read is repeated, the windows
 * before tell.
 */
#include "table/scan.h"

#include "table/scan_private.h"

enum {
  WINDOW_BYTES = 1 << 20, /* decoded size that a window aims at: what fits a processor's cache */
  WINDOW_LEAST_ROWS = 1024,
  SPARSE_ROWS = 64,  /* a window holds so many wanted rows, however far apart they lie */
  CHUNK_ROWS = 4096, /* most rows of one chunk of a page; cutting inside decodes it twice */
  ROW_LEAST_BYTES = 1,
  TEXT_BYTES = 32,          /* assumed size of a value of variable width, at least */
  EXPANDED_BYTES = 1 << 24, /* what a window may grow to when it is expanded */
  FIRST_LISTS = 64,         /* rows of the first such window */
  AHEAD_EXTRA = 2
};

typedef struct scan_state {
  scan_plan *plan; /* owned */
  /* what is left to cut */
  const fragment *const *fragments;
  const bitmap *const *offsets; /* per fragment, or NULL */
  uint64_t *first_live;         /* per fragment */
  size_t fragment_count;
  size_t next_fragment;
  uint64_t next_row;      /* in the current fragment */
  fragment_scan *current; /* a reference; fragment next_fragment, or NULL */
  arena memory;
  /* the ring */
  scan_window *ring;
  size_t ring_size;
  size_t ring_first;
  size_t ring_count;
  size_t ahead;        /* windows allowed in flight */
  uint64_t taken_rows; /* of windows taken out, and the rows they gave */
  uint64_t taken_selected;
  /* what is left to deliver */
  uint64_t skip;
  uint64_t room;
  size_t batch_rows;
  batch rest; /* of a window, when batches are smaller */
  size_t rest_first;
} scan_state;

/* ---- cutting ---- */

/* Bytes of one value in memory; text_bytes for what varies. */
static uint64_t value_bytes(const type *t, uint64_t text_bytes) {
  if (t->kind == TYPE_FIXED_SIZE_LIST) {
    return (uint64_t)t->width * value_bytes(t->children[0].type, text_bytes);
  }
  const size_t width = type_width(t);
  return width > 0 ? width : t->kind == TYPE_BOOL ? 1 : text_bytes;
}

/* Assumed size of a value of variable width in fragment f. */
static uint64_t text_bytes(const fragment *f) {
  uint64_t stored = 0;
  for (size_t i = 0; i < f->file_count; i++) {
    stored += f->files[i].size_bytes;
  }
  return u64_max(TEXT_BYTES, 2 * stored / u64_max(f->physical_rows, 1));
}

/* Bytes of what is read of a row of fragment f; with UNNEST of the list, or of one element. */
static uint64_t row_bytes(const scan_plan *p, const fragment *f, bool expanded) {
  const uint64_t text = text_bytes(f);
  uint64_t row = ROW_LEAST_BYTES;
  for (size_t i = 0; i < p->scope->field_count; i++) {
    if (p->in_filter[i] || p->in_output[i]) {
      const field *as = expanded ? &p->scope->fields[i] : scan_plan_stored_as(p, i);
      row += value_bytes(as->type, text);
    }
  }
  return row;
}

/* Elements of a list: as many as the windows before had; for the first one, as would fit. */
static uint64_t list_elements(const scan_state *s, const fragment *f) {
  const uint64_t element = value_bytes(s->plan->scope->fields[s->plan->unnest].type, TEXT_BYTES);
  return s->taken_rows > 0 ? s->taken_selected / s->taken_rows + 1
                           : text_bytes(f) / u64_max(element, 1) + 1;
}

/* Most rows of a window. */
static uint64_t most_rows(const scan_state *s, const fragment *f) {
  if (s->plan->unnest == SIZE_MAX) {
    return LIMIT_BATCH_ROWS;
  }
  const uint64_t rows = EXPANDED_BYTES / row_bytes(s->plan, f, true) / list_elements(s, f);
  return u64_max(s->taken_rows > 0 ? rows : u64_min(rows, FIRST_LISTS), 1);
}

/* Rows of a window of fragment f. */
static uint64_t window_rows(const scan_state *s, const fragment *f) {
  const uint64_t fit = WINDOW_BYTES / row_bytes(s->plan, f, false);
  const uint64_t step = fit >= CHUNK_ROWS ? CHUNK_ROWS : WINDOW_LEAST_ROWS;
  return u64_min(u64_max(fit / step * step, WINDOW_LEAST_ROWS), most_rows(s, f));
}

/* Where the window ends that starts at the next row of fragment f. */
static uint64_t window_end(const scan_state *s, const fragment *f, const bitmap *offsets) {
  const uint64_t end = u64_min(s->next_row + window_rows(s, f), f->physical_rows);
  if (offsets == NULL) {
    return end;
  }
  const uint64_t before = bitmap_count_range(offsets, 0, s->next_row);
  uint32_t last = 0;
  if (!bitmap_select(offsets, before + SPARSE_ROWS - 1, &last)) {
    return f->physical_rows; /* fewer are left */
  }
  return u64_min(u64_max(end, (uint64_t)last + 1), f->physical_rows);
}

static void drop_current(scan_state *s) {
  fragment_scan_unref(s->current);
  s->current = NULL;
  s->next_fragment++;
  s->next_row = 0;
}

static bool is_cut(const scan_state *s) { return s->next_fragment == s->fragment_count; }

/* The next window into *w; there is one. */
static glv_status cut(scan_state *s, scan_window *w, glv_error *err) {
  const fragment *f = s->fragments[s->next_fragment];
  const bitmap *offsets = s->offsets != NULL ? s->offsets[s->next_fragment] : NULL;
  if (s->current == NULL) {
    const uint64_t live = s->first_live != NULL ? s->first_live[s->next_fragment] : 0;
    TRY(fragment_scan_new(s->plan, f, offsets, live, &s->current, err));
  }
  const uint64_t rows = window_end(s, f, offsets) - s->next_row;
  *w = (scan_window){.fragment = s->current, .first = s->next_row, .count = (size_t)rows};
  w->task = (task){.run = scan_window_run, .context = w};
  s->current->refs++;
  s->next_row += rows;
  if (s->next_row == f->physical_rows) {
    drop_current(s);
  }
  return GLV_OK;
}

static void submit(scan_state *s, scan_window *w) {
  if (!w->fragment->is_submitted) {
    w->fragment->is_submitted = true;
    task_submit(s->plan->env, &w->fragment->open);
  }
  w->is_submitted = true;
  task_submit(s->plan->env, &w->task);
}

static glv_status fill_ring(scan_state *s, glv_error *err) {
  while (s->ring_count < s->ahead && !is_cut(s)) {
    scan_window *w = &s->ring[(s->ring_first + s->ring_count) % s->ring_size];
    TRY(cut(s, w, err));
    s->ring_count++;
    const bool is_only = s->ring_count == 1 && is_cut(s) && !w->fragment->is_submitted;
    if (!is_only) {
      submit(s, w);
    }
  }
  return GLV_OK;
}

/* Takes the oldest window out of the ring. */
static glv_status take(scan_state *s, batch *ret, size_t *ret_selected, glv_error *err) {
  scan_window *w = &s->ring[s->ring_first];
  const glv_status status =
      w->is_submitted ? task_wait(s->plan->env, &w->task, err) : scan_window_run(w, err);
  *ret = w->result;
  *ret_selected = w->selected;
  s->taken_rows += w->count;
  s->taken_selected += w->selected;
  fragment_scan_unref(w->fragment);
  *w = (scan_window){0};
  s->ring_first = (s->ring_first + 1) % s->ring_size;
  s->ring_count--;
  s->ahead = size_min(2 * s->ahead, s->ring_size);
  return status;
}

/* ---- state ---- */

static void state_free(scan_state *s) {
  if (s == NULL) {
    return;
  }
  glv_env *env = s->plan != NULL ? env_ref(s->plan->env) : NULL;
  if (s->plan != NULL) {
    atomic_store_explicit(&s->plan->is_stopped, true, memory_order_relaxed);
  }
  while (s->plan != NULL && s->ring_count > 0) {
    batch b = {0};
    size_t selected;
    if (s->ring[s->ring_first].is_submitted) {
      (void)take(s, &b, &selected, NULL);
    } else {
      fragment_scan_unref(s->ring[s->ring_first].fragment);
      s->ring_count--;
    }
    batch_dispose(&b);
  }
  fragment_scan_unref(s->current);
  batch_dispose(&s->rest);
  arena_dispose(&s->memory);
  scan_plan_free(s->plan);
  mem_free(env, s);
  env_unref(env);
}

static void state_cleanup(scan_state **s) { state_free(*s); }

static glv_status choose_fragments(scan_state *s, const scan_options *o, glv_error *err) {
  const table_snapshot *t = s->plan->table;
  const size_t count = o->fragments != NULL ? o->fragment_count : t->fragment_count;
  const fragment **list = ARENA_ARRAY(&s->memory, const fragment *, count);
  const bitmap **offsets = ARENA_ARRAY(&s->memory, const bitmap *, count);
  if (list == NULL || offsets == NULL) {
    return error_nomem(err, count * sizeof *list);
  }
  for (size_t i = 0; i < count; i++) {
    const fragment *f = &t->fragments[i];
    if (o->fragments != NULL) {
      f = table_fragment(t, o->fragments[i].id);
      if (f == NULL) {
        return FAIL(err, GLV_E_INVALID_INPUT, "table '%s' has no fragment %llu", table_name(t),
                    (unsigned long long)o->fragments[i].id);
      }
    }
    if (f->physical_rows > 0) {
      list[s->fragment_count] = f;
      offsets[s->fragment_count++] = o->fragments != NULL ? o->fragments[i].offsets : NULL;
    }
  }
  s->fragments = list;
  s->offsets = offsets;
  return GLV_OK;
}

/* Live rows before each fragment, when the `_rowoffset` column is read. */
static glv_status count_before(scan_state *s, glv_error *err) {
  const scan_plan *p = s->plan;
  const size_t column = p->column_count + SYSTEM_ROW_OFFSET;
  if (!p->in_filter[column] && !p->in_output[column]) {
    return GLV_OK;
  }
  s->first_live = ARENA_ARRAY(&s->memory, uint64_t, s->fragment_count);
  if (s->first_live == NULL) {
    return error_nomem(err, s->fragment_count * sizeof *s->first_live);
  }
  for (size_t i = 0; i < s->fragment_count; i++) {
    for (const fragment *f = p->table->fragments; f != s->fragments[i]; f++) {
      s->first_live[i] += f->physical_rows - (f->has_deletions ? f->deletions.count : 0);
    }
  }
  return GLV_OK;
}

static glv_status state_new(const table_snapshot *t, const scan_options *o, bool counting,
                            scan_state **ret, glv_error *err) {
  glv_env *env = table_env(t);
  CLEANUP(state_cleanup) scan_state *s = NULL;
  CLEANUP(scan_plan_cleanup) scan_plan *p = NULL;
  TRY(scan_plan_new(t, o, counting, &p, err));
  s = mem_zalloc(env, sizeof *s);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  s->plan = p;
  p = NULL;
  arena_init(&s->memory, env);
  s->ring_size = env_threads(env) + AHEAD_EXTRA;
  s->ring = ARENA_ARRAY(&s->memory, scan_window, s->ring_size);
  if (s->ring == NULL) {
    return error_nomem(err, s->ring_size * sizeof *s->ring);
  }
  s->ahead = o->has_limit || s->plan->unnest != SIZE_MAX ? 1 : s->ring_size;
  s->skip = o->offset;
  s->room = o->has_limit ? o->limit : UINT64_MAX;
  s->batch_rows = o->batch_rows != 0 ? o->batch_rows : LIMIT_BATCH_ROWS;
  TRY(choose_fragments(s, o, err));
  TRY(count_before(s, err));
  *ret = s;
  s = NULL;
  return GLV_OK;
}

/* ---- delivering ---- */

/* Rows [first, first + count) of b, which is disposed when it is not needed any more. */
static glv_status slice(scan_state *s, batch *b, size_t first, size_t count, batch *ret,
                        glv_error *err) {
  if (first == 0 && count == b->length) {
    *ret = *b;
    *b = (batch){0};
    return GLV_OK;
  }
  glv_status status = GLV_OK;
  const batch part = batch_slice(s->plan->env, b, first, count, err, &status);
  TRY(status);
  *ret = part;
  return GLV_OK;
}

/* The next rows of s->rest, which has some. */
static glv_status deliver(scan_state *s, batch *ret, glv_error *err) {
  const size_t left = s->rest.length - s->rest_first;
  const size_t count = (size_t)u64_min(u64_min(left, s->batch_rows), s->room);
  const size_t first = s->rest_first;
  const bool is_last = count == left || count == s->room;
  TRY(slice(s, &s->rest, first, count, ret, err));
  s->rest_first += count;
  s->room -= count;
  if (is_last) {
    batch_dispose(&s->rest);
    s->rest = (batch){0};
  }
  return GLV_OK;
}

static glv_status next_batch(void *state, batch *ret, bool *ret_end, glv_error *err) {
  scan_state *s = state;
  for (;;) {
    if (s->rest.length > 0) {
      return deliver(s, ret, err);
    }
    if (s->room > 0) {
      TRY(fill_ring(s, err));
    }
    if (s->ring_count == 0 || s->room == 0) {
      *ret_end = true;
      return GLV_OK;
    }
    size_t selected;
    TRY(take(s, &s->rest, &selected, err));
    s->rest_first = (size_t)u64_min(s->skip, selected);
    s->skip -= s->rest_first;
    if (s->rest_first == selected) {
      batch_dispose(&s->rest);
      s->rest = (batch){0};
    }
  }
}

static void dispose_reader(void *state) { state_free(state); }

glv_status table_scan(const table_snapshot *t, const scan_options *options, batch_reader *ret,
                      glv_error *err) {
  static const scan_options defaults = {0};
  scan_state *s;
  TRY(state_new(t, options != NULL ? options : &defaults, false, &s, err));
  *ret = (batch_reader){.schema = schema_ref(s->plan->result),
                        .next = next_batch,
                        .dispose = dispose_reader,
                        .state = s};
  return GLV_OK;
}

glv_status table_count(const table_snapshot *t, str filter, unsigned expr_flags,
                       cancel_token *cancel, uint64_t *ret, glv_error *err) {
  if (filter.size == 0) {
    *ret = t->live_rows;
    return GLV_OK;
  }
  const scan_options o = {.filter = filter, .expr_flags = expr_flags, .cancel = cancel};
  CLEANUP(state_cleanup) scan_state *s = NULL;
  TRY(state_new(t, &o, true, &s, err));
  uint64_t count = 0;
  for (;;) {
    TRY(fill_ring(s, err));
    if (s->ring_count == 0) {
      break;
    }
    batch none;
    size_t selected;
    TRY(take(s, &none, &selected, err));
    count += selected;
  }
  *ret = count;
  return GLV_OK;
}
