/**
 * @file function_private.h
 * The families of functions behind function_find, and what their bind calls share.
 */
#ifndef GLAIVE_EXPR_FUNCTION_PRIVATE_H
#define GLAIVE_EXPR_FUNCTION_PRIVATE_H

#include "expr/function.h"
#include "expr/kernel.h"

/** A table of functions, ended by an entry without name. */
extern const function functions_case[];      /* fn_case.c: upper lower initcap reverse */
extern const function functions_length[];    /* fn_length.c: length octet_length bit_length */
extern const function functions_trim[];      /* fn_trim.c: trim ltrim rtrim */
extern const function functions_slice[];     /* fn_slice.c: substr left right lpad rpad repeat */
extern const function functions_concat[];    /* fn_concat.c: concat concat_ws */
extern const function functions_search[];    /* fn_search.c: strpos contains replace ... */
extern const function functions_token[];     /* fn_token.c: contains_tokens */
extern const function functions_regexp[];    /* fn_regexp.c */
extern const function functions_math[];      /* fn_math.c */
extern const function functions_round[];     /* fn_round.c: round trunc ceil floor */
extern const function functions_date_part[]; /* fn_date_part.c: date_part, date_trunc */
extern const function functions_date[];      /* fn_date.c: make_date to_date to_char now ... */
extern const function functions_timestamp[]; /* fn_timestamp.c: to_timestamp and its kin */
extern const function functions_vector[];    /* fn_vector.c: distances */
extern const function functions_condition[]; /* fn_condition.c: nullif greatest least */
extern const function functions_arrow[];     /* fn_arrow.c: arrow_cast arrow_typeof ... */
extern const function functions_later[];     /* fn_later.c: names without an implementation */

/** The number of arguments is in [least, most]. Errors: GLV_E_SQL_PLAN. */
glv_status bind_count(const function_binding *b, size_t least, size_t most, glv_error *err);
/** `Function 'f' requires <wanted>, but received <type>`. @return GLV_E_SQL_PLAN. */
glv_status bind_refuse(const function_binding *b, size_t i, const char *wanted, glv_error *err);
/** Argument i is a string: it keeps its type (untyped NULL: utf8). */
glv_status bind_string(function_binding *b, size_t i, glv_error *err);
/** Argument i is a string, or a number, boolean, date, timestamp or binary as text. */
glv_status bind_text(function_binding *b, size_t i, glv_error *err);
/** Argument i is an integer and becomes int64. */
glv_status bind_int64(function_binding *b, size_t i, glv_error *err);
/** Argument i becomes type t if it can be cast. */
glv_status bind_castable(function_binding *b, size_t i, const type *t, const char *wanted,
                         glv_error *err);
/** Whether an argument is an untyped NULL. */
bool bind_is_null(const function_binding *b, size_t i);

/** How the type of a string result follows from that of the first argument (section 13). */
enum text_result {
  TEXT_LIKE_FIRST,   /* utf8 and large_utf8 stay, other strings give utf8_view, the rest utf8 */
  TEXT_LARGE_OR_UTF8 /* large_utf8 stays, everything else gives utf8 */
};
/** The result type; text is argument 0 as it was written. */
const type *bind_text_result(const function_binding *b, enum text_result rule);
/** int64 for large_utf8, else int32. */
const type *bind_position_result(const function_binding *b);

#endif
