/*
 * The smallest complete use of the library: make a table, a view over it, add a row to the table,
 * refresh the view.
 *
 *   cc first_view.c $(pkg-config --cflags --libs glaive) -o first_view && ./first_view DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glaive/glaive.h>

/* ---- rows as an Arrow stream: one int32 column `age` ---- */

struct ages {
  const int32_t *values;
  int64_t count;
  int done;
};

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL) {
      schema->children[i]->release(schema->children[i]);
    }
    free(schema->children[i]);
  }
  free(schema->children);
  schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  (void)stream;
  memset(out, 0, sizeof *out);
  struct ArrowSchema *age = calloc(1, sizeof *age);
  struct ArrowSchema **children = malloc(sizeof *children);
  if (age == NULL || children == NULL) {
    free(age);
    free(children);
    return 12; /* ENOMEM */
  }
  *age = (struct ArrowSchema){
      .format = "i", .name = "age", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
  children[0] = age;
  *out = (struct ArrowSchema){
      .format = "+s", .name = "", .n_children = 1, .children = children, .release = release_schema};
  return 0;
}

struct owned {
  struct ArrowArray child;
  struct ArrowArray *children[1];
  const void *no_buffers[1];
  const void *buffers[2];
};

static void release_child(struct ArrowArray *array) { array->release = NULL; }

static void release_batch(struct ArrowArray *array) {
  if (array->children[0]->release != NULL) {
    array->children[0]->release(array->children[0]);
  }
  free(array->private_data);
  array->release = NULL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct ages *ages = stream->private_data;
  memset(out, 0, sizeof *out);
  if (ages->done) {
    return 0;
  }
  struct owned *o = calloc(1, sizeof *o);
  if (o == NULL) {
    return 12;
  }
  o->buffers[1] = ages->values;
  o->child = (struct ArrowArray){
      .length = ages->count, .n_buffers = 2, .buffers = o->buffers, .release = release_child};
  o->children[0] = &o->child;
  *out = (struct ArrowArray){.length = ages->count,
                             .n_buffers = 1,
                             .n_children = 1,
                             .buffers = o->no_buffers,
                             .children = o->children,
                             .release = release_batch,
                             .private_data = o};
  ages->done = 1;
  return 0;
}

static const char *last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void release_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }

static struct ArrowArrayStream stream_of(struct ages *ages) {
  return (struct ArrowArrayStream){.get_schema = get_schema,
                                   .get_next = get_next,
                                   .get_last_error = last_error,
                                   .release = release_stream,
                                   .private_data = ages};
}

/* ---- the example ---- */

static glv_error error;

static void must(glv_status status) {
  if (status != GLV_OK) {
    fprintf(stderr, "%s: %s\n", glv_status_name(status), error.message);
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: first_view DIRECTORY\n");
    return 2;
  }
  glv_env *env = NULL;
  glv_conn *conn = NULL;
  must(glv_env_new(NULL, &env, &error));
  must(glv_connect(env, argv[1], NULL, &conn, &error));

  /* A table in a namespace. */
  const char *people[] = {"hr", "people"};
  const glv_id hr = {people, 1};
  const glv_id people_id = {people, 2};
  const int32_t first[] = {36, 12, 85};
  struct ages ages = {first, 3, 0};
  struct ArrowArrayStream data = stream_of(&ages);
  glv_table *table = NULL;
  must(glv_namespace_create(conn, hr, (glv_pairs){NULL, 0}, NULL, &error));
  must(glv_table_create(conn, people_id, &data, NULL, &table, &error));

  /* A view over it. */
  const char *adults[] = {"adults"};
  glv_view_def def = GLV_OPTIONS(glv_view_def);
  def.query = "SELECT age, age + 1 AS next_year FROM hr.people WHERE age >= 18";
  glv_view *view = NULL;
  must(glv_view_create(conn, (glv_id){adults, 1}, &def, NULL, &view, &error));

  /* One more row; the refresh computes that row only. */
  const int32_t more[] = {41};
  ages = (struct ages){more, 1, 0};
  data = stream_of(&ages);
  must(glv_table_append(table, &data, NULL, NULL, &error));
  glv_refresh_result result = GLV_OPTIONS(glv_refresh_result);
  must(glv_view_refresh(view, NULL, &result, &error));

  uint64_t rows = 0;
  must(glv_table_count(glv_view_table(view), NULL, NULL, &rows, &error));
  printf("refresh: %s, rows written: %lld\n",
         result.mode == GLV_REFRESH_INCREMENTAL ? "incremental" : "other",
         (long long)result.rows_written);
  printf("rows in the view: %llu\n", (unsigned long long)rows);

  glv_view_free(view);
  glv_table_free(table);
  glv_conn_free(conn);
  glv_env_free(env);
  return 0;
}
