/*
 * Common sub-expressions: equal sub-trees of a plan become one node, so that evaluation can keep
 * its value instead of computing it again.
 *
 * The tree is walked from the leaves up. Children are shared before their parents, so two nodes are
 * equal when their heads are and their children are the same nodes. Which nodes have several
 * parents is known afterwards; these get a place in the memo of an evaluation, unless they cost
 * nothing or differ from run to run. Left-leaning chains are walked in a loop, everything else
 * recurses as deep as the parser allowed.
 */
#include "base/hash.h"
#include "expr/plan_private.h"

/* Most nodes of a plan that are kept: evaluation recurses once more for each that stands in the
 * chain of another one, and holds all values until its end. */
enum { MOST_SHARED = 64 };

typedef struct sharing {
  planner *p;
  const node **table; /* the node for all equal ones; NULL = free */
  size_t mask;
} sharing;

static size_t count_nodes(const node *n) {
  size_t count = 1;
  for (;; n = n->child[0], count++) {
    const size_t left = n->spine != 0 ? 1 : 0;
    for (size_t i = left; i < n->child_count; i++) {
      count += count_nodes(n->child[i]);
    }
    if (left == 0) {
      return count;
    }
  }
}

static uint64_t hash_constant(const array *a) {
  if (!array_is_valid(a, 0)) {
    return 1;
  }
  if (type_is_string(a->type->kind) || type_is_binary(a->type->kind)) {
    const str text = array_str(a, 0);
    return hash_bytes(text.data, text.size);
  }
  const size_t width = a->type->kind == TYPE_DICTIONARY ? 0 : type_width(a->type);
  return width != 0 ? hash_bytes(a->values, width) : (uint64_t)a->type->kind;
}

/* Of what makes two nodes equal, or most of it. */
static uint64_t hash_node(const node *n) {
  const uint64_t head[] = {(uint64_t)n->kind,
                           n->op,
                           (uint64_t)n->negated << 1 | n->has_operand,
                           n->index,
                           n->call != NULL ? (uint64_t)(uintptr_t)n->call->function : 0,
                           n->constant != NULL ? hash_constant(n->constant) : 0};
  const uint64_t children = hash_bytes(n->child, n->child_count * sizeof(node *));
  return hash_bytes(head, sizeof head) ^ children * UINT64_C(0x9E3779B97F4A7C15);
}

static bool is_same(const node *a, const node *b) {
  return a == b || (!a->is_volatile && node_head_equal(a, b) &&
                    (a->child_count == 0 ||
                     memcmp(a->child, b->child, a->child_count * sizeof(node *)) == 0));
}

/* The planner owns its nodes; only their users must not change them. */
static node *writable(const node *n) { return (node *)(uintptr_t)n; }

/* The node that stands for all that equal n, whose children are shared already. */
static const node *one_of(sharing *s, const node *n) {
  size_t at = (size_t)hash_node(n) & s->mask;
  while (s->table[at] != NULL) {
    if (is_same(s->table[at], n)) {
      return s->table[at];
    }
    at = (at + 1) & s->mask;
  }
  s->table[at] = n;
  for (size_t i = 0; i < n->child_count; i++) {
    writable(n->child[i])->parents++;
  }
  return n;
}

/* Replaces *at and everything below it. */
static glv_status share_tree(sharing *s, const node **at, glv_error *err) {
  const size_t spine = (*at)->spine;
  const node ***places = ARENA_ARRAY(s->p->arena, const node **, spine + 1);
  if (places == NULL) {
    return error_nomem(err, spine * sizeof *places);
  }
  places[0] = at;
  for (size_t i = 0; i < spine; i++) {
    places[i + 1] = &(*places[i])->child[0];
  }
  for (size_t i = spine + 1; i-- > 0;) {
    const node *n = *places[i];
    for (size_t k = i < spine ? 1 : 0; k < n->child_count; k++) {
      TRY(share_tree(s, &n->child[k], err));
    }
    *places[i] = one_of(s, n);
  }
  return GLV_OK;
}

static bool is_worth_keeping(const node *n) {
  return n->parents > 1 && !n->is_volatile && n->kind != NODE_COLUMN && n->kind != NODE_CONSTANT &&
         n->kind != NODE_FIELD;
}

glv_status plan_share(planner *p, const node **root, glv_error *err) {
  size_t size = 8;
  for (const size_t count = count_nodes(*root); size < 2 * count; size *= 2) {
  }
  sharing s = {p, ARENA_ARRAY(p->arena, const node *, size), size - 1};
  if (s.table == NULL) {
    return error_nomem(err, size * sizeof(node *));
  }
  TRY(share_tree(&s, root, err));
  for (size_t i = 0; i < size && p->plan->shared_count < MOST_SHARED; i++) {
    if (s.table[i] != NULL && is_worth_keeping(s.table[i])) {
      writable(s.table[i])->memo = (uint32_t)++p->plan->shared_count;
    }
  }
  return GLV_OK;
}
