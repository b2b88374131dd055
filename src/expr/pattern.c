/* One pattern that is constant is compiled once for the plan; otherwise the last one of a batch is
 * kept. */
#include "expr/pattern.h"

enum { FLAGS_MAX = 32 };

void pattern_dispose(pattern *c) {
  regexp_match_free(c->match);
  regexp_free(c->own);
}

glv_status pattern_begin(pattern *c, const function_frame *f, const operand *arguments,
                         pattern_places at, glv_error *err) {
  *c = (pattern){.f = f, .arguments = arguments, .at = at};
  if (at.flags >= f->binding->count) {
    c->constant = f->binding->state; /* no flags: nothing of it depends on the row */
  }
  return regexp_match_new(f->env, &c->match, err);
}

/* Flags without g, which only replacing knows. The first g counts; a second one is unknown. */
static str strip_global(str flags, char room[FLAGS_MAX], bool *ret_is_global) {
  size_t n = 0;
  *ret_is_global = false;
  for (size_t i = 0; i < flags.size && n < FLAGS_MAX; i++) {
    if (flags.data[i] == 'g' && !*ret_is_global) {
      *ret_is_global = true;
    } else {
      room[n++] = flags.data[i];
    }
  }
  return str_slice(room, n);
}

static bool is_same(str a, str b) { return a.data == b.data && a.size == b.size; }

static str row_flags(const pattern *c, size_t i) {
  const bool has_flags = c->at.flags < c->f->binding->count &&
                         c->arguments[c->at.flags].a.type->kind != TYPE_NULL &&
                         operand_is_valid(&c->arguments[c->at.flags], i);
  return has_flags ? operand_str(&c->arguments[c->at.flags], i) : str_slice(NULL, 0);
}

glv_status pattern_row(pattern *c, size_t i, bool allows_global, const regexp **ret,
                       glv_error *err) {
  if (c->constant != NULL) {
    *ret = c->constant;
    return GLV_OK;
  }
  const str text = operand_str(&c->arguments[c->at.pattern], i);
  const str flags = row_flags(c, i);
  char room[FLAGS_MAX];
  const str plain = strip_global(flags, room, &c->is_global);
  if (c->is_global && !allows_global) {
    return FAIL(err, GLV_E_SQL_EXEC, "%s() does not support the \"global\" option",
                c->f->binding->function->name);
  }
  if (c->f->binding->state != NULL) {
    *ret = c->f->binding->state;
    return GLV_OK;
  }
  if (c->own == NULL || !is_same(text, c->text) || !is_same(flags, c->flags)) {
    regexp_free(c->own);
    c->own = NULL;
    TRY(regexp_new(c->f->env, text, plain, &c->own, err));
    c->text = text;
    c->flags = flags;
  }
  *ret = c->own;
  return GLV_OK;
}

static void dispose_regexp(void *state) { regexp_free(state); }

bool pattern_constant_text(const function_binding *b, size_t i, str *ret) {
  const array *constant = b->arguments[i].constant;
  if (constant == NULL || constant->type->kind == TYPE_NULL || !array_is_valid(constant, 0) ||
      !type_is_string(constant->type->kind)) {
    return false;
  }
  *ret = array_str(constant, 0);
  return true;
}

glv_status pattern_keep_constant(function_binding *b, pattern_places at, glv_error *err) {
  str text;
  str flags = {0};
  if (!pattern_constant_text(b, at.pattern, &text) ||
      (at.flags < b->count && b->arguments[at.flags].constant == NULL)) {
    return GLV_OK;
  }
  if (at.flags < b->count) {
    (void)pattern_constant_text(b, at.flags, &flags);
  }
  char room[FLAGS_MAX];
  bool is_global;
  regexp *r = NULL;
  const str plain = strip_global(flags, room, &is_global);
  const glv_status status = regexp_new(b->env, text, plain, &r, err);
  if (status == GLV_OK) {
    b->state = r;
    b->dispose = dispose_regexp;
  }
  return status;
}

glv_status pattern_check_flags(const pattern *c, size_t i, glv_error *err) {
  const size_t at = c->at.flags;
  if (at < c->f->binding->count && operand_is_valid(&c->arguments[at], i) &&
      row_flags(c, i).size == 0) {
    return FAIL(err, GLV_E_SQL_EXEC, "Regular expression did not compile: empty flags");
  }
  return GLV_OK;
}
