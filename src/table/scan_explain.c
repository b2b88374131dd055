/* The scan is planned, which finds every fault of its texts, and the plan is told. */
#include "table/scan_explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "table/scan_private.h"

enum { LINE_BYTES = 1024 };

glv_status explain_line(buf *out, glv_error *err, unsigned depth, const char *format, ...) {
  char line[LINE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments); /* very long texts are cut */
  va_end(arguments);
  TRY(buf_append_fill(out, ' ', 2 * (size_t)depth, err));
  return buf_printf(out, err, "%s\n", line);
}

static glv_status explain_columns(const scan_options *o, const scan_plan *p, unsigned depth,
                                  buf *out, glv_error *err) {
  CLEANUP(buf_dispose) buf names;
  buf_init(&names, p->env, SIZE_MAX / 2);
  for (size_t i = 0; i < p->output_count; i++) {
    const bool is_computed =
        o->columns != NULL && i < o->column_count && o->columns[i].expression.data != NULL;
    TRY(buf_printf(&names, err, "%s%s", i > 0 ? ", " : "", p->result->fields[i].name));
    TRY(is_computed ? buf_printf(&names, err, " = %.*s", STR_ARG(o->columns[i].expression))
                    : GLV_OK);
  }
  return explain_line(out, err, depth, "columns: %.*s", STR_ARG(buf_str(&names)));
}

/* The columns of files that are read, each once. */
static glv_status explain_reads(const scan_plan *p, unsigned depth, buf *out, glv_error *err) {
  CLEANUP(buf_dispose) buf names;
  buf_init(&names, p->env, SIZE_MAX / 2);
  for (size_t i = 0; i < p->column_count; i++) {
    if (p->in_filter[i] || p->in_output[i]) {
      TRY(buf_printf(&names, err, "%s%s", names.size > 0 ? ", " : "", p->stored[i]->arrow.name));
    }
  }
  return explain_line(out, err, depth, "reads: %.*s",
                      STR_ARG(names.size > 0 ? buf_str(&names) : STR("nothing")));
}

static glv_status explain_scan(const table_snapshot *t, const scan_options *o, const scan_plan *p,
                               unsigned depth, buf *out, glv_error *err) {
  TRY(explain_line(out, err, depth,
                   "Scan: table=%s, version=%" PRIu64 ", fragments=%zu, rows=%" PRIu64,
                   table_name(t), table_version(t), t->fragment_count, table_live_rows(t)));
  TRY(explain_columns(o, p, depth + 1, out, err));
  TRY(explain_reads(p, depth + 1, out, err));
  return o->filter.size > 0 ? explain_line(out, err, depth + 1, "filter: %.*s", STR_ARG(o->filter))
                            : GLV_OK;
}

static glv_status explain_sort(const sort_by *keys, size_t count, unsigned depth, glv_env *env,
                               buf *out, glv_error *err) {
  CLEANUP(buf_dispose) buf names;
  buf_init(&names, env, SIZE_MAX / 2);
  for (size_t i = 0; i < count; i++) {
    TRY(buf_printf(&names, err, "%s%.*s %s nulls %s", i > 0 ? ", " : "", STR_ARG(keys[i].name),
                   keys[i].descending ? "descending" : "ascending",
                   keys[i].nulls_first ? "first" : "last"));
  }
  return explain_line(out, err, depth, "Sort: %.*s", STR_ARG(buf_str(&names)));
}

glv_status table_scan_explain(const table_snapshot *t, const scan_options *options,
                              const sort_by *keys, size_t key_count, unsigned depth, buf *out,
                              glv_error *err) {
  CLEANUP(scan_plan_cleanup) scan_plan *p = NULL;
  TRY(scan_plan_new(t, options, false, &p, err));
  if (options->has_limit || options->offset > 0) {
    const uint64_t limit = options->has_limit ? options->limit : UINT64_MAX;
    TRY(explain_line(out, err, depth++, "Limit: rows=%" PRIu64 ", offset=%" PRIu64, limit,
                     options->offset));
  }
  TRY(key_count > 0 ? explain_sort(keys, key_count, depth++, p->env, out, err) : GLV_OK);
  return explain_scan(t, options, p, depth, out, err);
}
