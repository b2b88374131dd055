/**
 * @file json_path_private.h
 * Parsed paths.
 */
#ifndef GLAIVE_EXPR_JSON_PATH_PRIVATE_H
#define GLAIVE_EXPR_JSON_PATH_PRIVATE_H

#include "expr/json_path.h"

/** An index, or one counted from the last item. */
typedef struct path_index {
  int32_t value;
  bool from_last;
} path_index;

typedef struct path_range {
  path_index first;
  path_index last; /* inclusive */
  bool is_single;  /* first alone */
} path_range;

enum step_kind {
  STEP_MEMBER,      /* key */
  STEP_ALL_MEMBERS, /* .* */
  STEP_ALL_ITEMS,   /* [*] */
  STEP_ITEMS,       /* ranges */
  STEP_RECURSIVE,   /* .** between level and last_level */
  STEP_FILTER       /* condition */
};

typedef struct path_step {
  enum step_kind kind;
  str key;
  path_range *ranges;
  size_t range_count;
  unsigned level;
  unsigned last_level; /* inclusive; UINT_MAX = no end */
  const struct path_condition *condition;
  struct path_step *next;
} path_step;

/** What is compared: the values of a path from $ or @, or one that is written. */
typedef struct path_operand {
  bool is_path;
  bool from_root; /* else from @ */
  const path_step *steps;
  jsonb value; /* a number is in `number` */
  jsonb_number number;
} path_operand;

enum path_operator {
  PATH_EQ,
  PATH_NE,
  PATH_LT,
  PATH_LE,
  PATH_GT,
  PATH_GE,
  PATH_STARTS_WITH,
  PATH_EXISTS, /* left */
  PATH_AND,    /* of conditions */
  PATH_OR
};

typedef struct path_condition {
  enum path_operator op;
  path_operand left;
  path_operand right;
  const struct path_condition *a;
  const struct path_condition *b;
} path_condition;

struct json_path {
  glv_env *env; /* borrowed */
  arena arena;
  const path_step *steps;
  const path_condition *condition; /* the whole path is one; else NULL */
};

#endif
