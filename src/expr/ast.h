/**
 * @file ast.h
 * The syntax tree of an SQL expression: what the parser makes, what the planner and the printer
 * read. Every construct of the grammar has a node, also those that no planner accepts, so that a
 * refusal can name it.
 *
 * All nodes, arrays and decoded texts live in the arena given to ast_parse and never change
 * afterwards; texts that needed no decoding point into the source text, which must outlive the
 * tree.
 *
 * Depth: chains that lean to the left (`a + b + c`, `x[1][2]`, `x::INT::INT`, `x IS NULL IS NULL`)
 * may be of any length: walk them with ast_spine. AND and OR chains are one node each. All other
 * nesting is bounded by the depth limit of ast_parse (at most three nodes for each level of it).
 */
#ifndef GLAIVE_EXPR_AST_H
#define GLAIVE_EXPR_AST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

/** How a name part was written. */
enum ast_quote {
  AST_BARE,     /* word */
  AST_BACKTICK, /* `word` */
  AST_DOUBLE,   /* "word" where EXPR_DQUOTE_IDENTIFIER is set; means the same as AST_BACKTICK */
  AST_SINGLE    /* 'word' as a later part of a path: st.'x' */
};

typedef struct ast_name {
  str text; /* decoded, case as written */
  enum ast_quote quote;
} ast_name;

/* `c0`, `c1`: child[0], child[1]; "N": the flag AST_NOT is possible. */
enum ast_kind {
  /* leaves */
  AST_COLUMN,    /* names: word, a.b.c */
  AST_NUMBER,    /* text: digits as written, without the suffix L */
  AST_STRING,    /* text: decoded */
  AST_HEX,       /* text: the digits of 0x1F, x'1F' as written */
  AST_BOOL,      /* op: 0 or 1 */
  AST_NULL,      /* */
  AST_ODD_VALUE, /* text: the token as written: a parameter (?1, $a, :a) or a string of a kind
                    without meaning (N'..', B'..', R'..', $$..$$): refused, `unsupported literal` */
  AST_WILDCARD,  /* `*` as an argument; names not empty: `t.*` as an argument */
  AST_SUBQUERY,  /* text: the source within the parentheses; it has been scanned, not parsed */

  /* operators */
  AST_UNARY,       /* op: enum ast_unary; c0 */
  AST_BINARY,      /* op: enum ast_binary; c0 op c1; left-associative */
  AST_AND,         /* c0 AND c1 AND ..., at least 2; none of them AST_AND, but for c0 in
                      parentheses (AST_PAREN) */
  AST_OR,          /* likewise */
  AST_PAREN,       /* ( c0 ) */
  AST_TUPLE,       /* ( c0, c1, ... ), at least 2 */
  AST_IS,          /* N; c0 IS op: enum ast_is */
  AST_IS_DISTINCT, /* N; c0 IS [NOT] DISTINCT FROM c1 */
  AST_IN,          /* N; c0 IN (c1, ...), at least one item */
  AST_IN_SUBQUERY, /* N; c0 IN (c1: AST_SUBQUERY); AST_KEYWORD: c0 IN UNNEST(c1) */
  AST_BETWEEN,     /* N; c0 BETWEEN c1 AND c2 */
  AST_LIKE, /* N; op: enum ast_like; c0 LIKE c1; AST_HAS_ESCAPE: text (with AST_KEYWORD: no string);
               AST_ANY: LIKE ANY */
  AST_MEMBER_OF,    /* c0 MEMBER OF (c1) */
  AST_QUANTIFIED,   /* c0 op ANY(c1): op: enum ast_binary; AST_ALL for ALL */
  AST_COLLATE,      /* c0 COLLATE names */
  AST_AT_TIME_ZONE, /* c0 AT TIME ZONE c1 */
  AST_SUBSCRIPT,    /* c0[c1] */
  AST_SLICE,        /* c0[c1:c2:c3]; c1, c2, c3 may be NULL (the only children that may) */
  AST_FIELD,        /* c0.names[0] where c0 is not a plain path: (st).x, lst[1].a */
  AST_EXISTS,       /* N; EXISTS (c0: AST_SUBQUERY) */

  /* forms with words */
  AST_TYPED_STRING, /* type text: DATE '2021-01-02'; op 1: written {ts '..'} */
  AST_INTERVAL,     /* INTERVAL c0 [names[0] = unit in capitals]; text: what follows the unit
                       (`TO MONTH`, precisions), usually empty */
  AST_CASE,         /* CASE [c0] WHEN THEN ... [ELSE last] END; AST_HAS_OPERAND, AST_HAS_ELSE */
  AST_CAST,         /* op: enum ast_cast; c0; type */
  AST_CONVERT,      /* CONVERT(c0, type) or CONVERT(c0 USING names) */
  AST_EXTRACT,      /* EXTRACT(names[0] FROM c0), field in capitals unless quoted */
  AST_CEIL,         /* CEIL(c0 [TO names[0]] | c0, c1) */
  AST_FLOOR,        /* likewise */
  AST_POSITION,     /* POSITION(c0 IN c1) */
  AST_SUBSTRING,    /* op: 0 SUBSTRING, 1 SUBSTR; c0 [FROM c1] [FOR c2]; AST_HAS_FROM, AST_HAS_FOR
                       tell which children follow; AST_COMMA: written with commas */
  AST_TRIM,         /* op: enum ast_trim; TRIM(.. c0), AST_HAS_FROM: TRIM(c1 FROM c0) */
  AST_OVERLAY,      /* OVERLAY(c0 PLACING c1 FROM c2 [FOR c3]) */
  AST_ARRAY,        /* [c0, ...]; AST_KEYWORD: ARRAY[..] */
  AST_DICTIONARY,   /* MAP {c0: c1, ...}: keys and values in turn */
  AST_CALL,         /* names(c0, ...); more in `call` */
  AST_NAMED_ARG     /* names[0] => c0; as an argument only */
};

enum ast_unary { AST_MINUS, AST_PLUS, AST_UNARY_NOT, AST_TILDE };

/** X(name, canonical spelling) */
#define AST_BINARY_MAP(X)                                                                          \
  X(AST_ADD, "+")                                                                                  \
  X(AST_SUB, "-")                                                                                  \
  X(AST_MUL, "*")                                                                                  \
  X(AST_DIV, "/")                                                                                  \
  X(AST_MOD, "%")                                                                                  \
  X(AST_EQ, "=")                                                                                   \
  X(AST_NE, "<>")                                                                                  \
  X(AST_LT, "<")                                                                                   \
  X(AST_LE, "<=")                                                                                  \
  X(AST_GT, ">")                                                                                   \
  X(AST_GE, ">=")                                                                                  \
  X(AST_CONCAT, "||")                                                                              \
  X(AST_SHL, "<<")                                                                                 \
  X(AST_SHR, ">>")                                                                                 \
  X(AST_BIT_AND, "&")                                                                              \
  X(AST_BIT_OR, "|")                                                                               \
  X(AST_BIT_XOR, "^")                                                                              \
  X(AST_XOR, "XOR")                                                                                \
  X(AST_SPACESHIP, "<=>")                                                                          \
  X(AST_INT_DIV, "//")                                                                             \
  X(AST_REGEX, "~")                                                                                \
  X(AST_REGEX_I, "~*")                                                                             \
  X(AST_NOT_REGEX, "!~")                                                                           \
  X(AST_NOT_REGEX_I, "!~*")                                                                        \
  X(AST_LIKE_OP, "~~")                                                                             \
  X(AST_ILIKE_OP, "~~*")                                                                           \
  X(AST_NOT_LIKE_OP, "!~~")                                                                        \
  X(AST_NOT_ILIKE_OP, "!~~*")                                                                      \
  X(AST_STARTS_WITH, "^@")                                                                         \
  X(AST_OVERLAP, "&&")                                                                             \
  X(AST_ARROW, "->")                                                                               \
  X(AST_LONG_ARROW, "->>")                                                                         \
  X(AST_HASH_ARROW, "#>")                                                                          \
  X(AST_HASH_LONG_ARROW, "#>>")                                                                    \
  X(AST_CONTAINS, "@>")                                                                            \
  X(AST_CONTAINED, "<@")                                                                           \
  X(AST_ASSIGN, ":=")                                                                              \
  X(AST_OVERLAPS, "OVERLAPS")                                                                      \
  X(AST_BINARY_OTHER, "") /* an operator of other dialects; text: as written */

enum ast_binary {
#define AST_BINARY_ENUM(name, spelling) name,
  AST_BINARY_MAP(AST_BINARY_ENUM)
#undef AST_BINARY_ENUM
};

enum ast_is { AST_IS_NULL, AST_IS_TRUE, AST_IS_FALSE, AST_IS_UNKNOWN, AST_IS_NORMALIZED };
enum ast_like { AST_OP_LIKE, AST_OP_ILIKE, AST_OP_SIMILAR, AST_OP_RLIKE, AST_OP_REGEXP };
enum ast_cast { AST_CAST_PLAIN, AST_CAST_TRY, AST_CAST_SAFE, AST_CAST_COLONS };
enum ast_trim { AST_TRIM_PLAIN, AST_TRIM_BOTH, AST_TRIM_LEADING, AST_TRIM_TRAILING };

enum ast_flag {
  AST_NOT = 1u << 0,
  AST_HAS_OPERAND = 1u << 1,
  AST_HAS_ELSE = 1u << 2,
  AST_HAS_ESCAPE = 1u << 3,
  AST_HAS_FROM = 1u << 4,
  AST_HAS_FOR = 1u << 5,
  AST_COMMA = 1u << 6,
  AST_KEYWORD = 1u << 7,
  AST_ANY = 1u << 8, /* with AST_KEYWORD: written SOME */
  AST_ALL = 1u << 9
};

/** A type as written. */
enum ast_zone { AST_ZONE_NONE, AST_ZONE_WITH, AST_ZONE_WITHOUT, AST_ZONE_TZ /* TIMESTAMPTZ */ };
typedef struct ast_type {
  str name;   /* known types: in capitals, one space between words: `BIGINT`, `DOUBLE PRECISION`;
                 others as written */
  bool known; /* a type that SQL names; else a user-defined one */
  bool is_unsigned;
  enum ast_zone zone;
  unsigned number_count; /* (p), (p, s); numbers beyond these are dropped from `number` only */
  int64_t number[2];     /* saturated to the range of int64 */
  const struct ast_type *element; /* name is `[]`: array of this type, e.g. INT[] or ARRAY<INT> */
  str canonical;  /* the whole type as it is printed: `DECIMAL(10,2)`, `TIMESTAMP(3) WITH TIME ZONE`
                   */
  uint32_t begin; /* as in ast */
  uint32_t end;
} ast_type;

struct ast_call;

typedef struct ast {
  enum ast_kind kind;
  unsigned op;    /* see the kind */
  unsigned flags; /* enum ast_flag */
  uint32_t begin; /* byte offset of the first token in the source text */
  uint32_t end;   /* byte offset behind the last token */
  uint32_t child_count;
  uint32_t name_count;
  uint32_t spine; /* number of steps of ast_spine below this node: 0 for a leaf */
  const struct ast *const *child;
  const ast_name *names;
  str text;
  const ast_type *type;
  const struct ast_call *call; /* AST_CALL only, never NULL there */
} ast;

typedef struct ast_order {
  const ast *key;
  bool descending;
  bool has_nulls; /* NULLS FIRST or LAST is written */
  bool nulls_first;
} ast_order;

/** What a call has besides its arguments. */
typedef struct ast_call {
  bool distinct;
  bool has_parentheses; /* false: CURRENT_DATE and the like without () */
  bool ignore_nulls;    /* IGNORE NULLS, in or behind the parentheses */
  bool respect_nulls;
  bool over;              /* OVER: a window call; the window itself is scanned only */
  str window;             /* source text behind OVER: a name or `(...)` */
  const ast *filter;      /* FILTER (WHERE ..) or NULL */
  const ast_order *order; /* ORDER BY in the parentheses, or of WITHIN GROUP */
  size_t order_count;
  bool within_group;
} ast_call;

/** A flag of ast_parse besides those of expr.h: FILTER behind a call and IGNORE NULLS within it are
 * syntax (queries with GROUP BY; nowhere else). */
#define AST_PARSE_AGGREGATES (1u << 16)

/**
 * Parse one expression.
 *
 * @param text      UTF-8; must outlive the tree; at most LIMIT_SQL_BYTES.
 * @param flags     EXPR_DQUOTE_IDENTIFIER of expr/expr.h, AST_PARSE_AGGREGATES; others are ignored.
 * @param max_depth LIMIT_SQL_DEPTH or LIMIT_SQL_VIEW_DEPTH.
 * Errors: GLV_E_SQL_PARSE with `line L, column C`; GLV_E_LIMIT (text too long); GLV_E_NOMEM.
 */
glv_status ast_parse(arena *a, str text, unsigned flags, size_t max_depth, const ast **ret,
                     glv_error *err);

/**
 * The nodes from the left-most operand to node itself: ret[0] has no left operand,
 * ret[i]->child[0] == ret[i - 1], ret[*ret_count - 1] == node. Passes over a tree loop over these
 * instead of recursing into child[0], and recurse into the other children only, whose depth is
 * limited. (Only operators that can chain have a left operand in this sense; a call, CASE, array,
 * parenthesis, AND, OR or prefix operator is the first node of its spine and all its children are
 * "others".)
 * Errors: GLV_E_NOMEM.
 */
glv_status ast_spine(arena *a, const ast *node, const ast ***ret, size_t *ret_count,
                     glv_error *err);
/** True iff child[0] of node is its left operand in the sense of ast_spine. */
bool ast_has_left(const ast *node);

/** The source text of a node. */
static inline str ast_source(const ast *node, str text) {
  return str_slice(text.data + node->begin, node->end - node->begin);
}
/** node without the parentheses around it. */
const ast *ast_strip(const ast *node);
/** Spelling of an enum ast_binary. */
const char *ast_binary_text(unsigned op);

/** Append the canonical rendering (15.3) of a node, for messages and stored texts. */
glv_status ast_print(const ast *node, buf *out, glv_error *err);

#endif
