/*
 * What calls on a table have in common: branch and version in the body, and the headers by which a
 * handle never sees an older version than before (rest-protocol.md 3).
 */
#include <inttypes.h>
#include <stdio.h>

#include "remote/remote_private.h"
#include "wire/members.h"
#include "wire/time.h"

/* How old an answer may be, as a time; 0 = any. */
static int64_t oldest_ns(const remote_table *t) {
  const remote_conn *conn = conn_of(t->base.conn);
  const int64_t by_age =
      conn->has_consistency ? env_now_ns(t->base.handle.env) - conn->consistency_ns : 0;
  return by_age > t->fresh.baseline_ns ? by_age : t->fresh.baseline_ns;
}

static void add_header(table_call *tc, const char *name, const char *text) {
  tc->c.headers[tc->c.header_count++] = (http_header){name, text};
}

/* Under the lock. */
static void add_freshness(table_call *tc, const remote_table *t) {
  const int64_t oldest = oldest_ns(t);
  if (t->fresh.written != 0) {
    snprintf(tc->texts[0], sizeof tc->texts[0], "%" PRIu64, t->fresh.written);
    add_header(tc, "x-lancedb-min-version", tc->texts[0]);
  }
  if (t->fresh.seen != 0) {
    snprintf(tc->texts[1], sizeof tc->texts[1], "%" PRIu64, t->fresh.seen);
    add_header(tc, "x-lancedb-min-read-version", tc->texts[1]);
  }
  if (oldest != 0) {
    wire_time_print(oldest, tc->texts[2]);
    add_header(tc, "x-lancedb-min-timestamp", tc->texts[2]);
  }
}

static glv_status put_selector(table_call *tc, unsigned flags, glv_error *err) {
  const char *branch = tc->t->branch;
  if (branch != NULL && (flags & TABLE_PARAMS) != 0) {
    TRY(wire_param(&tc->c.target, "branch", str_of(branch), err));
  }
  if ((flags & TABLE_PARAMS) != 0) {
    return GLV_OK;
  }
  tc->c.body = js_new_object();
  if ((flags & TABLE_READS) != 0) {
    TRY(tc->version != 0 ? wire_put_uint(tc->c.body, "version", tc->version, err)
                         : js_put(tc->c.body, "version", js_new_null(), err));
  }
  return branch != NULL ? wire_put_text(tc->c.body, "branch", branch, err) : GLV_OK;
}

glv_status table_call_begin(table_call *tc, glv_table *table, const route *r, const char *name,
                            unsigned flags, cancel_token *cancel, glv_error *err) {
  remote_table *t = table_of(table);
  const glv_id id = ident_id(&table->id);
  *tc = (table_call){.t = t};
  TRY(call_begin(&tc->c, http_of(table), r, (wire_target){id.parts, id.count, name}, cancel, err));
  mutex_lock(&t->lock);
  tc->version = t->pinned;
  tc->generation = t->fresh.generation;
  if (t->pinned == 0 && (flags & TABLE_NO_FRESHNESS) == 0) {
    add_freshness(tc, t);
  }
  mutex_unlock(&t->lock);
  if (tc->version != 0 && (flags & TABLE_WRITES) != 0) {
    return FAIL(err, GLV_E_BAD_STATE,
                "table '%s' is checked out at version %" PRIu64
                "; check out the latest version to change it",
                IDENT_TEXT(id), tc->version);
  }
  return put_selector(tc, flags, err);
}

void table_call_dispose(table_call *tc) { call_dispose(&tc->c); }

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void table_call_seen(const table_call *tc, uint64_t version) {
  remote_table *t = tc->t;
  mutex_lock(&t->lock);
  if (version != 0 && t->pinned == 0 && t->fresh.generation == tc->generation) {
    t->fresh.seen = larger(t->fresh.seen, version);
    t->version = larger(t->version, version);
  }
  mutex_unlock(&t->lock);
}

void table_call_wrote(const table_call *tc, uint64_t version) {
  remote_table *t = tc->t;
  mutex_lock(&t->lock);
  if (t->pinned == 0 && t->fresh.generation == tc->generation) {
    t->fresh.written = larger(t->fresh.written, version);
    t->version = larger(t->version, version);
  }
  mutex_unlock(&t->lock);
}

glv_status table_call_object(table_call *tc, answer *ret, glv_error *err) {
  TRY(call_object(&tc->c, ret, err));
  table_call_seen(tc, ret->table_version);
  return GLV_OK;
}
