/*
 * Which arrays fit a stored field without being changed.
 */
#include "format/file_writer.h"

static type_kind stored_kind(type_kind kind) {
  return kind == TYPE_UTF8_VIEW ? TYPE_UTF8 : kind == TYPE_BINARY_VIEW ? TYPE_BINARY : kind;
}

static bool same_zone(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Everything but the children. */
static bool same_parameters(const type *given, const type *stored) {
  return stored_kind(given->kind) == stored_kind(stored->kind) && given->unit == stored->unit &&
         same_zone(given->timezone, stored->timezone) && given->width == stored->width &&
         given->precision == stored->precision && given->scale == stored->scale &&
         given->index == stored->index && given->child_count == stored->child_count;
}

/* Types of a schema are at most LIMIT_TYPE_DEPTH deep. */
bool type_is_storable(const type *given, const type *stored) {
  if (given == stored) {
    return true;
  }
  if (!same_parameters(given, stored)) {
    return false;
  }
  for (size_t i = 0; i < stored->child_count; i++) {
    const field *from = &given->children[i];
    const field *to = &stored->children[i];
    if ((stored->kind == TYPE_STRUCT && strcmp(from->name, to->name) != 0) ||
        !type_is_storable(from->type, to->type)) {
      return false;
    }
  }
  return true;
}
