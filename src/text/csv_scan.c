/*
 * A state machine over the bytes of the window. Positions are relative to the start of the record,
 * so that reading more (which moves the window) does not disturb it. A field that holds doubled
 * quotes is rewritten in place once its record is complete.
 */
#include "text/csv_scan.h"

#include "base/limits.h"

typedef enum csv_state {
  AT_START, /* of a field */
  PLAIN,
  QUOTED,
  AFTER_QUOTE, /* a quote inside quotes: the end, or one of two */
} csv_state;

typedef struct cursor {
  csv_state state;
  size_t at;
  csv_field field;
  bool done;
} cursor;

glv_status csv_scan_open(csv_scan *s, glv_env *env, const text_source *source, glv_error *err) {
  *s = (csv_scan){.next_line = 1};
  return text_window_open(&s->window, env, source, err);
}

void csv_scan_dispose(csv_scan *s) {
  if (s->window.bytes.env != NULL) {
    mem_free(s->window.bytes.env, s->fields);
  }
  text_window_dispose(&s->window);
  *s = (csv_scan){0};
}

static glv_status malformed(const csv_scan *s, const char *what, glv_error *err) {
  return FAIL(err, GLV_E_INVALID_INPUT, "file '%s' line %llu: %s", s->window.name,
              (unsigned long long)s->line, what);
}

static glv_status end_field(csv_scan *s, cursor *c, size_t end, glv_error *err) {
  if (s->count == LIMIT_FIELDS) {
    return malformed(s, "too many fields", err);
  }
  TRY(vec_reserve(s->window.bytes.env, &s->fields, &s->capacity, s->count + 1, sizeof *s->fields,
                  err));
  c->field.size = end - c->field.at;
  s->fields[s->count++] = c->field;
  c->field = (csv_field){0};
  c->state = AT_START;
  return GLV_OK;
}

/* The separator or line end at c->at, behind a field that ends at `end`. */
static glv_status separator(csv_scan *s, cursor *c, char byte, size_t end, glv_error *err) {
  TRY(end_field(s, c, end, err));
  c->at++;
  if (byte != ',') {
    c->done = true;
    s->skip_lf = byte == '\r';
    s->next_line++;
  }
  return GLV_OK;
}

static bool is_separator(char byte) { return byte == ',' || byte == '\n' || byte == '\r'; }

static size_t plain_end(const char *data, size_t at, size_t have) {
  while (at < have && !is_separator(data[at])) {
    at++;
  }
  return at;
}

/* The next quote; line ends on the way are counted. */
static size_t quote_end(csv_scan *s, const char *data, size_t at, size_t have) {
  while (at < have && data[at] != '"') {
    s->next_line += data[at] == '\n';
    at++;
  }
  return at;
}

/* Work through data[c->at .. have). */
static glv_status step(csv_scan *s, cursor *c, const char *data, size_t have, glv_error *err) {
  while (c->at < have && !c->done) {
    const char byte = data[c->at];
    switch (c->state) {
    case AT_START:
      c->field.at = c->at;
      if (byte == '"') {
        c->field.quoted = true;
        c->field.at = ++c->at;
        c->state = QUOTED;
      } else if (is_separator(byte)) {
        TRY(separator(s, c, byte, c->at, err));
      } else {
        c->state = PLAIN;
      }
      break;
    case PLAIN:
      c->at = plain_end(data, c->at, have);
      if (c->at < have) {
        TRY(separator(s, c, data[c->at], c->at, err));
      }
      break;
    case QUOTED:
      c->at = quote_end(s, data, c->at, have);
      if (c->at < have) {
        c->at++;
        c->state = AFTER_QUOTE;
      }
      break;
    case AFTER_QUOTE:
      if (byte == '"') {
        c->field.doubled = true;
        c->at++;
        c->state = QUOTED;
      } else if (is_separator(byte)) {
        TRY(separator(s, c, byte, c->at - 1, err));
      } else {
        return malformed(s, "a closing quote is followed by text; quotes inside quotes are doubled",
                         err);
      }
      break;
    }
  }
  return GLV_OK;
}

/* The text ended inside a record. */
static glv_status at_end(csv_scan *s, cursor *c, glv_error *err) {
  if (c->state == QUOTED) {
    return malformed(s, "a quoted field does not end", err);
  }
  if (c->state == AT_START) {
    c->field.at = c->at;
  }
  c->done = true;
  return end_field(s, c, c->at - (c->state == AFTER_QUOTE ? 1 : 0), err);
}

static void undouble(char *text, csv_field *f) {
  size_t size = 0;
  for (size_t i = 0; i < f->size; i++) {
    text[size++] = text[i];
    i += text[i] == '"'; /* the second of two */
  }
  f->size = size;
}

static void complete(csv_scan *s, const cursor *c) {
  s->record = s->window.start;
  s->size = c->at;
  s->window.start += c->at;
  for (size_t i = 0; i < s->count; i++) {
    if (s->fields[i].doubled) {
      undouble(s->window.bytes.data + s->record + s->fields[i].at, &s->fields[i]);
    }
  }
}

glv_status csv_scan_next(csv_scan *s, bool *ret_found, glv_error *err) {
  text_window *w = &s->window;
  cursor c = {0};
  s->count = 0;
  s->line = s->next_line;
  for (;;) {
    if (s->skip_lf && w->start < w->bytes.size) {
      w->start += w->bytes.data[w->start] == '\n';
      s->skip_lf = false;
    }
    TRY(step(s, &c, w->bytes.data + w->start, w->bytes.size - w->start, err));
    if (!c.done && w->ended) {
      if (c.at == 0) {
        *ret_found = false;
        return GLV_OK;
      }
      TRY(at_end(s, &c, err));
    }
    if (c.done) {
      complete(s, &c);
      *ret_found = true;
      return GLV_OK;
    }
    TRY(text_window_more(w, s->line, err));
  }
}
