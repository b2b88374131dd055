/* Evaluating paths: each step turns a list of values into another. The steps of one search are
 * counted, because steps that look at everything below multiply. */
#include "base/error.h"
#include "base/limits.h"
#include "expr/json_path_private.h"

/* Values looked at in one search. */
#define SELECT_STEPS 2000000u

typedef struct search {
  glv_env *env;
  jsonb root;
  unsigned steps;
} search;

/* What a condition is: not known when values cannot be compared. */
enum verdict { NO, YES, UNKNOWN };

void json_matches_init(json_matches *m, glv_env *env) { *m = (json_matches){.env = env}; }

void json_matches_dispose(json_matches *m) {
  mem_free(m->env, m->items);
  m->items = NULL;
  m->count = m->capacity = 0;
}

static glv_status corrupt(glv_error *err) {
  return FAIL(err, GLV_E_SQL_EXEC,
              "Failed to select by a JSON path: the value is not well-formed in its binary form");
}

static glv_status count_step(search *s, glv_error *err) {
  if (++s->steps > SELECT_STEPS) {
    return FAIL(err, GLV_E_SQL_EXEC, "a JSON path looks at more than %u values", SELECT_STEPS);
  }
  return GLV_OK;
}

static glv_status add(json_matches *m, const jsonb *v, glv_error *err) {
  TRY(vec_reserve(m->env, &m->items, &m->capacity, m->count + 1, sizeof *m->items, err));
  m->items[m->count++] = *v;
  return GLV_OK;
}

/* ---- steps ---- */

/* All items of an array or values of an object. */
static glv_status add_all(search *s, const jsonb *v, json_matches *out, glv_error *err) {
  jsonb_walk w;
  if (!jsonb_walk_begin(v, &w)) {
    return corrupt(err);
  }
  for (;;) {
    str key;
    jsonb item;
    bool end;
    TRY(count_step(s, err));
    if (!jsonb_walk_next(&w, &key, &item, &end)) {
      return corrupt(err);
    }
    if (end) {
      return GLV_OK;
    }
    TRY(add(out, &item, err));
  }
}

static int64_t place_of(const path_index *i, uint32_t count) {
  return i->from_last ? (int64_t)count - 1 + i->value : i->value;
}

/* Items of an array from the first to the last index. */
static glv_status add_range(search *s, const jsonb *v, const path_range *r, json_matches *out,
                            glv_error *err) {
  jsonb_walk w;
  int64_t first = place_of(&r->first, v->count);
  int64_t last = r->is_single ? first : place_of(&r->last, v->count);
  if (r->is_single && first < 0) {
    return GLV_OK;
  }
  first = first < 0 ? 0 : first;
  last = last >= (int64_t)v->count ? (int64_t)v->count - 1 : last;
  if (first > last) {
    return GLV_OK;
  }
  if (!jsonb_walk_begin(v, &w)) {
    return corrupt(err);
  }
  for (int64_t i = 0; i <= last; i++) {
    str key;
    jsonb item;
    bool end;
    TRY(count_step(s, err));
    if (!jsonb_walk_next(&w, &key, &item, &end)) {
      return corrupt(err);
    }
    if (i >= first) {
      TRY(add(out, &item, err));
    }
  }
  return GLV_OK;
}

/* v, at a level, and everything below it. */
static glv_status add_below(search *s, const path_step *step, const jsonb *v, unsigned level,
                            json_matches *out, glv_error *err) {
  jsonb_walk w;
  TRY(count_step(s, err));
  if (level > step->last_level) {
    return GLV_OK;
  }
  if (level > LIMIT_JSONB_DEPTH) {
    return FAIL(err, GLV_E_SQL_EXEC, "a JSON value is nested more than %d deep", LIMIT_JSONB_DEPTH);
  }
  if (level >= step->level) {
    TRY(add(out, v, err));
  }
  if (!jsonb_walk_begin(v, &w)) {
    return corrupt(err);
  }
  for (;;) {
    str key;
    jsonb item;
    bool end;
    if (!jsonb_walk_next(&w, &key, &item, &end)) {
      return corrupt(err);
    }
    if (end) {
      return GLV_OK;
    }
    TRY(add_below(s, step, &item, level + 1, out, err));
  }
}

static glv_status add_member(const path_step *step, const jsonb *v, json_matches *out,
                             glv_error *err) {
  jsonb member;
  bool found;
  if (!jsonb_member(v, step->key, &member, &found)) {
    return corrupt(err);
  }
  return found ? add(out, &member, err) : GLV_OK;
}

static glv_status evaluate(search *s, const path_condition *c, const jsonb *current,
                           enum verdict *ret, glv_error *err);

static glv_status apply(search *s, const path_step *step, const jsonb *v, json_matches *out,
                        glv_error *err) {
  enum verdict verdict = NO;
  TRY(count_step(s, err));
  switch (step->kind) {
  case STEP_MEMBER:
    return add_member(step, v, out, err);
  case STEP_ALL_MEMBERS:
    return v->kind == JSONB_OBJECT ? add_all(s, v, out, err) : GLV_OK;
  case STEP_ALL_ITEMS:
    return v->kind == JSONB_ARRAY ? add_all(s, v, out, err) : add(out, v, err);
  case STEP_RECURSIVE:
    return add_below(s, step, v, 0, out, err);
  case STEP_ITEMS:
    for (size_t i = 0; v->kind == JSONB_ARRAY && i < step->range_count; i++) {
      TRY(add_range(s, v, &step->ranges[i], out, err));
    }
    return GLV_OK;
  case STEP_FILTER:
    break;
  }
  TRY(evaluate(s, step->condition, v, &verdict, err));
  return verdict == YES ? add(out, v, err) : GLV_OK;
}

/* What the steps lead to from v. */
static glv_status follow(search *s, const path_step *steps, const jsonb *v, json_matches *ret,
                         glv_error *err) {
  CLEANUP(json_matches_dispose) json_matches next;
  json_matches_init(&next, s->env);
  ret->count = 0;
  TRY(add(ret, v, err));
  for (; steps != NULL; steps = steps->next) {
    next.count = 0;
    for (size_t i = 0; i < ret->count; i++) {
      TRY(apply(s, steps, &ret->items[i], &next, err));
    }
    const json_matches swapped = *ret;
    *ret = next;
    next = swapped;
  }
  return GLV_OK;
}

/* ---- conditions ---- */

/* A value that is compared. */
typedef struct scalar {
  jsonb v;
  jsonb_number number;
} scalar;

static bool scalar_of(const jsonb *v, scalar *ret) {
  ret->v = *v;
  return v->kind != JSONB_NUMBER || jsonb_number_of(v, &ret->number);
}

static bool is_bool(const scalar *s) { return s->v.kind == JSONB_TRUE || s->v.kind == JSONB_FALSE; }

/* Whether there is an order between the two. */
static bool compare_scalars(const scalar *a, const scalar *b, int *ret) {
  if (is_bool(a) && is_bool(b)) {
    *ret = (int)a->v.kind - (int)b->v.kind;
    return true;
  }
  if (a->v.kind != b->v.kind) {
    return false;
  }
  switch (a->v.kind) {
  case JSONB_NULL:
    *ret = 0;
    return true;
  case JSONB_NUMBER:
    *ret = jsonb_number_compare(&a->number, &b->number);
    return true;
  case JSONB_STRING:
    *ret = str_compare(a->v.data, b->v.data);
    return true;
  default:
    return false;
  }
}

static enum verdict compare(enum path_operator op, const scalar *a, const scalar *b) {
  int order = 0;
  if (a->v.kind >= JSONB_ARRAY || b->v.kind >= JSONB_ARRAY) {
    return UNKNOWN;
  }
  if (op == PATH_STARTS_WITH) {
    return a->v.kind != JSONB_STRING || b->v.kind != JSONB_STRING ? UNKNOWN
           : str_starts_with(a->v.data, b->v.data)                ? YES
                                                                  : NO;
  }
  if (!compare_scalars(a, b, &order)) {
    return op == PATH_NE ? YES : UNKNOWN;
  }
  switch (op) {
  case PATH_EQ:
    return order == 0 ? YES : NO;
  case PATH_NE:
    return order != 0 ? YES : NO;
  case PATH_LT:
    return order < 0 ? YES : NO;
  case PATH_LE:
    return order <= 0 ? YES : NO;
  case PATH_GT:
    return order > 0 ? YES : NO;
  default:
    return order >= 0 ? YES : NO;
  }
}

/* The values of an operand; arrays among them stand for their items, and what only other programs
 * write is left out. */
static glv_status operand_values(search *s, const path_operand *o, const jsonb *current,
                                 json_matches *ret, glv_error *err) {
  CLEANUP(json_matches_dispose) json_matches found;
  json_matches_init(&found, s->env);
  ret->count = 0;
  TRY(follow(s, o->steps, o->from_root ? &s->root : current, &found, err));
  for (size_t i = 0; i < found.count; i++) {
    if (found.items[i].kind == JSONB_ARRAY) {
      TRY(add_all(s, &found.items[i], ret, err));
    } else {
      TRY(add(ret, &found.items[i], err));
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < ret->count; i++) {
    if (ret->items[i].kind != JSONB_EXTENSION) {
      ret->items[kept++] = ret->items[i];
    }
  }
  ret->count = kept;
  return GLV_OK;
}

/* Value i of an operand: of its list, or the one that is written. */
static bool operand_value(const path_operand *o, const json_matches *values, size_t i,
                          scalar *ret) {
  if (o->is_path) {
    return scalar_of(&values->items[i], ret);
  }
  *ret = (scalar){o->value, o->number};
  return true;
}

/* Yes for the first pair that fits, unknown for the first that cannot be compared. */
static glv_status compare_all(search *s, const path_condition *c, const jsonb *current,
                              enum verdict *ret, glv_error *err) {
  CLEANUP(json_matches_dispose) json_matches left;
  CLEANUP(json_matches_dispose) json_matches right;
  json_matches_init(&left, s->env);
  json_matches_init(&right, s->env);
  if (c->left.is_path) {
    TRY(operand_values(s, &c->left, current, &left, err));
  }
  if (c->right.is_path) {
    TRY(operand_values(s, &c->right, current, &right, err));
  }
  const size_t left_count = c->left.is_path ? left.count : 1;
  const size_t right_count = c->right.is_path ? right.count : 1;
  *ret = NO;
  for (size_t i = 0; i < left_count; i++) {
    for (size_t k = 0; k < right_count; k++) {
      scalar a;
      scalar b;
      TRY(count_step(s, err));
      if (!operand_value(&c->left, &left, i, &a) || !operand_value(&c->right, &right, k, &b)) {
        return corrupt(err);
      }
      *ret = compare(c->op, &a, &b);
      if (*ret != NO) {
        return GLV_OK;
      }
    }
  }
  return GLV_OK;
}

static glv_status exists(search *s, const path_operand *o, const jsonb *current, enum verdict *ret,
                         glv_error *err) {
  CLEANUP(json_matches_dispose) json_matches found;
  json_matches_init(&found, s->env);
  TRY(follow(s, o->steps, o->from_root ? &s->root : current, &found, err));
  *ret = found.count > 0 ? YES : NO;
  return GLV_OK;
}

/* Both sides are looked at; what is not known makes the whole unknown. */
static glv_status evaluate_junction(search *s, const path_condition *c, const jsonb *current,
                                    enum verdict *ret, glv_error *err) {
  enum verdict right = NO;
  TRY(evaluate(s, c->a, current, ret, err));
  TRY(evaluate(s, c->b, current, &right, err));
  if (*ret == UNKNOWN || right == UNKNOWN) {
    *ret = UNKNOWN;
  } else {
    const bool both = *ret == YES && right == YES;
    const bool any = *ret == YES || right == YES;
    *ret = (c->op == PATH_AND ? both : any) ? YES : NO;
  }
  return GLV_OK;
}

static glv_status evaluate(search *s, const path_condition *c, const jsonb *current,
                           enum verdict *ret, glv_error *err) {
  switch (c->op) {
  case PATH_AND:
  case PATH_OR:
    return evaluate_junction(s, c, current, ret, err);
  case PATH_EXISTS:
    return exists(s, &c->left, current, ret, err);
  default:
    return compare_all(s, c, current, ret, err);
  }
}

glv_status json_path_select(const json_path *p, str document, json_matches *ret, glv_error *err) {
  static const enum jsonb_kind KINDS[] = {
      [NO] = JSONB_FALSE, [YES] = JSONB_TRUE, [UNKNOWN] = JSONB_NULL};
  search s = {.env = ret->env};
  ret->count = 0;
  if (!jsonb_open(document, &s.root)) {
    return corrupt(err);
  }
  if (p->condition == NULL) {
    return follow(&s, p->steps, &s.root, ret, err);
  }
  enum verdict verdict = NO;
  TRY(evaluate(&s, p->condition, &s.root, &verdict, err));
  return add(ret, &(jsonb){.kind = KINDS[verdict]}, err);
}
