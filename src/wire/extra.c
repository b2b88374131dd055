/* Bodies of the routes that only Glaive's servers have. */
#include "wire/extra.h"

#include "base/error.h"
#include "wire/members.h"

/* Hand out what was built. */
static glv_status give(json **built, json **ret) {
  *ret = *built;
  *built = NULL;
  return GLV_OK;
}

glv_status wire_compact_write(const wire_compact *c, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_uint(body, "target_rows", c->target_rows, err));
  TRY(js_put(body, "deletion_threshold", js_new_real(c->deletion_threshold), err));
  return give(&body, ret);
}

glv_status wire_compact_read(const json *body, wire_compact *ret, glv_error *err) {
  *ret = (wire_compact){0};
  TRY(wire_uint(body, "target_rows", &ret->target_rows, err));
  return wire_real(body, "deletion_threshold", &ret->deletion_threshold, err);
}

glv_status wire_cleanup_write(const wire_cleanup *c, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  TRY(wire_put_int(body, "older_than_ms", c->older_than_ms, err));
  TRY(wire_put_bool(body, "dry_run", c->dry_run, err));
  TRY(wire_put_bool(body, "refuse_tagged", c->refuse_tagged, err));
  return give(&body, ret);
}

glv_status wire_cleanup_read(const json *body, wire_cleanup *ret, glv_error *err) {
  *ret = (wire_cleanup){.older_than_ms = -1};
  TRY(wire_int(body, "older_than_ms", &ret->older_than_ms, err));
  TRY(wire_bool(body, "dry_run", &ret->dry_run, err));
  return wire_bool(body, "refuse_tagged", &ret->refuse_tagged, err);
}

#define WRITE_COUNT(name) TRY(wire_put_uint(body, #name, r->name, err));
#define READ_COUNT(name) TRY(wire_uint(body, #name, &ret->name, err));

glv_status wire_compact_result_write(const wire_compact_result *r, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  WIRE_COMPACT_COUNTS(WRITE_COUNT)
  return give(&body, ret);
}

glv_status wire_compact_result_read(const json *body, wire_compact_result *ret, glv_error *err) {
  *ret = (wire_compact_result){0};
  WIRE_COMPACT_COUNTS(READ_COUNT)
  return GLV_OK;
}

glv_status wire_cleanup_result_write(const wire_cleanup_result *r, json **ret, glv_error *err) {
  CLEANUP(js_cleanup) json *body = js_new_object();
  WIRE_CLEANUP_COUNTS(WRITE_COUNT)
  return give(&body, ret);
}

glv_status wire_cleanup_result_read(const json *body, wire_cleanup_result *ret, glv_error *err) {
  *ret = (wire_cleanup_result){0};
  WIRE_CLEANUP_COUNTS(READ_COUNT)
  return GLV_OK;
}
