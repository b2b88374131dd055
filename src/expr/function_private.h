/**
 * @file function_private.h
 * The families of functions behind function_find, and what their bind calls share.
 */
#ifndef GLAIVE_EXPR_FUNCTION_PRIVATE_H
#define GLAIVE_EXPR_FUNCTION_PRIVATE_H

#include "arrow/builder.h"
#include "expr/function.h"
#include "expr/kernel.h"

/** A table of functions, ended by an entry without name. */
extern const function functions_case[];        /* fn_case.c: upper lower initcap reverse */
extern const function functions_length[];      /* fn_length.c: length octet_length bit_length */
extern const function functions_trim[];        /* fn_trim.c: trim ltrim rtrim */
extern const function functions_slice[];       /* fn_slice.c: substr left right lpad rpad repeat */
extern const function functions_concat[];      /* fn_concat.c: concat concat_ws */
extern const function functions_search[];      /* fn_search.c: strpos contains replace ... */
extern const function functions_token[];       /* fn_token.c: contains_tokens */
extern const function functions_character[];   /* fn_character.c: ascii chr to_hex */
extern const function functions_edit[];        /* fn_edit.c: translate overlay */
extern const function functions_levenshtein[]; /* fn_levenshtein.c */
extern const function functions_digest[];      /* fn_digest.c: md5 sha256 digest ... */
extern const function functions_encode[];      /* fn_encode.c: encode decode */
extern const function functions_system[];      /* fn_system.c: uuid version */
extern const function functions_json[];        /* fn_json.c: json_extract json_get ... */
extern const function functions_regexp[];      /* fn_regexp.c: regexp_like regexp_replace */
extern const function functions_regexp_find[]; /* fn_regexp_find.c: regexp_count _instr _match */
extern const function functions_math[];        /* fn_math.c: sqrt exp ln sin atan2 pi random ... */
extern const function functions_power[];       /* fn_power.c: log power */
extern const function functions_number[];      /* fn_number.c: abs nanvl isnan iszero */
extern const function functions_integer[];     /* fn_integer.c: gcd lcm factorial */
extern const function functions_round[];       /* fn_round.c: round trunc ceil floor */
extern const function functions_date_part[];   /* fn_date_part.c */
extern const function functions_date_trunc[];  /* fn_date_trunc.c */
extern const function functions_date_bin[];    /* fn_date_bin.c */
extern const function functions_date[];        /* fn_date.c: make_date to_char */
extern const function functions_time[];        /* fn_time.c: make_time to_time now ... */
extern const function functions_timestamp[];   /* fn_timestamp.c: to_timestamp and its kin */
extern const function functions_vector[];      /* fn_vector.c: distances */
extern const function functions_struct[];      /* fn_struct.c: named_struct struct */
extern const function functions_list_access[]; /* fn_list_access.c: array_element array_slice ... */
extern const function functions_list_make[];   /* fn_list_make.c: make_array array_append ... */
extern const function functions_list_measure[]; /* fn_list_measure.c: array_length empty ... */
extern const function functions_list_order[];   /* fn_list_order.c: array_sort array_max ... */
extern const function functions_list_range[];   /* fn_list_range.c: range generate_series */
extern const function functions_list_set[];     /* fn_list_set.c: array_union array_has_all ... */
extern const function functions_map[];          /* fn_map.c: map map_keys ... */
extern const function functions_list_search[];  /* fn_list_search.c: array_has array_remove ... */
extern const function functions_list_shape[];   /* fn_list_shape.c: flatten arrays_zip ... */
extern const function functions_list_text[];    /* fn_list_text.c: array_to_string ... */
extern const function functions_condition[];    /* fn_condition.c: nullif greatest least */
extern const function functions_arrow[];        /* fn_arrow.c: arrow_typeof */
extern const function functions_later[];        /* fn_later.c: names without an implementation */

/** The natural logarithm. That of a negative number is a positive NaN as in the reference (logf has
 * a negative one in both): comparisons tell them apart. */
double positive_log(double x);

/** The number of arguments is in [least, most]. Errors: GLV_E_SQL_PLAN. */
glv_status bind_count(const function_binding *b, size_t least, size_t most, glv_error *err);
/** `Function 'f' requires <wanted>, but received <type>`. @return GLV_E_SQL_PLAN. */
glv_status bind_refuse(const function_binding *b, size_t i, const char *wanted, glv_error *err);
/** Argument i is a string and keeps its type; a dictionary of strings and an untyped NULL become
 * utf8_view. */
glv_status bind_string(function_binding *b, size_t i, glv_error *err);
/** All arguments are strings. */
glv_status bind_strings(function_binding *b, glv_error *err);
/** Argument i is a string, as above, or binary and keeps its type. */
glv_status bind_string_or_binary(function_binding *b, size_t i, glv_error *err);
/** Argument i is an integer and becomes int64. */
glv_status bind_int64(function_binding *b, size_t i, glv_error *err);
/** Argument i becomes type t if it can be cast. */
glv_status bind_castable(function_binding *b, size_t i, const type *t, const char *wanted,
                         glv_error *err);
/** Argument i is a number and becomes a float: float32 stays, all others become float64. */
glv_status bind_float(function_binding *b, size_t i, glv_error *err);
/** Whether an argument is an untyped NULL. */
bool bind_is_null(const function_binding *b, size_t i);

#define SIGNATURE_MAX 6
/** Kinds of arguments, ended by TYPE_NONE when there are fewer. */
typedef struct signature {
  type_kind kinds[SIGNATURE_MAX];
} signature;
/**
 * The arguments take the types of a signature: of the first one that they have as they are, else of
 * the first one that they can be coerced to. Every number becomes float64, integers but uint64
 * int64, any type that has a cast a string; a string becomes utf8_view, but nothing else does.
 */
glv_status bind_signature(function_binding *b, const signature *list, size_t count, glv_error *err);
/** The same with signatures that have one kind for all arguments. */
glv_status bind_variadic(function_binding *b, const type_kind *kinds, size_t count, glv_error *err);

/** How the type of a string result follows from that of the first argument. */
enum text_result {
  TEXT_LIKE_FIRST,   /* the same */
  TEXT_LARGE_OR_UTF8 /* large_utf8 stays, everything else gives utf8 */
};
/** The result type; the targets are known. */
const type *bind_text_result(const function_binding *b, enum text_result rule);
/** int64 where the first target is large_utf8, else int32. */
const type *bind_position_result(const function_binding *b);

/** Where the values of a string or binary column go, and room for one that is being made. */
typedef struct text_writer {
  builder b;
  buf scratch; /* empty at the beginning of a row; at most 2^31 - 1 bytes */
} text_writer;

/** Appends exactly one value. Errors: as function_kernel. */
typedef glv_status (*text_row)(const function_frame *f, const operand *arguments, size_t i,
                               text_writer *w, glv_error *err);

/** A column of the type of the result: null where an argument is null, else what row appends. */
glv_status function_text_rows(const function_frame *f, const operand *arguments, size_t rows,
                              text_row row, array *ret, glv_error *err);

/* fn_decimal.c: functions whose first argument is a decimal. Their results have the type of it, but
 * for round, whose bind sets it. Errors: GLV_E_SQL_EXEC when a value leaves its type. */
glv_status decimal_abs(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                       glv_error *err);
glv_status decimal_ceil(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                        glv_error *err);
glv_status decimal_floor(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err);
/** The places, if any, are int32. */
glv_status decimal_round(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err);
glv_status decimal_bind_round(function_binding *b, glv_error *err);
/** The exponent is int64 or float64. */
glv_status decimal_power(const function_frame *f, const operand *arguments, size_t rows, array *ret,
                         glv_error *err);

typedef double (*math_map64)(double x);
typedef float (*math_map32)(float x);
/** One float column mapped to one of the same type; null where it is null. */
glv_status function_map_floats(const function_frame *f, const operand *o, math_map64 wide,
                               math_map32 narrow, size_t rows, array *ret, glv_error *err);

#endif
