/*
 * The constants of an IN list. Values of up to 8 bytes are compared as bit patterns (floats in
 * total order are equal only bit for bit): a few by one pass per constant over the column, many by
 * an open-addressing table. Longer values, strings and bytes are found by their hash.
 */
#include "base/hash.h"
#include "expr/block.h"
#include "expr/eval_private.h"

enum { FEW = 6 };

struct in_set {
  const type *type;
  bool has_null;
  bool has_zero_key; /* key 0 marks free slots of the table, so it is kept apart */
  size_t count;
  uint64_t *keys; /* few: the keys; else: the table */
  size_t mask;    /* 0 = few; else slots - 1 */
  str *texts;     /* values that are not keys: the table, data NULL = free */
  size_t least;   /* their lengths */
  size_t most;
};

static size_t key_width(const type *t) {
  const size_t width = t->kind == TYPE_BOOL ? 1 : type_width(t);
  return width <= 8 && (width & (width - 1)) == 0 ? width : 0;
}

bool in_set_takes(const type *t) {
  return !type_is_list(t->kind) && t->kind != TYPE_STRUCT && t->kind != TYPE_MAP;
}

static uint64_t key_at(const array *a, size_t width, size_t i) {
  if (a->type->kind == TYPE_BOOL) {
    return array_bool(a, i) ? 1 : 0;
  }
  switch (width) {
  case 1:
    return ARRAY_VALUES(a, uint8_t)[i];
  case 2:
    return ARRAY_VALUES(a, uint16_t)[i];
  case 4:
    return ARRAY_VALUES(a, uint32_t)[i];
  default:
    return ARRAY_VALUES(a, uint64_t)[i];
  }
}

static str bytes_at(const array *a, size_t i) {
  if (type_offset_width(a->type->kind) != 0) {
    const str s = array_str(a, i);
    return s.data != NULL ? s : STR("");
  }
  const size_t width = type_width(a->type);
  return str_slice((const char *)a->values + width * i, width);
}

static inline size_t spread(uint64_t key) {
  key *= UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(key ^ (key >> 32));
}

static void add_key(struct in_set *s, uint64_t key) {
  if (s->mask == 0) {
    s->keys[s->count++] = key;
    return;
  }
  if (key == 0) {
    s->has_zero_key = true;
    return;
  }
  size_t slot = spread(key) & s->mask;
  while (s->keys[slot] != 0 && s->keys[slot] != key) {
    slot = (slot + 1) & s->mask;
  }
  s->keys[slot] = key;
}

static void add_text(struct in_set *s, str text) {
  size_t slot = (size_t)hash_bytes(text.data, text.size) & s->mask;
  while (s->texts[slot].data != NULL) {
    if (str_equal(s->texts[slot], text)) {
      return;
    }
    slot = (slot + 1) & s->mask;
  }
  s->texts[slot] = text;
  s->least = size_min(s->least, text.size);
  s->most = size_max(s->most, text.size);
}

static glv_status add_all(struct in_set *s, arena *a, const array *values, size_t width,
                          glv_error *err) {
  for (size_t i = 0; i < values->length; i++) {
    if (!array_is_valid(values, i)) {
      s->has_null = true;
    } else if (width != 0) {
      add_key(s, key_at(values, width, i));
    } else {
      const str text = bytes_at(values, i);
      const char *kept = arena_strdup(a, text);
      if (kept == NULL) {
        return error_nomem(err, text.size);
      }
      add_text(s, str_slice(kept, text.size));
    }
  }
  return GLV_OK;
}

glv_status in_set_new(arena *a, const array *values, const struct in_set **ret, glv_error *err) {
  struct in_set *s = ARENA_NEW(a, struct in_set);
  if (s == NULL) {
    return error_nomem(err, sizeof *s);
  }
  const size_t width = key_width(values->type);
  size_t slots = 2;
  while (slots < 2 * values->length) {
    slots *= 2;
  }
  s->type = values->type;
  s->least = SIZE_MAX;
  s->mask = width != 0 && values->length <= FEW ? 0 : slots - 1;
  if (width != 0) {
    s->keys = ARENA_ARRAY(a, uint64_t, slots);
  } else {
    s->texts = ARENA_ARRAY(a, str, slots);
  }
  if (s->keys == NULL && s->texts == NULL) {
    return error_nomem(err, slots * sizeof *s->texts);
  }
  TRY(add_all(s, a, values, width, err));
  *ret = s;
  return GLV_OK;
}

bool in_set_has_null(const struct in_set *s) { return s->has_null; }

static bool tables_equal(const struct in_set *a, const struct in_set *b) {
  const size_t slots = a->mask != 0 ? a->mask + 1 : a->count;
  if (a->keys != NULL) {
    return b->keys != NULL && memcmp(a->keys, b->keys, slots * sizeof *a->keys) == 0;
  }
  for (size_t i = 0; i < slots; i++) {
    const bool is_free = a->texts[i].data == NULL;
    if (is_free != (b->texts[i].data == NULL) ||
        (!is_free && !str_equal(a->texts[i], b->texts[i]))) {
      return false;
    }
  }
  return true;
}

bool in_set_equal(const struct in_set *a, const struct in_set *b) {
  if (a == NULL || b == NULL) {
    return a == b;
  }
  return type_equal(a->type, b->type) && a->has_null == b->has_null &&
         a->has_zero_key == b->has_zero_key && a->count == b->count && a->mask == b->mask &&
         tables_equal(a, b);
}

static bool find_key(const struct in_set *s, uint64_t key) {
  if (key == 0) {
    return s->has_zero_key;
  }
  size_t slot = spread(key) & s->mask;
  while (s->keys[slot] != 0) {
    if (s->keys[slot] == key) {
      return true;
    }
    slot = (slot + 1) & s->mask;
  }
  return false;
}

static bool find_text(const struct in_set *s, str text) {
  if (text.size < s->least || text.size > s->most) {
    return false;
  }
  size_t slot = (size_t)hash_bytes(text.data, text.size) & s->mask;
  while (s->texts[slot].data != NULL) {
    if (str_equal(s->texts[slot], text)) {
      return true;
    }
    slot = (slot + 1) & s->mask;
  }
  return false;
}

/* One pass per key. */
#define PROBE_FEW(ctype)                                                                           \
  do {                                                                                             \
    const ctype *from = values->values;                                                            \
    for (size_t k = 0; k < s->count; k++) {                                                        \
      const ctype key = (ctype)s->keys[k];                                                         \
      BLOCK_LOOP(values->length, words, |=, bytes[j] = (uint8_t)(from[i + j] == key));             \
    }                                                                                              \
  } while (0)

static void probe_few(const struct in_set *s, size_t width, const array *values, uint64_t *words) {
  switch (width) {
  case 1:
    PROBE_FEW(uint8_t);
    break;
  case 2:
    PROBE_FEW(uint16_t);
    break;
  case 4:
    PROBE_FEW(uint32_t);
    break;
  default:
    PROBE_FEW(uint64_t);
    break;
  }
}

/* The keys of a column against the table; the loop over rows is per width. */
#define PROBE_TABLE(ctype)                                                                         \
  do {                                                                                             \
    const ctype *from = values->values;                                                            \
    BLOCK_LOOP(values->length, words, =, bytes[j] = find_key(s, from[i + j]));                     \
  } while (0)

static void probe_table(const struct in_set *s, size_t width, const array *values,
                        uint64_t *words) {
  switch (width) {
  case 1:
    PROBE_TABLE(uint8_t);
    break;
  case 2:
    PROBE_TABLE(uint16_t);
    break;
  case 4:
    PROBE_TABLE(uint32_t);
    break;
  default:
    PROBE_TABLE(uint64_t);
    break;
  }
}

static bool find_any(const struct in_set *s, size_t width, const array *values, size_t i) {
  if (!array_is_valid(values, i)) {
    return false;
  }
  if (width == 0) {
    return find_text(s, bytes_at(values, i));
  }
  const uint64_t key = key_at(values, width, i);
  for (size_t k = 0; k < s->count; k++) {
    if (s->keys[k] == key) {
      return true;
    }
  }
  return s->mask != 0 && find_key(s, key);
}

static void probe_texts(const struct in_set *s, const array *values, uint64_t *words) {
  const operand o = {.a = *values};
  const text_reader r = text_reader_of(&o);
  BLOCK_LOOP(values->length, words, =, bytes[j] = find_text(s, text_at(&r, i + j)));
}

void in_set_probe(const struct in_set *s, const array *values, uint64_t *words) {
  const size_t width = key_width(s->type);
  if (type_offset_width(s->type->kind) != 0) {
    probe_texts(s, values, words);
  } else if (width == 0 || s->type->kind == TYPE_BOOL) {
    BLOCK_LOOP(values->length, words, =, bytes[j] = find_any(s, width, values, i + j));
  } else if (s->mask == 0) {
    probe_few(s, width, values, words);
  } else {
    probe_table(s, width, values, words);
  }
}
