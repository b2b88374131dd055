/* Lists, structs and maps in expressions: the texts of values are those of DataFusion 54. */
#include <stdio.h>

#include "unit/expr/sql_text.h"

static const struct sql_case CASES[] = {
    {"[1, NULL, 3]", "[1, , 3]"},
    {"[[1], [2, 3], NULL, []]", "[[1], [2, 3], , []]"},
    {"['a', NULL, '']", "[a, , ]"},
    {"[1, 2.5]", "[1.0, 2.5]"},
    {"[true, NULL]", "[true, ]"},
    {"make_array()", "[]"},
    {"make_array(1, NULL)", "[1, ]"},
    {"[1, 2, 3][1]", "1"},
    {"[1, 2, 3][-1]", "3"},
    {"[1, 2, 3][0]", "NULL"},
    {"[1, 2, 3][4]", "NULL"},
    {"[1, 2, 3][-4]", "NULL"},
    {"['a', 'b'][2]", "b"},
    {"[[1], [2, 3]][2][1]", "2"},
    {"[1, 2, 3, 4, 5][2:3]", "[2, 3]"},
    {"[1, 2, 3, 4, 5][0:2]", "[1, 2]"},
    {"[1, 2, 3, 4, 5][-2:-1]", "[4, 5]"},
    {"[1, 2, 3, 4, 5][4:2]", "[]"},
    {"[1, 2, 3, 4, 5][1:5:2]", "[1, 3, 5]"},
    {"[1, 2, 3, 4, 5][5:1:-2]", "[5, 3, 1]"},
    {"[1, 2, 3, 4, 5][-10:2]", "[1, 2]"},
    {"[1, 2, 3, 4, 5][2:10]", "[2, 3, 4, 5]"},
    {"array_slice([1, 2, 3], NULL, 2)", "NULL"},
    {"named_struct('a', 1, 'b', 'x')['b']", "x"},
    {"named_struct('a', named_struct('b', 5))['a']['b']", "5"},
    {"get_field(named_struct('a', named_struct('b', 5)), 'a', 'b')", "5"},
    {"struct(1, 'x')['c1']", "x"},
    {"row(1, 2)['c0']", "1"},
    {"[named_struct('a', 1), named_struct('a', 2)][2]['a']", "2"},
    {"[1, 2] = [1, 2]", "true"},
    {"[1, 2] = [1, NULL]", "false"},
    {"[1, NULL] = [1, NULL]", "true"},
    {"[1, NULL] < [1, 2]", "true"},
    {"[1] < [1, 2]", "true"},
    {"[2] > [1, 5]", "true"},
    {"[] < [1]", "true"},
    {"[1, 2] IN ([1], [1, 2])", "true"},
    {"[1, 2] BETWEEN [1] AND [2]", "true"},
    {"[1, 2] IS DISTINCT FROM [1, 2]", "false"},
    {"named_struct('a', 1, 'b', 2) = named_struct('a', 1, 'b', 2)", "true"},
    {"named_struct('a', 1, 'b', 2) < named_struct('a', 1, 'b', 3)", "true"},
    {"greatest([1, 2], [1, 3])", "[1, 3]"},
    {"least([1, 2], [1, NULL])", "[1, 2]"},
    {"least([1, 2], [1])", "[1]"},
    {"nullif([1], [1])", "NULL"},
    {"nullif([1], [2])", "[1]"},
    {"arrow_typeof(nullif([arrow_cast('a', 'Dictionary(Int32, Utf8)')], ['b']))",
     "List(Dictionary(Int32, Utf8))"},
    {"coalesce(NULL, [1], [2])", "[1]"},
    {"CASE WHEN true THEN [1] ELSE [2.5] END", "[1.0]"},
    {"array_length([1, 2, 3])", "3"},
    {"array_length([[1, 2], [3]], 2)", "2"},
    {"array_length([], 1)", "0"},
    {"array_length([1], 2)", "NULL"},
    {"array_length([1], 0)", "NULL"},
    {"cardinality([[1, 2], [3, 4]])", "4"},
    {"cardinality([])", "0"},
    {"array_ndims([[[1]]])", "3"},
    {"array_dims([[1, 2, 3], [4, 5, 6]])", "[2, 3]"},
    {"array_dims([])", "NULL"},
    {"empty([])", "true"},
    {"empty([NULL])", "false"},
    {"array_has([1, 2], 2)", "true"},
    {"array_has([1, NULL], 2)", "false"},
    {"array_has(make_array(1, NULL), NULL)", "NULL"},
    {"array_has(['a', 'b'], 'c')", "false"},
    {"array_has([[1], [2]], [2])", "true"},
    {"array_has_all([1, 2, 3], [1, 3])", "true"},
    {"array_has_all([1, 2, 3], [1, 4])", "false"},
    {"array_has_all([1, 2], [])", "true"},
    {"array_has_all([1, NULL], [NULL])", "true"},
    {"array_has_any([1, 2], [2, 3])", "true"},
    {"array_has_any([1, 2], [3, 4])", "false"},
    {"array_has_any([1, 2], [])", "false"},
    {"array_has_any(['a', NULL], [NULL, 'b'])", "true"},
    {"[1, 2, 3] @> [1]", "true"},
    {"[1] <@ [1, 2, 3]", "true"},
    {"array_position([1, 2, 1], 1)", "1"},
    {"array_position([1, 2, 1], 1, 2)", "3"},
    {"array_position([1, 2], 3)", "NULL"},
    {"array_position([1, NULL], NULL)", "2"},
    {"array_positions([1, 2, 1], 1)", "[1, 3]"},
    {"array_positions([1, NULL, NULL], NULL)", "[2, 3]"},
    {"array_append([1, 2], 3)", "[1, 2, 3]"},
    {"array_append(NULL, 3)", "[3]"},
    {"array_append([1], NULL)", "[1, ]"},
    {"array_append([1], 2.5)", "[1.0, 2.5]"},
    {"array_append([[1]], [2, 3])", "[[1], [2, 3]]"},
    {"array_prepend(0, [1, 2])", "[0, 1, 2]"},
    {"array_prepend([0], [[1]])", "[[0], [1]]"},
    {"array_concat([1], [2, 3], [])", "[1, 2, 3]"},
    {"array_concat([[1]], [2])", "[[1], [2]]"},
    {"array_concat([1], [2.5])", "[1.0, 2.5]"},
    {"array_remove([1, 2, 1], 1)", "[2, 1]"},
    {"array_remove([1, NULL, 2], 1)", "[, 2]"},
    {"array_remove_n([1, 1, 1, 2], 1, 2)", "[1, 2]"},
    {"array_remove_n([1, 1], 1, -1)", "[1, 1]"},
    {"array_remove_all([1, 2, 1], 1)", "[2]"},
    {"array_remove([1, 2], NULL)", "NULL"},
    {"array_remove([[1], [2]], [1])", "[[2]]"},
    {"array_replace([1, 2, 1], 1, 9)", "[9, 2, 1]"},
    {"array_replace_n([1, 1, 1], 1, 9, 2)", "[9, 9, 1]"},
    {"array_replace_all([1, 2, 1], 1, 9)", "[9, 2, 9]"},
    {"array_replace_all([1, NULL], NULL, 0)", "[1, 0]"},
    {"array_replace([[1], [2]], [1], [3])", "[[3], [2]]"},
    {"array_repeat('a', 3)", "[a, a, a]"},
    {"array_repeat([1, 2], 2)", "[[1, 2], [1, 2]]"},
    {"array_repeat(NULL, 2)", "[, ]"},
    {"array_repeat(1, 0)", "[]"},
    {"array_repeat(1, -1)", "[]"},
    {"array_repeat(1, NULL)", "NULL"},
    {"array_resize([1, 2, 3], 2)", "[1, 2]"},
    {"array_resize([1], 3)", "[1, , ]"},
    {"array_resize([1], 3, 0)", "[1, 0, 0]"},
    {"array_resize([1], 0)", "[]"},
    {"array_reverse([1, 2, 3])", "[3, 2, 1]"},
    {"array_reverse([])", "[]"},
    {"array_pop_back([1, 2, 3])", "[1, 2]"},
    {"array_pop_front([1, 2, 3])", "[2, 3]"},
    {"array_pop_back([])", "[]"},
    {"array_any_value([NULL, 2, 3])", "2"},
    {"array_compact([1, NULL, 2, NULL])", "[1, 2]"},
    {"array_sort([3, 1, NULL, 2])", "[, 1, 2, 3]"},
    {"array_sort([3, 1, NULL, 2], 'DESC')", "[, 3, 2, 1]"},
    {"array_sort([3, 1, NULL, 2], 'ASC', 'NULLS LAST')", "[1, 2, 3, ]"},
    {"array_sort([3, 1, NULL, 2], 'desc', 'nulls last')", "[3, 2, 1, ]"},
    {"array_sort(['b', 'a', NULL, 'é', 'B'])", "[, B, a, b, é]"},
    {"array_sort([[2], [1, 5], NULL, [1]])", "[, [1], [1, 5], [2]]"},
    {"array_sort([2.5, -1.0, 1e300, -1e300])", "[-1e300, -1.0, 2.5, 1e300]"},
    {"array_sort([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 29, 28, "
     "27])",
     "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 27, 28, 29]"},
    {"array_sort([1, 2], NULL)", "NULL"},
    {"array_max([1, 3, NULL])", "3"},
    {"array_min([3, 1, NULL])", "1"},
    {"array_max(['a', 'c', 'b'])", "c"},
    {"array_max([])", "NULL"},
    {"array_max([[1], [1, 2]])", "[1, 2]"},
    {"array_min([1.5, -2.5])", "-2.5"},
    {"array_distinct([1, 2, 1, NULL, NULL])", "[1, 2, ]"},
    {"array_distinct(['a', 'b', 'a'])", "[a, b]"},
    {"array_distinct([[1], [1], [2]])", "[[1], [2]]"},
    {"array_union([1, 2, 2], [2, 3])", "[1, 2, 3]"},
    {"array_intersect([1, 2, 3], [3, 2])", "[2, 3]"},
    {"array_intersect([1], [3, 1, 1, 2])", "[1]"},
    {"array_except([1, 2, 2, 3], [3])", "[1, 2]"},
    {"array_union([1, NULL], [NULL])", "[1, ]"},
    {"array_except([1], NULL)", "NULL"},
    {"flatten([[1, 2], [3]])", "[1, 2, 3]"},
    {"flatten([[[1]], [[2], [3]]])", "[[1], [2], [3]]"},
    {"flatten([1, 2])", "[1, 2]"},
    {"flatten([[1], NULL, [2]])", "[1, 2]"},
    {"array_to_string([1, NULL, 3], ',')", "1,3"},
    {"array_to_string([1, NULL, 3], ',', '?')", "1,?,3"},
    {"array_to_string([[1, 2], [3], NULL], '-', 'n')", "1-2-3-n"},
    {"array_to_string([1.5, 1e21, 1e-7, -0.0], ';')", "1.5;1000000000000000000000;0.0000001;-0"},
    {"array_to_string([true, false], '')", "truefalse"},
    {"array_to_string([], ',')", ""},
    {"string_to_array('a,b,,c', ',')", "[a, b, , c]"},
    {"string_to_array('abc', NULL)", "[a, b, c]"},
    {"string_to_array('abc', '')", "[abc]"},
    {"string_to_array('', ',')", "[]"},
    {"string_to_array('a,b', ',', 'b')", "[a, ]"},
    {"string_to_array('aéb', NULL)", "[a, é, b]"},
    {"string_to_array('a<>b<>', '<>')", "[a, b, ]"},
    {"arrays_zip([1, 2], ['a'])[2]['1']", "2"},
    {"arrays_zip([1, 2], ['a'])[2]['2']", "NULL"},
    {"array_length(arrays_zip([1], [1, 2, 3]))", "3"},
    {"range(5)", "[0, 1, 2, 3, 4]"},
    {"range(2, 5)", "[2, 3, 4]"},
    {"range(1, 10, 4)", "[1, 5, 9]"},
    {"range(5, 1, -2)", "[5, 3]"},
    {"range(5, 1)", "[]"},
    {"range(3, 3)", "[]"},
    {"generate_series(1, 5)", "[1, 2, 3, 4, 5]"},
    {"generate_series(5, 1, -2)", "[5, 3, 1]"},
    {"generate_series(3, 3)", "[3]"},
    {"range(9223372036854775806, 9223372036854775807)", "[9223372036854775806]"},
    {"generate_series(9223372036854775806, 9223372036854775807)",
     "[9223372036854775806, 9223372036854775807]"},
    {"range(-9223372036854775808, -9223372036854775806)",
     "[-9223372036854775808, -9223372036854775807]"},
    {"range(DATE '2021-01-30', DATE '2021-04-01', INTERVAL '1 month')", "[2021-01-30, 2021-02-28]"},
    {"generate_series(DATE '2021-01-05', DATE '2021-01-01', INTERVAL '-2 days')",
     "[2021-01-05, 2021-01-03, 2021-01-01]"},
    {"range(TIMESTAMP '2021-01-01T00:00:00', TIMESTAMP '2021-01-01T03:00:00', INTERVAL '1 hour')",
     "[2021-01-01T00:00:00, 2021-01-01T01:00:00, 2021-01-01T02:00:00]"},
    {"array_normalize([3, 4])", "[0.6, 0.8]"},
    {"array_normalize([0.0, 0.0])", "NULL"},
    {"cosine_distance([1, 0], [0, 1])", "1.0"},
    {"cosine_distance([1, 0], [0, 0])", "NULL"},
    {"cosine_distance([1.0, NULL], [1.0, 1.0])", "NULL"},
    {"inner_product([1, 2], [3, 4])", "11.0"},
    {"array_distance([1, 1], [4, 5])", "5.0"},
    {"array_distance([1, NULL], [4, 5])", "NULL"},
    {"map_keys(map(['a', 'b'], [1, 2]))", "[a, b]"},
    {"map_values(map(['a', 'b'], [1, 2]))", "[1, 2]"},
    {"map_extract(map(['a', 'b'], [1, 2]), 'b')", "[2]"},
    {"map_extract(map(['a', 'b'], [1, 2]), 'c')", "[]"},
    {"map(['a', 'b'], [1, 2])['b']", "2"},
    {"map(['a'], [1])['x']", "NULL"},
    {"cardinality(map(['a', 'b'], [1, 2]))", "2"},
    {"map_entries(map(['a', 'b'], [1, 2]))[2]['key']", "b"},
    {"map(['a'], [[1, 2]])['a']", "[1, 2]"},
    {"CAST([1, NULL] AS STRING)", "[1, ]"},
    {"concat([1, 2], 'y')", "[1, 2]y"},
    {"arrow_cast([1, 2], 'List(Utf8)')", "[1, 2]"},
    {"arrow_cast([1, 2], 'LargeList(Float64)')", "[1.0, 2.0]"},
    {"arrow_cast(5, 'List(Int64)')", "[5]"},
    {"arrow_typeof([1])", "List(Int64)"},
    {"arrow_typeof(named_struct('a', 1, 'b', ['x']))", "Struct(\"a\": Int64, \"b\": List(Utf8))"},
    {"arrow_typeof(map(['a'], [1]))",
     "Map(\"entries\": non-null Struct(\"key\": non-null Utf8, \"value\": Int64), unsorted)"},
    {"arrow_typeof(arrow_cast([1.0, 2.0], 'FixedSizeList(2 x Float32)'))",
     "FixedSizeList(2 x Float32)"},
    {"arrow_typeof([NULL])", "List(Null)"},
    {"arrow_typeof(array_append(arrow_cast([1], 'LargeList(Int32)'), 2))", "LargeList(Int64)"},
    {"array_append(arrow_cast([1], 'LargeList(Int32)'), 2)", "[1, 2]"},
    {"array_sort(arrow_cast([2, 1], 'FixedSizeList(2 x Int32)'))", "[1, 2]"},
    {"array_concat(arrow_cast([1], 'LargeList(Int64)'), [2])", "[1, 2]"},
    {"nvl(NULL, [1])", "[1]"},
    {"arrow_cast(named_struct('a', 1, 'b', 'x'), 'Struct(\"b\": Utf8, \"a\": Utf8)')['a']", "1"},
    {"cast_to_type('7', [1][1])", "7"},
    {"try_cast_to_type('x', 1)", "NULL"},
    {"arrow_typeof(cast_to_type([1], ['a']))", "List(Utf8)"},
    /* operators inside of calls: lists are joined */
    {"coalesce([1] || 2, NULL)", "[1, 2]"},
    {"coalesce(1 || [2], NULL)", "[1, 2]"},
    {"coalesce([1] || [2], NULL)", "[1, 2]"},
    {"coalesce([[1]] || [2], NULL)", "[[1], [2]]"},
    {"coalesce(map([1], ['x'])[1], NULL)", "x"},
    {"CAST([x'01ff', x''] AS STRING)", "[01ff, ]"},
    {"map(['a'], [1]) = map(['a'], [1])", "true"},
    {"map(['a'], [1]) = map(['a'], [2])", "false"},
};

static void values(void **state) {
  (void)state;
  assert_sql_cases(CASES);
}

static const struct sql_failure FAILURES[] = {
    {"array_append(['a'], arrow_cast('b', 'Binary'))", GLV_E_SQL_PLAN},
    {"array_append([arrow_cast('b', 'Binary')], NULL)", GLV_E_SQL_PLAN},
    {"array_concat(['a'], [arrow_cast('b', 'Binary')])", GLV_E_SQL_PLAN},
    {"[1, 2][1.5]", GLV_E_SQL_PLAN},
    {"[1, 2]['a']", GLV_E_SQL_PLAN},
    {"array_element('a', 1)", GLV_E_SQL_PLAN},
    {"array_element([1, 2], 4294967296)", GLV_E_SQL_EXEC},
    {"array_slice([1, 2], 1, 2, 0)", GLV_E_SQL_EXEC},
    {"named_struct('a', 1)['b']", GLV_E_SQL_PLAN},
    {"named_struct('a')", GLV_E_SQL_PLAN},
    {"named_struct('a', 1, 'a', 2)", GLV_E_SQL_PLAN},
    {"struct()", GLV_E_SQL_PLAN},
    {"[1, 'x']", GLV_E_SQL_PLAN},
    {"[1, NULL] = 1", GLV_E_SQL_PLAN},
    {"array_has([1], '1')", GLV_E_SQL_PLAN},
    {"array_append([1], 'x')", GLV_E_SQL_PLAN},
    {"array_concat([1], NULL)", GLV_E_SQL_PLAN},
    {"array_concat()", GLV_E_SQL_EXEC},
    {"array_length(NULL)", GLV_E_SQL_EXEC},
    {"array_max(NULL)", GLV_E_SQL_PLAN},
    {"array_sort([1], 'up')", GLV_E_SQL_EXEC},
    {"array_sort([1], 'ASC', 'nulls')", GLV_E_SQL_EXEC},
    {"array_position([1], 1, 3)", GLV_E_SQL_EXEC},
    {"array_resize([1], -1)", GLV_E_SQL_EXEC},
    {"range(1, 5, 0)", GLV_E_SQL_EXEC},
    {"range(DATE '2021-01-01', DATE '2021-01-05', INTERVAL '1 hour')", GLV_E_SQL_EXEC},
    {"inner_product([1], [1, 2])", GLV_E_SQL_EXEC},
    {"inner_product(['a'], [[1]])", GLV_E_SQL_PLAN},
    {"map_keys(map([1, 1], [2, 3]))", GLV_E_SQL_EXEC},
    {"map_keys(map([1, NULL], [2, 3]))", GLV_E_SQL_EXEC},
    {"map_keys(map([1], [2, 3]))", GLV_E_SQL_EXEC},
    {"map(1, 2)", GLV_E_SQL_PLAN},
    {"map_keys([1])", GLV_E_SQL_PLAN},
    {"arrow_cast([1, 2, 3], 'FixedSizeList(2 x Int64)')", GLV_E_SQL_PLAN},
    {"CAST(named_struct('a', 1) AS STRING)", GLV_E_SQL_PLAN},
    {"arrow_cast(NULL, 'Struct(\"a\": )')", GLV_E_SQL_PLAN},
    {"arrow_cast(NULL, 'Struct(a: Int8)')", GLV_E_SQL_PLAN},
    {"arrow_cast(NULL, 'Struct(\"a\": Int8')", GLV_E_SQL_PLAN},
    {"cast_to_type([1], NULL)", GLV_E_SQL_PLAN},
    /* what would fill the memory */
    {"array_repeat('x', 1000000000000000000)", GLV_E_LIMIT},
    {"range(0, 1000000000000000)", GLV_E_LIMIT},
    {"range(-9223372036854775808, 9223372036854775807)", GLV_E_LIMIT},
    {"generate_series(DATE '1900-01-01', DATE '1899-01-01', INTERVAL '1 month -31 days')",
     GLV_E_SQL_EXEC},
    {"array_resize([1], 9223372036854775807)", GLV_E_LIMIT},
    {"array_resize([[1]], 1000000, range(1000))", GLV_E_LIMIT},
    {"array_repeat(repeat('0123456789', 1000000), 1000000)", GLV_E_LIMIT},
    {"array_repeat(array_repeat(array_repeat(array_repeat(1, 1000), 1000), 1000), 1000)",
     GLV_E_LIMIT},
};

static void failures(void **state) {
  (void)state;
  assert_sql_failures(FAILURES);
}

/* Types that are nested deeper than any table may have. */
static void deep_types(void **state) {
  (void)state;
  enum { DEPTH = 70 };
  sql_text s;
  char text[2 * DEPTH + 2] = {0};
  memset(text, '[', DEPTH);
  text[DEPTH] = '1';
  memset(text + DEPTH + 1, ']', DEPTH);
  sql_text_open(&s);
  assert_sql_fails(&s, text, GLV_E_LIMIT);
  sql_text_close(&s);
}

/* Columns: lists of different lengths, null and empty ones among them. */
static void columns(void **state) {
  (void)state;
  static const char *const rows[] = {"b,a,b", NULL, "", "c", "a,,d"};
  sql_text s;
  sql_text_open(&s);
  sql_text_rows(&s, rows, 5);
#define L "string_to_array(x, ',')"
  assert_sql(&s, L, "[b, a, b]|NULL|[]|[c]|[a, , d]");
  assert_sql(&s, L "[1]", "b|NULL|NULL|c|a");
  assert_sql(&s, L "[-1]", "b|NULL|NULL|c|d");
  assert_sql(&s, "array_length(" L ")", "3|NULL|0|1|3");
  assert_sql(&s, "nullif(" L ", ['c'])", "[b, a, b]|NULL|[]|NULL|[a, , d]");
  assert_sql(&s, "array_append(nullif(" L ", ['c']), 'z')",
             "[b, a, b, z]|[z]|[z]|[c, z]|[a, , d, z]");
  assert_sql(&s, "array_has(" L ", 'a')", "true|NULL|false|false|true");
  assert_sql(&s, "array_has(" L ", substr(x, 1, 1))", "true|NULL|false|true|true");
  assert_sql(&s, "array_has(['a', 'c'], x)", "false|NULL|false|true|false");
  assert_sql(&s, "array_position(" L ", 'b')", "1|NULL|NULL|NULL|NULL");
  assert_sql(&s, "array_positions(" L ", 'b')", "[1, 3]|NULL|[]|[]|[]");
  assert_sql(&s, "array_remove_all(" L ", 'b')", "[a]|NULL|[]|[c]|[a, , d]");
  assert_sql(&s, "array_replace(" L ", 'b', x)", "[b,a,b, a, b]|NULL|[]|[c]|[a, , d]");
  assert_sql(&s, "array_sort(" L ")", "[a, b, b]|NULL|[]|[c]|[, a, d]");
  assert_sql(&s, "array_distinct(" L ")", "[b, a]|NULL|[]|[c]|[a, , d]");
  assert_sql(&s, "array_union(" L ", ['a'])", "[b, a]|NULL|[a]|[c, a]|[a, , d]");
  assert_sql(&s, "array_except(" L ", ['a'])", "[b]|NULL|[]|[c]|[, d]");
  assert_sql(&s, "array_append(" L ", x)", "[b, a, b, b,a,b]|[]|[]|[c, c]|[a, , d, a,,d]");
  assert_sql(&s, "array_concat(" L ", ['z'])", "[b, a, b, z]|[z]|[z]|[c, z]|[a, , d, z]");
  assert_sql(&s, "make_array(x, 'z')", "[b,a,b, z]|[, z]|[, z]|[c, z]|[a,,d, z]");
  assert_sql(&s, "array_max(" L ")", "b|NULL|NULL|c|d");
  assert_sql(&s, "array_append(make_array(" L ", ['z'])[length(x)], 'q')",
             "[q]|[q]|[q]|[c, q]|[q]"); /* nothing lies behind a null list */
  assert_sql(&s, "array_to_string(" L ", '+')", "b+a+b|NULL||c|a++d");
  assert_sql(&s, "array_repeat(x, array_length(" L "))[2]", "b,a,b|NULL|NULL|NULL|a,,d");
  assert_sql(&s, "named_struct('f', x)['f']", "b,a,b|NULL||c|a,,d");
  assert_sql(&s, L " = ['c']", "false|NULL|false|true|false");
  assert_sql(&s, L " IN (['c'], [])", "false|NULL|true|true|false");
  assert_sql(&s, "CASE WHEN x = 'c' THEN " L " ELSE ['n'] END", "[n]|[n]|[n]|[c]|[n]");
  assert_sql(&s, "coalesce(" L ", ['n'])", "[b, a, b]|[n]|[]|[c]|[a, , d]");
  assert_sql(&s, "array_has_all(['a', 'b', 'c'], " L ")", "true|NULL|true|true|false");
  assert_sql(&s, "flatten(make_array(" L ", ['z']))", "[b, a, b, z]|[z]|[z]|[c, z]|[a, , d, z]");
#undef L
  sql_text_close(&s);
}

/* The paths that an expression reads of a struct, and of one in it. */
static void paths(void **state) {
  (void)state;
  static const struct {
    const char *sql;
    const char *paths; /* separated by a space */
  } cases[] = {
      {"st.a + 1", "st.a"},
      {"st['b'].c", "st.b.c"},
      {"get_field(st, 'b', 'c')", "st.b.c"},
      {"coalesce(st['b']['c'], st.a)", "st.a st.b.c"},
      {"st IS NULL OR st.a > 1", "st st.a"},
      {"named_struct('k', st.a)['k']", "st.a"},
      {"make_array(st.b)[1].c", "st.b"},
  };
  sql_text s;
  sql_text_open(&s);
  glv_env *env = s.t.env;
  arena a;
  arena_init(&a, env);
  const field c = {.name = "c", .type = type_simple(TYPE_INT64), .nullable = true};
  const field inner[] = {{.name = "a", .type = type_simple(TYPE_INT64), .nullable = true},
                         {.name = "b", .type = type_struct(&a, &c, 1), .nullable = true}};
  const field top = {.name = "st", .type = type_struct(&a, inner, 2), .nullable = true};
  schema *columns_of = NULL;
  glv_error err;
  assert_int_equal(schema_new(env, &top, 1, (metadata){0}, &columns_of, &err), GLV_OK);
  const expr_scope scope = {columns_of, SIZE_MAX};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CLEANUP(expr_cleanup) expr *e = NULL;
    assert_int_equal(expr_plan_value(env, str_of(cases[i].sql), &scope, 0, &e, &err), GLV_OK);
    char text[64] = "";
    size_t count = 0;
    const char *const *found = expr_paths(e, &count);
    for (size_t k = 0; k < count; k++) {
      (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k == 0 ? "" : " ",
                     found[k]);
    }
    assert_string_equal(text, cases[i].paths);
  }
  schema_unref(columns_of);
  arena_dispose(&a);
  sql_text_close(&s);
}

static void starved(void **state) {
  (void)state;
  static const char *const rows[] = {"b,a,b", NULL, "c"};
  static const char *const texts[] = {
      "array_sort(array_append(string_to_array(x, ','), x), 'DESC')",
      "array_union(string_to_array(x, ','), ['a'])[2]",
      "array_replace_all(string_to_array(x, ','), 'b', x)",
      "CAST(make_array(make_array(x), [NULL]) AS STRING)",
      "arrow_cast(string_to_array(x, ','), 'LargeList(Utf8)')",
      "arrow_cast(make_array(x, x), 'FixedSizeList(2 x LargeUtf8)')",
      "array_to_string(array_repeat(x, 2), ',', 'n')",
      "arrays_zip(string_to_array(x, ','), [1])[1]['2']",
      "map_values(map(make_array(coalesce(x, 'n')), make_array(x)))",
      "named_struct('a', x, 'b', 1) = named_struct('b', 1, 'a', x)",
      "greatest(make_array(x), ['b'])",
      "array_length(range(array_length(string_to_array(x, ','))))",
      "array_concat(make_array(make_array(x)), make_array(x))",
      "array_has_any(string_to_array(x, ','), ['a', x])",
  };
  assert_sql_starves(rows, texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values),  cmocka_unit_test(failures), cmocka_unit_test(deep_types),
      cmocka_unit_test(columns), cmocka_unit_test(paths),    cmocka_unit_test(starved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
