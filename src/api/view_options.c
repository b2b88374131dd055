/* What calls on views are given. */
#include "api/view_options.h"

glv_status check_view(const glv_view *view, glv_error *err) {
  TRY(require_pointer(view, "view", err));
  return env_check_fork(view->handle.env, err);
}

glv_status read_definition(const glv_view_def *def, glv_view_def *known, glv_error *err) {
  TRY(require_pointer(def, "def", err));
  TRY(OPTIONS_READ(def, known, err));
  TRY(require_flags(known->flags, GLV_VIEW_DEF_LIMIT, err));
  TRY(require_pairs(known->projections, "projections", true, err));
  TRY(require_id((glv_id){known->source_namespace.items, known->source_namespace.count},
                 "source_namespace", true, err));
  const bool structured = known->source_table != NULL || known->source_namespace.count > 0 ||
                          known->projections.count > 0 || known->filter != NULL ||
                          known->flags != 0;
  if (known->query != NULL && structured) {
    return FAIL(err, GLV_E_INVALID_INPUT,
                "a definition has either 'query' or the other fields, not both");
  }
  if (known->query == NULL && known->source_table == NULL) {
    return FAIL(err, GLV_E_INVALID_INPUT, "a definition needs 'source_table' or 'query'");
  }
  if (known->stored_form < GLV_STORED_DEFAULT || known->stored_form > GLV_STORED_QUERY) {
    return FAIL(err, GLV_E_INVALID_INPUT, "stored_form %d is not one of enum glv_stored_form",
                (int)known->stored_form);
  }
  return GLV_OK;
}

glv_status read_refresh_options(const glv_refresh_options *options, glv_refresh_options *ret,
                                glv_error *err) {
  TRY(OPTIONS_READ(options, ret, err));
  TRY(require_flags(ret->flags,
                    GLV_REFRESH_SOURCE_VERSION | GLV_REFRESH_NO_STAMP | GLV_REFRESH_UPSTREAM, err));
  if (ret->require < 0 || ret->require > 1) {
    return FAIL(err, GLV_E_INVALID_INPUT, "require %d is neither 0 nor 1", (int)ret->require);
  }
  return GLV_OK;
}
