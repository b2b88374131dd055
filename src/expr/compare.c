/*
 * Comparison kernels. Every fixed-width type is compared as an integer of its width: floats in
 * total order become integers by turning the other bits of negative numbers over, so that NaN
 * compares as any other pattern; booleans are handled as bits.
 *
 * The inner loops run over blocks of 64 rows: one byte per row, which compilers turn into vector
 * code, then eight multiplications pack the bytes into a word of the result bitmap. Only less-than,
 * greater-than and equal exist as loops; the other operators are their complements or have their
 * sides exchanged.
 */
#include "expr/compare.h"

#include <math.h>

#include "base/cpu.h"
#include "base/int128.h"
#include "expr/block.h"
#include "expr/eval_private.h"
#include "expr/interval.h"
#include "expr/kernel.h"

/* The loops of one operator on one type: l and r are rows, or r is one value. EXPR sees a and b. */
#define COMPARE_LOOPS(name, ctype, load, EXPR)                                                     \
  CPU_CLONES static void name##_rows(const void *l, const void *r, size_t rows, uint64_t *out) {   \
    const ctype *lv = l;                                                                           \
    const ctype *rv = r;                                                                           \
    BLOCK_LOOP(rows, out, =, const ctype a = load(lv[i + j]); const ctype b = load(rv[i + j]);     \
               bytes[j] = EXPR);                                                                   \
  }                                                                                                \
  CPU_CLONES static void name##_one(const void *l, const void *r, size_t rows, uint64_t *out) {    \
    const ctype *lv = l;                                                                           \
    const ctype b = load(*(const ctype *)r);                                                       \
    BLOCK_LOOP(rows, out, =, const ctype a = load(lv[i + j]); bytes[j] = EXPR);                    \
  }

#define AS_IS(v) (v)

/* Integers whose order is the total order of floats of the same bits. */
static inline int16_t order16(int16_t v) { return (int16_t)(v ^ ((v >> 15) & INT16_MAX)); }
static inline int32_t order32(int32_t v) { return v ^ ((v >> 31) & INT32_MAX); }
static inline int64_t order64(int64_t v) { return v ^ ((v >> 63) & INT64_MAX); }

#define COMPARE_TYPE(suffix, ctype, load)                                                          \
  COMPARE_LOOPS(less_##suffix, ctype, load, (uint8_t)(a < b))                                      \
  COMPARE_LOOPS(greater_##suffix, ctype, load, (uint8_t)(a > b))

COMPARE_TYPE(i8, int8_t, AS_IS)
COMPARE_TYPE(i16, int16_t, AS_IS)
COMPARE_TYPE(i32, int32_t, AS_IS)
COMPARE_TYPE(i64, int64_t, AS_IS)
COMPARE_TYPE(u8, uint8_t, AS_IS)
COMPARE_TYPE(u16, uint16_t, AS_IS)
COMPARE_TYPE(u32, uint32_t, AS_IS)
COMPARE_TYPE(u64, uint64_t, AS_IS)
COMPARE_TYPE(f16, int16_t, order16)
COMPARE_TYPE(f32, int32_t, order32)
COMPARE_TYPE(f64, int64_t, order64)
COMPARE_LOOPS(equal_8, uint8_t, AS_IS, (uint8_t)(a == b))
COMPARE_LOOPS(equal_16, uint16_t, AS_IS, (uint8_t)(a == b))
COMPARE_LOOPS(equal_32, uint32_t, AS_IS, (uint8_t)(a == b))
COMPARE_LOOPS(equal_64, uint64_t, AS_IS, (uint8_t)(a == b))

/*
 * Floats by the comparison of the machine, which is right but for two things: NaN lies at an end of
 * the order, and -0.0 before 0.0. A block where that matters is compared again as integers. One
 * value on the right is no NaN, and no zero of the sign that has its twin on the other side, so
 * only NaN on the left matter there. The results are made 32 bits wide first, which compilers
 * vectorise.
 */
#define FLOAT_LOOPS(name, ctype, op)                                                               \
  CPU_CLONES static void near_##name##_one(const void *l, const void *r, size_t rows,              \
                                           uint64_t *out) {                                        \
    const ctype *lv = l;                                                                           \
    const ctype b = *(const ctype *)r;                                                             \
    size_t i = 0;                                                                                  \
    for (; i + BLOCK_ROWS <= rows; i += BLOCK_ROWS) {                                              \
      int32_t wide[BLOCK_ROWS];                                                                    \
      int32_t odd = 0;                                                                             \
      uint8_t bytes[BLOCK_ROWS];                                                                   \
      for (size_t j = 0; j < BLOCK_ROWS; j++) {                                                    \
        wide[j] = lv[i + j] op b;                                                                  \
        odd |= lv[i + j] != lv[i + j];                                                             \
      }                                                                                            \
      if (odd != 0) {                                                                              \
        name##_one(lv + i, r, BLOCK_ROWS, out + i / BLOCK_ROWS);                                   \
        continue;                                                                                  \
      }                                                                                            \
      for (size_t j = 0; j < BLOCK_ROWS; j++) {                                                    \
        bytes[j] = (uint8_t)wide[j];                                                               \
      }                                                                                            \
      out[i / BLOCK_ROWS] = block_pack(bytes);                                                     \
    }                                                                                              \
    name##_one(lv + i, r, rows - i, out + i / BLOCK_ROWS);                                         \
  }                                                                                                \
  CPU_CLONES static void near_##name##_rows(const void *l, const void *r, size_t rows,             \
                                            uint64_t *out) {                                       \
    const ctype *lv = l;                                                                           \
    const ctype *rv = r;                                                                           \
    size_t i = 0;                                                                                  \
    for (; i + BLOCK_ROWS <= rows; i += BLOCK_ROWS) {                                              \
      int32_t wide[BLOCK_ROWS];                                                                    \
      int32_t odd = 0;                                                                             \
      uint8_t bytes[BLOCK_ROWS];                                                                   \
      for (size_t j = 0; j < BLOCK_ROWS; j++) {                                                    \
        const ctype a = lv[i + j];                                                                 \
        const ctype b = rv[i + j];                                                                 \
        wide[j] = a op b;                                                                          \
        odd |= (a != a) | (b != b) | ((a == 0) & (b == 0));                                        \
      }                                                                                            \
      if (odd != 0) {                                                                              \
        name##_rows(lv + i, rv + i, BLOCK_ROWS, out + i / BLOCK_ROWS);                             \
        continue;                                                                                  \
      }                                                                                            \
      for (size_t j = 0; j < BLOCK_ROWS; j++) {                                                    \
        bytes[j] = (uint8_t)wide[j];                                                               \
      }                                                                                            \
      out[i / BLOCK_ROWS] = block_pack(bytes);                                                     \
    }                                                                                              \
    name##_rows(lv + i, rv + i, rows - i, out + i / BLOCK_ROWS);                                   \
  }

FLOAT_LOOPS(less_f32, float, <)
FLOAT_LOOPS(greater_f32, float, >)
FLOAT_LOOPS(less_f64, double, <)
FLOAT_LOOPS(greater_f64, double, >)

typedef void (*compare_loop)(const void *l, const void *r, size_t rows, uint64_t *out);
struct loops {
  compare_loop less[2]; /* 0: rows with rows, 1: rows with one */
  compare_loop greater[2];
  compare_loop equal[2];
  compare_loop near_less[2]; /* floats: by machine comparison; else NULL */
  compare_loop near_greater[2];
};

#define LOOPS(suffix, width)                                                                       \
  {                                                                                                \
    {less_##suffix##_rows, less_##suffix##_one},                                                   \
        {greater_##suffix##_rows, greater_##suffix##_one},                                         \
        {equal_##width##_rows, equal_##width##_one}, {NULL, NULL}, {                               \
      NULL, NULL                                                                                   \
    }                                                                                              \
  }

#define FLOAT_LOOPS_OF(suffix, width)                                                              \
  {                                                                                                \
    {less_##suffix##_rows, less_##suffix##_one},                                                   \
        {greater_##suffix##_rows, greater_##suffix##_one},                                         \
        {equal_##width##_rows, equal_##width##_one},                                               \
        {near_less_##suffix##_rows, near_less_##suffix##_one}, {                                   \
      near_greater_##suffix##_rows, near_greater_##suffix##_one                                    \
    }                                                                                              \
  }

static const struct loops *loops_of(type_kind kind) {
  static const struct loops i8 = LOOPS(i8, 8);
  static const struct loops i16 = LOOPS(i16, 16);
  static const struct loops i32 = LOOPS(i32, 32);
  static const struct loops i64 = LOOPS(i64, 64);
  static const struct loops u8 = LOOPS(u8, 8);
  static const struct loops u16 = LOOPS(u16, 16);
  static const struct loops u32 = LOOPS(u32, 32);
  static const struct loops u64 = LOOPS(u64, 64);
  static const struct loops f16 = LOOPS(f16, 16);
  static const struct loops f32 = FLOAT_LOOPS_OF(f32, 32);
  static const struct loops f64 = FLOAT_LOOPS_OF(f64, 64);
  switch (kind) {
  case TYPE_INT8:
    return &i8;
  case TYPE_INT16:
    return &i16;
  case TYPE_INT32:
  case TYPE_DATE32:
  case TYPE_TIME32:
    return &i32;
  case TYPE_INT64:
  case TYPE_DATE64:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    return &i64;
  case TYPE_UINT8:
    return &u8;
  case TYPE_UINT16:
    return &u16;
  case TYPE_UINT32:
    return &u32;
  case TYPE_UINT64:
    return &u64;
  case TYPE_FLOAT16:
    return &f16;
  case TYPE_FLOAT32:
    return &f32;
  case TYPE_FLOAT64:
    return &f64;
  default:
    return NULL;
  }
}

/* Whether one float may be compared by the machine. */
static bool is_near(const array *b, bool less) {
  const double v = b->type->kind == TYPE_FLOAT64 ? ARRAY_VALUES(b, double)[0]
                                                 : (double)ARRAY_VALUES(b, float)[0];
  const bool twin = v == 0 && (signbit(v) == 0) == less;
  return !isnan(v) && !twin;
}

/* A loop over rows of a width, the next of which are fetched while it runs. */
static void run_loop(compare_loop loop, const operand *l, const operand *r, size_t rows,
                     uint64_t *out) {
  enum { STEP = 8 * BLOCK_ROWS };
  const size_t width = type_width(l->a.type);
  const size_t right_width = r->is_scalar ? 0 : width;
  const char *lv = l->a.values;
  const char *rv = r->a.values;
  for (size_t first = 0; first < rows; first += STEP) {
    const size_t count = size_min(STEP, rows - first);
    const size_t next = first + count;
    const size_t more = size_min(STEP, rows - next);
    cpu_fetch(lv + width * next, width * more);
    cpu_fetch(rv + right_width * next, right_width * more);
    loop(lv + width * first, rv + right_width * first, count, out + first / BLOCK_ROWS);
  }
}

static void run_less(const struct loops *k, bool less, const operand *l, const operand *r,
                     size_t rows, uint64_t *out) {
  const size_t one = r->is_scalar ? 1 : 0;
  const compare_loop *near = less ? k->near_less : k->near_greater;
  const compare_loop *exact = less ? k->less : k->greater;
  const bool is_float = near[one] != NULL && (one == 0 || is_near(&r->a, less));
  run_loop((is_float ? near : exact)[one], l, r, rows, out);
}

static void complement(uint64_t *words, size_t rows) {
  for (size_t i = 0; i < word_count(rows); i++) {
    words[i] = ~words[i] & tail_mask(rows, i);
  }
}

static enum compare_op exchanged(enum compare_op op) {
  static const enum compare_op table[] = {COMPARE_EQ, COMPARE_NE, COMPARE_GT,
                                          COMPARE_GE, COMPARE_LT, COMPARE_LE};
  return table[op];
}

static void run_loops(const struct loops *k, enum compare_op op, const operand *l, const operand *r,
                      size_t rows, uint64_t *out) {
  if (l->is_scalar && !r->is_scalar) {
    const operand *other = l;
    l = r;
    r = other;
    op = exchanged(op);
  }
  switch (op) {
  case COMPARE_EQ:
  case COMPARE_NE:
    run_loop(k->equal[r->is_scalar ? 1 : 0], l, r, rows, out);
    break;
  case COMPARE_LT:
  case COMPARE_GE:
    run_less(k, true, l, r, rows, out);
    break;
  case COMPARE_GT:
  case COMPARE_LE:
    run_less(k, false, l, r, rows, out);
    break;
  }
  if (op == COMPARE_NE || op == COMPARE_GE || op == COMPARE_LE) {
    complement(out, rows);
  }
}

/* false < true */
static uint64_t compare_bool_word(enum compare_op op, uint64_t l, uint64_t r) {
  switch (op) {
  case COMPARE_EQ:
    return ~(l ^ r);
  case COMPARE_NE:
    return l ^ r;
  case COMPARE_LT:
    return ~l & r;
  case COMPARE_LE:
    return ~l | r;
  case COMPARE_GT:
    return l & ~r;
  case COMPARE_GE:
    return l | ~r;
  }
  return 0;
}

static void compare_bools(enum compare_op op, const operand *l, const operand *r, size_t rows,
                          uint64_t *out) {
  const bool_reader lr = bool_reader_of(l, rows);
  const bool_reader rr = bool_reader_of(r, rows);
  for (size_t i = 0; i < word_count(rows); i++) {
    uint64_t lv = 0;
    uint64_t rv = 0;
    uint64_t valid = 0;
    bool_read(&lr, i, &lv, &valid);
    bool_read(&rr, i, &rv, &valid);
    out[i] = compare_bool_word(op, lv, rv) & tail_mask(rows, i);
  }
}

static bool holds(enum compare_op op, int order) {
  switch (op) {
  case COMPARE_EQ:
    return order == 0;
  case COMPARE_NE:
    return order != 0;
  case COMPARE_LT:
    return order < 0;
  case COMPARE_LE:
    return order <= 0;
  case COMPARE_GT:
    return order > 0;
  case COMPARE_GE:
    return order >= 0;
  }
  return false;
}

/* Which texts have a length. */
#define LENGTH_LOOP(name, ctype)                                                                   \
  CPU_CLONES static void name(const ctype *offsets, size_t length, size_t rows, uint64_t *out) {   \
    const ctype wanted = (ctype)length;                                                            \
    BLOCK_LOOP(rows, out, =, const size_t k = i + j;                                               \
               bytes[j] = (uint8_t)(offsets[k + 1] - offsets[k] == wanted));                       \
  }
LENGTH_LOOP(length_is_32, int32_t)
LENGTH_LOOP(length_is_64, int64_t)

/* Equal to one text: only those of its length are looked into. */
static void equal_text_one(const operand *l, str text, size_t rows, uint64_t *out) {
  const text_reader r = text_reader_of(l);
  if (r.is_large) {
    length_is_64(r.offsets, text.size, rows, out);
  } else {
    length_is_32(r.offsets, text.size, rows, out);
  }
  for (size_t i = 0; i < word_count(rows); i++) {
    for (uint64_t rest = out[i]; rest != 0; rest &= rest - 1) {
      const unsigned bit = (unsigned)__builtin_ctzll(rest);
      const str a = text_at(&r, i * 64 + bit);
      if (!str_equal(a, text)) {
        out[i] &= ~(UINT64_C(1) << bit);
      }
    }
  }
}

static void compare_texts(enum compare_op op, const operand *l, const operand *r, size_t rows,
                          uint64_t *out) {
  const bool equality = op == COMPARE_EQ || op == COMPARE_NE;
  if (equality && l->is_scalar != r->is_scalar) {
    equal_text_one(l->is_scalar ? r : l, array_str(l->is_scalar ? &l->a : &r->a, 0), rows, out);
  } else {
    const text_reader lr = text_reader_of(l);
    const text_reader rr = text_reader_of(r);
    const enum compare_op loop = op == COMPARE_NE ? COMPARE_EQ : op;
    BLOCK_LOOP(rows, out, =,
               bytes[j] =
                   (uint8_t)holds(loop, str_compare(text_at(&lr, i + j), text_at(&rr, i + j))));
  }
  if (op == COMPARE_NE) {
    complement(out, rows);
  }
}

static void compare_each(enum compare_op op, const operand *l, const operand *r, size_t rows,
                         uint64_t *out) {
  for (size_t i = 0; i < rows; i++) {
    if (operand_is_valid(l, i) && operand_is_valid(r, i)) {
      const int order = compare_values(&l->a, operand_row(l, i), &r->a, operand_row(r, i));
      out[i / BLOCK_ROWS] |= (uint64_t)holds(op, order) << (i % BLOCK_ROWS);
    }
  }
}

static bool is_comparable(const type *t) { return t->kind != TYPE_NULL && t->kind != TYPE_NONE; }

static glv_status compare_into(enum compare_op op, const operand *l, const operand *r, size_t rows,
                               uint64_t *out, glv_error *err) {
  const type *t = l->a.type;
  const struct loops *k = loops_of(t->kind);
  if (k != NULL) {
    run_loops(k, op, l, r, rows, out);
  } else if (t->kind == TYPE_BOOL) {
    compare_bools(op, l, r, rows, out);
  } else if (type_is_string(t->kind) || type_is_binary(t->kind)) {
    compare_texts(op, l, r, rows, out);
  } else if (is_comparable(t)) {
    compare_each(op, l, r, rows, out);
  } else {
    return FAIL(err, GLV_E_SQL_EXEC, "values of type %s cannot be compared", TYPE_TEXT(t));
  }
  return GLV_OK;
}

static bool is_null_scalar(const operand *o) { return o->is_scalar && !array_is_valid(&o->a, 0); }

glv_status compare_operands(glv_env *env, enum compare_op op, const operand *l, const operand *r,
                            size_t rows, array *ret, glv_error *err) {
  if (l->a.type->kind == TYPE_NULL || r->a.type->kind == TYPE_NULL || is_null_scalar(l) ||
      is_null_scalar(r)) {
    return array_new_null(env, type_simple(TYPE_BOOL), rows, ret, err);
  }
  if (l->is_scalar && r->is_scalar && rows > 1) {
    CLEANUP(operand_dispose) operand one = {.is_scalar = true};
    TRY(compare_operands(env, op, l, r, 1, &one.a, err));
    return eval_expand(env, &one, rows, ret, err);
  }
  CLEANUP(bool_writer_dispose) bool_writer w = {0};
  TRY(bool_writer_init(env, rows, false, &w, err));
  TRY(compare_into(op, l, r, rows, w.values, err));
  TRY(eval_validity(env, l, r, rows, &w.a, err));
  *ret = bool_writer_finish(&w, false).a;
  return GLV_OK;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_dictionaries(const array *l, size_t i, const array *r, size_t j,
                                bool nulls_last);
static int compare_lists(const array *l, size_t i, const array *r, size_t j, bool nulls_last);
static int compare_structs(const array *l, size_t i, const array *r, size_t j, bool nulls_last);

/* Months first, then days, then nanoseconds: one does not become the other. */
static int compare_intervals(const array *l, size_t i, const array *r, size_t j) {
  const interval a = interval_load((const uint8_t *)l->values + i * sizeof a);
  const interval b = interval_load((const uint8_t *)r->values + j * sizeof b);
  if (a.months != b.months || a.days != b.days) {
    return a.months != b.months ? ORDER(a.months, b.months) : ORDER(a.days, b.days);
  }
  return ORDER(a.nanos, b.nanos);
}

/* Types are nested at most LIMIT_TYPE_DEPTH deep, so the recursion below is bounded. */
int compare_values_nulls(const array *l, size_t i, const array *r, size_t j, bool nulls_last) {
  switch (l->type->kind) {
  case TYPE_BOOL:
    return (int)array_bool(l, i) - (int)array_bool(r, j);
  case TYPE_INT8:
    return ORDER(ARRAY_VALUES(l, int8_t)[i], ARRAY_VALUES(r, int8_t)[j]);
  case TYPE_INT16:
    return ORDER(ARRAY_VALUES(l, int16_t)[i], ARRAY_VALUES(r, int16_t)[j]);
  case TYPE_INT32:
  case TYPE_DATE32:
  case TYPE_TIME32:
    return ORDER(ARRAY_VALUES(l, int32_t)[i], ARRAY_VALUES(r, int32_t)[j]);
  case TYPE_INT64:
  case TYPE_DATE64:
  case TYPE_TIME64:
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    return ORDER(ARRAY_VALUES(l, int64_t)[i], ARRAY_VALUES(r, int64_t)[j]);
  case TYPE_UINT8:
    return ORDER(ARRAY_VALUES(l, uint8_t)[i], ARRAY_VALUES(r, uint8_t)[j]);
  case TYPE_UINT16:
    return ORDER(ARRAY_VALUES(l, uint16_t)[i], ARRAY_VALUES(r, uint16_t)[j]);
  case TYPE_UINT32:
    return ORDER(ARRAY_VALUES(l, uint32_t)[i], ARRAY_VALUES(r, uint32_t)[j]);
  case TYPE_UINT64:
    return ORDER(ARRAY_VALUES(l, uint64_t)[i], ARRAY_VALUES(r, uint64_t)[j]);
  case TYPE_FLOAT16:
    return ORDER(order16(ARRAY_VALUES(l, int16_t)[i]), order16(ARRAY_VALUES(r, int16_t)[j]));
  case TYPE_FLOAT32:
    return ORDER(order32(ARRAY_VALUES(l, int32_t)[i]), order32(ARRAY_VALUES(r, int32_t)[j]));
  case TYPE_FLOAT64:
    return ORDER(order64(ARRAY_VALUES(l, int64_t)[i]), order64(ARRAY_VALUES(r, int64_t)[j]));
  case TYPE_DECIMAL128: {
    const int128 a = int128_load((const uint8_t *)l->values + 16 * i);
    const int128 b = int128_load((const uint8_t *)r->values + 16 * j);
    return ORDER(a, b);
  }
  case TYPE_DECIMAL256: {
    const uint8_t *a = (const uint8_t *)l->values + 32 * i;
    const uint8_t *b = (const uint8_t *)r->values + 32 * j;
    const int128 ah = int128_load(a + 16);
    const int128 bh = int128_load(b + 16);
    return ah != bh ? ORDER(ah, bh) : ORDER((uint128)int128_load(a), (uint128)int128_load(b));
  }
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
  case TYPE_BINARY:
  case TYPE_LARGE_BINARY:
  case TYPE_BINARY_VIEW:
    return str_compare(array_str(l, i), array_str(r, j));
  case TYPE_FIXED_SIZE_BINARY: {
    const size_t width = (size_t)l->type->width;
    return memcmp((const uint8_t *)l->values + width * i, (const uint8_t *)r->values + width * j,
                  width);
  }
  case TYPE_LIST:
  case TYPE_LARGE_LIST:
  case TYPE_FIXED_SIZE_LIST:
  case TYPE_MAP: /* as a list of its entries */
    return compare_lists(l, i, r, j, nulls_last);
  case TYPE_STRUCT:
    return compare_structs(l, i, r, j, nulls_last);
  case TYPE_DICTIONARY:
    return compare_dictionaries(l, i, r, j, nulls_last);
  case TYPE_INTERVAL_MONTH_DAY_NANO:
    return compare_intervals(l, i, r, j);
  case TYPE_NONE:
  case TYPE_NULL:
    return 0;
  }
  return 0;
}

/* A null inside a nested value equals a null and is less than any value. */
static int compare_inner(const array *l, size_t i, const array *r, size_t j, bool nulls_last) {
  const bool lv = array_is_valid(l, i);
  const bool rv = array_is_valid(r, j);
  const int order = (int)lv - (int)rv;
  return lv && rv ? compare_values_nulls(l, i, r, j, nulls_last) : nulls_last ? -order : order;
}

static int compare_dictionaries(const array *l, size_t i, const array *r, size_t j,
                                bool nulls_last) {
  return compare_inner(&l->children[0], array_dictionary_index(l, i), &r->children[0],
                       array_dictionary_index(r, j), nulls_last);
}

static int compare_lists(const array *l, size_t i, const array *r, size_t j, bool nulls_last) {
  size_t lf = 0;
  size_t rf = 0;
  const size_t lc = array_list_items(l, i, &lf);
  const size_t rc = array_list_items(r, j, &rf);
  for (size_t k = 0; k < lc && k < rc; k++) {
    const int order = compare_inner(&l->children[0], lf + k, &r->children[0], rf + k, nulls_last);
    if (order != 0) {
      return order;
    }
  }
  return ORDER(lc, rc);
}

static int compare_structs(const array *l, size_t i, const array *r, size_t j, bool nulls_last) {
  for (size_t k = 0; k < l->child_count && k < r->child_count; k++) {
    const int order = compare_inner(&l->children[k], i, &r->children[k], j, nulls_last);
    if (order != 0) {
      return order;
    }
  }
  return 0;
}
