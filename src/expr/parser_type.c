/*
 * Types as SQL writes them (section 11.1), with the canonical spelling that the reference prints.
 *
 * A table says which names are types and what may follow each. Any other name is a user-defined
 * type, with words, numbers and strings in parentheses behind it; planners refuse those by name.
 */
#include <inttypes.h>

#include "expr/parser_private.h"

/* What may follow the first word of a type. */
enum type_form {
  FORM_PLAIN,
  FORM_LENGTH, /* (n) */
  FORM_CHARS,  /* (n [CHARACTERS | OCTETS]) or (MAX) */
  FORM_NUMBER, /* (p [, [-]s]) */
  FORM_ZONE    /* (p) [WITH | WITHOUT TIME ZONE] */
};

struct type_name {
  const char *word;      /* as read, in capitals */
  const char *canonical; /* as printed */
  enum type_form form;
  bool takes_unsigned;
};

/* In ascending order of the word. */
static const struct type_name TYPES[] = {
    {"BIGDECIMAL", "BIGDECIMAL", FORM_NUMBER, false},
    {"BIGINT", "BIGINT", FORM_LENGTH, true},
    {"BIGNUMERIC", "BIGNUMERIC", FORM_NUMBER, false},
    {"BINARY", "BINARY", FORM_LENGTH, false},
    {"BIT", "BIT", FORM_LENGTH, false},
    {"BLOB", "BLOB", FORM_LENGTH, false},
    {"BOOL", "BOOL", FORM_PLAIN, false},
    {"BOOLEAN", "BOOLEAN", FORM_PLAIN, false},
    {"BYTEA", "BYTEA", FORM_PLAIN, false},
    {"BYTES", "BYTES", FORM_LENGTH, false},
    {"CHAR", "CHAR", FORM_CHARS, false},
    {"CHARACTER", "CHARACTER", FORM_CHARS, false},
    {"CLOB", "CLOB", FORM_LENGTH, false},
    {"DATE", "DATE", FORM_PLAIN, false},
    {"DATE32", "Date32", FORM_PLAIN, false},
    {"DATETIME", "DATETIME", FORM_LENGTH, false},
    {"DEC", "DEC", FORM_NUMBER, true},
    {"DECIMAL", "DECIMAL", FORM_NUMBER, true},
    {"DOUBLE", "DOUBLE", FORM_NUMBER, true},
    {"FLOAT", "FLOAT", FORM_NUMBER, true},
    {"FLOAT32", "Float32", FORM_PLAIN, false},
    {"FLOAT4", "FLOAT4", FORM_PLAIN, false},
    {"FLOAT64", "FLOAT64", FORM_PLAIN, false},
    {"FLOAT8", "FLOAT8", FORM_PLAIN, false},
    {"HUGEINT", "HUGEINT", FORM_PLAIN, false},
    {"INT", "INT", FORM_LENGTH, true},
    {"INT128", "Int128", FORM_PLAIN, false},
    {"INT16", "Int16", FORM_PLAIN, false},
    {"INT2", "INT2", FORM_LENGTH, true},
    {"INT256", "Int256", FORM_PLAIN, false},
    {"INT32", "Int32", FORM_PLAIN, false},
    {"INT4", "INT4", FORM_LENGTH, true},
    {"INT64", "INT64", FORM_PLAIN, false},
    {"INT8", "INT8", FORM_LENGTH, true},
    {"INTEGER", "INTEGER", FORM_LENGTH, true},
    {"INTERVAL", "INTERVAL", FORM_PLAIN, false},
    {"JSON", "JSON", FORM_PLAIN, false},
    {"JSONB", "JSONB", FORM_PLAIN, false},
    {"LONGBLOB", "LONGBLOB", FORM_PLAIN, false},
    {"LONGTEXT", "LONGTEXT", FORM_PLAIN, false},
    {"MEDIUMBLOB", "MEDIUMBLOB", FORM_PLAIN, false},
    {"MEDIUMINT", "MEDIUMINT", FORM_LENGTH, true},
    {"MEDIUMTEXT", "MEDIUMTEXT", FORM_PLAIN, false},
    {"NUMERIC", "NUMERIC", FORM_NUMBER, false},
    {"NVARCHAR", "NVARCHAR", FORM_CHARS, false},
    {"REAL", "REAL", FORM_PLAIN, true},
    {"REGCLASS", "REGCLASS", FORM_PLAIN, false},
    {"SIGNED", "SIGNED", FORM_PLAIN, false},
    {"SMALLINT", "SMALLINT", FORM_LENGTH, true},
    {"STRING", "STRING", FORM_LENGTH, false},
    {"TEXT", "TEXT", FORM_PLAIN, false},
    {"TIME", "TIME", FORM_ZONE, false},
    {"TIMESTAMP", "TIMESTAMP", FORM_ZONE, false},
    {"TIMESTAMPTZ", "TIMESTAMPTZ", FORM_LENGTH, false},
    {"TIMESTAMP_NTZ", "TIMESTAMP_NTZ", FORM_LENGTH, false},
    {"TIMETZ", "TIMETZ", FORM_LENGTH, false},
    {"TINYBLOB", "TINYBLOB", FORM_PLAIN, false},
    {"TINYINT", "TINYINT", FORM_LENGTH, true},
    {"TINYTEXT", "TINYTEXT", FORM_PLAIN, false},
    {"UBIGINT", "UBIGINT", FORM_PLAIN, false},
    {"UHUGEINT", "UHUGEINT", FORM_PLAIN, false},
    {"UINT128", "UInt128", FORM_PLAIN, false},
    {"UINT16", "UInt16", FORM_PLAIN, false},
    {"UINT256", "UInt256", FORM_PLAIN, false},
    {"UINT32", "UInt32", FORM_PLAIN, false},
    {"UINT64", "UInt64", FORM_PLAIN, false},
    {"UINT8", "UInt8", FORM_PLAIN, false},
    {"UNSIGNED", "UNSIGNED", FORM_PLAIN, false},
    {"USMALLINT", "USMALLINT", FORM_PLAIN, false},
    {"UTINYINT", "UTINYINT", FORM_PLAIN, false},
    {"UUID", "UUID", FORM_PLAIN, false},
    {"VARBINARY", "VARBINARY", FORM_CHARS, false},
    {"VARBIT", "VARBIT", FORM_LENGTH, false},
    {"VARCHAR", "VARCHAR", FORM_CHARS, false},
};

/* Two-word types: the second word may follow the first. */
static const struct {
  const char *first;
  const char *second;
  enum type_form form;
} PAIRS[] = {{"DOUBLE", "PRECISION", FORM_PLAIN},  {"CHAR", "VARYING", FORM_CHARS},
             {"CHARACTER", "VARYING", FORM_CHARS}, {"BIT", "VARYING", FORM_LENGTH},
             {"SIGNED", "INTEGER", FORM_PLAIN},    {"UNSIGNED", "INTEGER", FORM_PLAIN}};

static const struct type_name *find_type(const parser *p) {
  if (p->at.tok.kind != TOKEN_WORD) {
    return NULL;
  }
  const str word = token_source(&p->at.lex, &p->at.tok);
  size_t low = 0;
  size_t high = sizeof TYPES / sizeof TYPES[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = token_compare(word, TYPES[middle].word);
    if (order == 0) {
      return &TYPES[middle];
    }
    if (order > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

bool parser_at_type(const parser *p) {
  return find_type(p) != NULL || (parser_at(p, KW_ARRAY) && token_is_op(&p->at.next, OP_LT));
}

/* A type under construction. */
struct builder {
  parser *p;
  ast_type *t;
  buf canonical;
};

static glv_status take_number(struct builder *b, bool takes_sign, glv_error *err) {
  parser *p = b->p;
  const bool is_negative = takes_sign && token_is_op(&p->at.tok, OP_MINUS);
  if (is_negative || (takes_sign && token_is_op(&p->at.tok, OP_PLUS))) {
    parser_advance(p);
  }
  uint64_t value;
  if (p->at.tok.kind != TOKEN_NUMBER || !str_to_u64(token_source(&p->at.lex, &p->at.tok), &value)) {
    return parser_expected(p, "a whole number", err);
  }
  parser_advance(p);
  const int64_t magnitude = value > INT64_MAX ? INT64_MAX : (int64_t)value;
  if (b->t->number_count < 2) {
    b->t->number[b->t->number_count] = is_negative ? -magnitude : magnitude;
  }
  b->t->number_count++;
  return buf_printf(&b->canonical, err, "%s%" PRIu64, is_negative ? "-" : "", value);
}

/* (n), (p, s), (n CHARACTERS), (MAX) as the form allows; nothing if no parenthesis follows. */
static glv_status take_numbers(struct builder *b, enum type_form form, glv_error *err) {
  parser *p = b->p;
  if (form == FORM_PLAIN || !parser_accept_char(p, '(')) {
    return GLV_OK;
  }
  TRY(buf_append_char(&b->canonical, '(', err));
  if (form == FORM_CHARS && parser_at_text(p, "MAX")) {
    parser_advance(p);
    TRY(buf_append_str(&b->canonical, STR("MAX"), err));
  } else {
    TRY(take_number(b, false, err));
  }
  if (form == FORM_NUMBER && parser_accept_char(p, ',')) {
    TRY(buf_append_char(&b->canonical, ',', err));
    TRY(take_number(b, true, err));
  }
  if (form == FORM_CHARS && (parser_at_text(p, "CHARACTERS") || parser_at_text(p, "OCTETS"))) {
    TRY(buf_append_str(&b->canonical,
                       parser_at_text(p, "OCTETS") ? STR(" OCTETS") : STR(" CHARACTERS"), err));
    parser_advance(p);
  }
  TRY(parser_expect_char(p, ')', err));
  return buf_append_char(&b->canonical, ')', err);
}

/* [WITH | WITHOUT TIME ZONE] */
static glv_status take_zone(struct builder *b, glv_error *err) {
  parser *p = b->p;
  const bool is_with = parser_at(p, KW_WITH);
  if (!is_with && !parser_at_text(p, "WITHOUT")) {
    return GLV_OK;
  }
  parser_advance(p);
  TRY(parser_expect(p, KW_TIME, "TIME ZONE", err));
  TRY(parser_expect(p, KW_ZONE, "ZONE after TIME", err));
  b->t->zone = is_with ? AST_ZONE_WITH : AST_ZONE_WITHOUT;
  return buf_append_str(&b->canonical, is_with ? STR(" WITH TIME ZONE") : STR(" WITHOUT TIME ZONE"),
                        err);
}

/* The second word of a two-word type, appended to the name. */
static glv_status take_second_word(struct builder *b, enum type_form *form, glv_error *err) {
  parser *p = b->p;
  for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++) {
    if (str_is(b->t->name, PAIRS[i].first) && parser_at_text(p, PAIRS[i].second)) {
      parser_advance(p);
      char *name = arena_printf(p->a, "%s %s", PAIRS[i].first, PAIRS[i].second);
      if (name == NULL) {
        return error_nomem(err, 0);
      }
      b->t->name = str_of(name);
      *form = PAIRS[i].form;
      buf_clear(&b->canonical);
      return buf_append_str(&b->canonical, b->t->name, err);
    }
  }
  return GLV_OK;
}

static glv_status known_type(struct builder *b, const struct type_name *name, glv_error *err) {
  parser *p = b->p;
  parser_advance(p);
  b->t->known = true;
  b->t->name = str_of(name->word);
  TRY(buf_append_str(&b->canonical, str_of(name->canonical), err));
  enum type_form form = name->form;
  TRY(take_second_word(b, &form, err));
  TRY(take_numbers(b, form, err));
  if (form == FORM_ZONE) {
    TRY(take_zone(b, err));
  }
  if (str_ends_with(b->t->name, STR("TZ")) && !str_is(b->t->name, "TIMESTAMP_NTZ")) {
    b->t->name.size -= 2;
    b->t->zone = AST_ZONE_TZ;
  }
  if (name->takes_unsigned && parser_at_text(p, "UNSIGNED")) {
    parser_advance(p);
    b->t->is_unsigned = true;
    TRY(buf_append_str(&b->canonical, STR(" UNSIGNED"), err));
  }
  return GLV_OK;
}

/* name [(modifiers)] */
static glv_status custom_type(struct builder *b, glv_error *err) {
  parser *p = b->p;
  const ast_name *names;
  uint32_t count;
  const uint32_t begin = p->at.tok.begin;
  TRY(parser_path(p, &names, &count, err));
  b->t->name = str_slice(p->text.data + begin, p->at.last_end - begin);
  if (parser_accept_char(p, '(')) {
    while (!parser_at_char(p, ')')) {
      if (!parser_at_word(p) && p->at.tok.kind != TOKEN_NUMBER && p->at.tok.kind != TOKEN_STRING &&
          !parser_at_char(p, ',')) {
        return parser_expected(p, "modifiers of a type", err);
      }
      parser_advance(p);
    }
    parser_advance(p);
  }
  return buf_append_str(&b->canonical, str_slice(p->text.data + begin, p->at.last_end - begin),
                        err);
}

static glv_status array_type(struct builder *b, size_t depth, glv_error *err);

static glv_status any_type(parser *p, size_t depth, const ast_type **ret, glv_error *err) {
  if (!parser_at_word(p)) {
    return parser_expected(p, "a type", err);
  }
  struct builder b = {.p = p, .t = ARENA_NEW(p->a, ast_type)};
  if (b.t == NULL) {
    return error_nomem(err, sizeof *b.t);
  }
  buf_init(&b.canonical, p->a->env, p->text.size * 2 + 64);
  b.t->begin = p->at.tok.begin;
  const struct type_name *name = find_type(p);
  glv_status status;
  if (parser_at(p, KW_ARRAY) && token_is_op(&p->at.next, OP_LT)) {
    status = array_type(&b, depth, err);
  } else {
    status = name != NULL ? known_type(&b, name, err) : custom_type(&b, err);
  }
  if (status == GLV_OK) {
    char *canonical = arena_strdup(p->a, buf_str(&b.canonical));
    b.t->canonical = str_slice(canonical, b.canonical.size);
    b.t->end = p->at.last_end;
    status = canonical != NULL ? GLV_OK : error_nomem(err, b.canonical.size);
  }
  buf_dispose(&b.canonical);
  *ret = b.t;
  return status;
}

/* ARRAY<type> */
static glv_status array_type(struct builder *b, size_t depth, glv_error *err) {
  parser *p = b->p;
  if (depth == 0) {
    p->is_too_deep = true;
    return parser_fail(p, &p->at.tok, err, "type nested too deeply");
  }
  parser_advance(p);
  parser_advance(p);
  b->t->known = true;
  b->t->name = STR("[]");
  TRY(any_type(p, depth - 1, &b->t->element, err));
  if (!token_is_op(&p->at.tok, OP_GT)) {
    return parser_expected(p, "`>`", err);
  }
  parser_advance(p);
  return buf_printf(&b->canonical, err, "ARRAY<%.*s>", STR_ARG(b->t->element->canonical));
}

glv_status parser_type(parser *p, const ast_type **ret, glv_error *err) {
  return any_type(p, p->max_depth, ret, err);
}

glv_status parser_try_type(parser *p, const ast_type **ret, glv_error *err) {
  *ret = NULL;
  const glv_status status = parser_type(p, ret, NULL);
  if (status == GLV_OK) {
    return GLV_OK;
  }
  *ret = NULL;
  return status == GLV_E_SQL_PARSE ? GLV_OK : error_set(err, status, "no memory for a type");
}
