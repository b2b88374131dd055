/**
 * @file scan_private.h
 * The parts of a scan: what is read (plan), one fragment opened, one window decoded.
 */
#ifndef GLAIVE_TABLE_SCAN_PRIVATE_H
#define GLAIVE_TABLE_SCAN_PRIVATE_H

#include "base/thread.h"
#include "expr/expr.h"
#include "format/field_parts.h"
#include "table/row_ids.h"
#include "table/scan.h"
#include "table/table_private.h"

/** Columns that no file holds, as they follow the columns of the table in the scope. */
enum system_column {
  SYSTEM_ROW_ID,
  SYSTEM_ROW_ADDRESS,
  SYSTEM_ROW_OFFSET,
  SYSTEM_CREATED_AT,
  SYSTEM_LAST_UPDATED_AT,
  SYSTEM_COUNT
};

/** Whether that is the name of a system column. */
bool scan_is_system_name(str name);

/** One result column: an expression, or a column of the scope as it is. */
typedef struct scan_output {
  expr *expr; /* NULL = copy */
  size_t column;
  bool is_blob; /* copy the bytes that the descriptors of the column point to */
} scan_output;

/** Immutable once made; shared by all windows. */
typedef struct scan_plan {
  glv_env *env;
  table_snapshot *table; /* a reference */
  arena memory;
  schema *scope;              /* columns of the table, then the system columns; a reference */
  size_t column_count;        /* columns of the table */
  const lance_field **stored; /* of these */
  size_t unnest;         /* the column that is expanded, an element in the scope; or SIZE_MAX */
  field list;            /* the same as it is read */
  bool filters_elements; /* the filter reads it */
  expr *filter;          /* NULL = none */
  bool *in_filter;       /* per column of the scope */
  bool *in_output;
  const char **paths; /* what is read, e.g. "id", "meta.age"; the texts live as long as the plan */
  size_t path_count;
  size_t path_capacity;
  const field **read_as; /* per column: name and type that its arrays get in batches of the scope */
  scan_output *outputs;  /* NULL when rows are only counted */
  size_t output_count;
  schema *result;         /* a reference; NULL when rows are only counted */
  bool keep_open;         /* see scan_options */
  cancel_token *cancel;   /* a reference, or NULL */
  atomic_bool is_stopped; /* the consumer has gone: queued windows do nothing */
} scan_plan;

/** counting: no output columns. Errors: see table_scan. */
glv_status scan_plan_new(const table_snapshot *t, const scan_options *o, bool counting,
                         scan_plan **ret, glv_error *err);
void scan_plan_free(scan_plan *p); /* NULL is fine */
void scan_plan_cleanup(scan_plan **p);
/** Name and type that a column is read with. */
static inline const field *scan_plan_stored_as(const scan_plan *p, size_t column) {
  return column == p->unnest ? &p->list : p->read_as[column];
}

/** Where a column of the table is in a fragment. */
typedef struct column_source {
  field_part *parts; /* per file that holds some of it */
  size_t part_count; /* 0: no file does, the column is null */
  const char *path;  /* of the file, when it is a blob column */
} column_source;

/** A fragment with everything opened that its windows need. */
typedef struct fragment_scan {
  task open; /* has run when a window looks inside */
  bool is_submitted;
  bool is_open;
  const scan_plan *plan;
  const fragment *fragment;
  const bitmap *offsets; /* wanted rows, or NULL */
  uint64_t first_live;   /* live rows of the table before it */
  arena memory;
  file_reader **readers;  /* per data file; NULL = not needed */
  column_source *sources; /* per column of the table; those that are read are filled in */
  bitmap *deleted;        /* or NULL */
  row_id_sequence *row_ids;
  row_versions created_at;
  row_versions last_updated_at;
  size_t refs; /* windows that use it; counted by the consumer alone */
} fragment_scan;

glv_status fragment_scan_new(const scan_plan *p, const fragment *f, const bitmap *offsets,
                             uint64_t first_live, fragment_scan **ret, glv_error *err);
void fragment_scan_unref(fragment_scan *f);
/** Opens files, deletions and sequences; for task.run. */
glv_status fragment_scan_open(void *context, glv_error *err);

/** Rows of a window: numbers relative to its first row, ascending. */
typedef struct scan_rows {
  const uint32_t *list; /* NULL = 0 .. count - 1 */
  size_t count;
} scan_rows;

/** A window that is being decoded. */
typedef struct scan_work {
  const scan_plan *plan;
  const fragment_scan *fragment;
  uint64_t first;
  size_t count;
  arena memory;
  scan_rows rows;
  const uint32_t *parents; /* once expanded: for each row of columns the position in rows of the row
                              that it came from, ascending; NULL = they are the same rows */
  batch columns;           /* at their positions in the scope */
} scan_work;

/** Keep the listed rows of columns, ascending: those read so far that the result needs, and rows.
 * Errors: GLV_E_NOMEM. */
glv_status scan_work_keep(scan_work *w, const uint32_t *kept, size_t count, glv_error *err);

/** Keep the rows whose list, which has been read, has elements. Errors: GLV_E_NOMEM. */
glv_status scan_unnest_drop_empty(scan_work *w, glv_error *err);
/** Turn columns into one row per element; the column of lists becomes that of elements. Errors:
 * GLV_E_NOMEM, GLV_E_LIMIT (what an array can hold). */
glv_status scan_unnest_expand(scan_work *w, glv_error *err);
/** What scan_work_keep does to rows and parents once they are expanded. */
glv_status scan_unnest_keep(scan_work *w, const uint32_t *kept, size_t count, glv_error *err);
/** Repeat the values of rows, one for each row of columns. Errors: as scan_unnest_expand. */
glv_status scan_unnest_repeat(const scan_work *w, array *values, glv_error *err);

/** Some rows of a fragment, decoded. */
typedef struct scan_window {
  task task;
  bool is_submitted;
  fragment_scan *fragment; /* a reference */
  uint64_t first;
  size_t count;
  size_t selected; /* rows that survived */
  batch result;    /* empty when rows are only counted */
} scan_window;

/** Decodes the window; for task.run. */
glv_status scan_window_run(void *context, glv_error *err);

#endif
