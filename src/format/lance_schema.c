/*
 * Stored schemas: from the flat list of field messages to a tree and back.
 *
 * Fields come in pre-order and name their parent by id; ids need not be unique, so a parent is the
 * nearest earlier field with the id. The children of a field lie in one array: they are counted in
 * a first pass, and placed in a second. Types are then put together from the last field to the
 * first, because children follow their parents.
 */
#include "base/hash.h"
#include "base/limits.h"
#include "format/lance_schema_private.h"
#include "pb/lance_file.pb-c.h"
#include "pb/pb.h"

#define TOP_LEVEL SIZE_MAX

/* What is known of each message while the tree is put together. */
typedef struct tree_node {
  size_t parent; /* index of its message, or TOP_LEVEL */
  size_t depth;
  size_t child_count;
  size_t placed;      /* children that have their place */
  lance_field *self;  /* its place among the children of its parent */
  lance_field *below; /* its children */
} tree_node;

/* ---- from messages ---- */

static str id_key(const int32_t *id) { return str_slice((const char *)id, sizeof *id); }

/* Data files describe the parts of blob descriptors by fields that have neither an id nor a parent;
 * they follow the column. @return its index, or TOP_LEVEL. */
static size_t blob_before(Lance__File__Field *const *messages, size_t i) {
  while (i-- > 0) {
    if (messages[i]->id != -1) {
      return strcmp(messages[i]->logical_type, "struct") == 0 ? i : TOP_LEVEL;
    }
  }
  return TOP_LEVEL;
}

static glv_status link_parent(map *by_id, tree_node *nodes, size_t i,
                              Lance__File__Field *const *messages, glv_error *err) {
  const Lance__File__Field *m = messages[i];
  nodes[i].parent = TOP_LEVEL;
  if (m->id == -1 && m->parent_id == -1) {
    nodes[i].parent = blob_before(messages, i);
    if (nodes[i].parent != TOP_LEVEL) {
      nodes[i].depth = nodes[nodes[i].parent].depth + 1;
      nodes[nodes[i].parent].child_count++;
    }
  } else if (m->parent_id != -1) {
    const uint64_t *at = map_get(by_id, id_key(&m->parent_id));
    if (at == NULL) {
      return FAIL(err, GLV_E_CORRUPT, "the parent %d of field '%s' does not come before it",
                  (int)m->parent_id, m->name);
    }
    nodes[i].parent = (size_t)*at;
    nodes[i].depth = nodes[*at].depth + 1;
    nodes[*at].child_count++;
    if (nodes[i].depth >= LIMIT_TYPE_DEPTH) {
      return FAIL(err, GLV_E_LIMIT, "the schema is nested deeper than %d levels", LIMIT_TYPE_DEPTH);
    }
  }
  if (m->id != -1) {
    uint64_t *at = NULL;
    bool is_new = false;
    TRY(map_put(by_id, id_key(&m->id), &at, &is_new, err));
    *at = i;
  }
  return GLV_OK;
}

static glv_status link_parents(arena *a, tree_node *nodes, Lance__File__Field *const *messages,
                               size_t count, glv_error *err) {
  CLEANUP(map_dispose) map by_id;
  map_init(&by_id, a->env);
  for (size_t i = 0; i < count; i++) {
    TRY(link_parent(&by_id, nodes, i, messages, err));
  }
  return GLV_OK;
}

/* Give every field its place. @return the top level, NULL = no memory. */
static lance_field *place(arena *a, tree_node *nodes, size_t count, size_t top_count) {
  lance_field *top = ARENA_ARRAY(a, lance_field, top_count);
  size_t top_placed = 0;
  for (size_t i = 0; top != NULL && i < count; i++) {
    tree_node *n = &nodes[i];
    if (n->parent == TOP_LEVEL) {
      n->self = &top[top_placed++];
    } else {
      tree_node *parent = &nodes[n->parent];
      n->self = &parent->below[parent->placed++];
    }
    n->below = ARENA_ARRAY(a, lance_field, n->child_count);
    if (n->below == NULL) {
      return NULL;
    }
    n->self->children = n->below;
    n->self->child_count = n->child_count;
  }
  return top;
}

static glv_status read_metadata(arena *a, const Lance__File__Field *m, metadata *ret,
                                glv_error *err) {
  pair *pairs = ARENA_ARRAY(a, pair, m->n_metadata);
  if (pairs == NULL) {
    return error_nomem(err, m->n_metadata * sizeof *pairs);
  }
  for (size_t i = 0; i < m->n_metadata; i++) {
    const Lance__File__BytesEntry *e = m->metadata[i];
    pairs[i].key = str_of(arena_strdup(a, str_of(e->key)));
    char *value = arena_strdup(a, str_slice((const char *)e->value.data, e->value.len));
    pairs[i].value = str_slice(value, e->value.len);
    if (pairs[i].key.data == NULL || value == NULL) {
      return error_nomem(err, e->value.len);
    }
  }
  *ret = (metadata){pairs, m->n_metadata};
  return GLV_OK;
}

static glv_status read_field(arena *a, const Lance__File__Field *m, lance_field *f,
                             glv_error *err) {
  f->arrow.name = arena_strdup(a, str_of(m->name));
  f->logical_type = arena_strdup(a, str_of(m->logical_type));
  if (f->arrow.name == NULL || f->logical_type == NULL) {
    return error_nomem(err, 0);
  }
  f->arrow.nullable = m->nullable;
  f->id = m->id;
  f->parent_id = m->parent_id;
  f->encoding = m->encoding;
  TRY(read_metadata(a, m, &f->arrow.metadata, err));
  TRY(pb_pack_arena(a, &m->base, &f->raw, err));
  lance_field_classify(f);
  TRY(lance_field_type(a, f, err));
  f->is_supported = f->arrow.type != NULL;
  return GLV_OK;
}

glv_status lance_schema_from_messages(arena *a, Lance__File__Field *const *messages, size_t count,
                                      metadata m, lance_schema **ret, glv_error *err) {
  if (count > LIMIT_FIELDS) {
    return FAIL(err, GLV_E_LIMIT, "the schema has %zu fields", count);
  }
  tree_node *nodes = ARENA_ARRAY(a, tree_node, count);
  lance_schema *s = ARENA_NEW(a, lance_schema);
  if (nodes == NULL || s == NULL) {
    return error_nomem(err, count * sizeof *nodes);
  }
  TRY(link_parents(a, nodes, messages, count, err));
  for (size_t i = 0; i < count; i++) {
    s->field_count += nodes[i].parent == TOP_LEVEL;
  }
  s->fields = place(a, nodes, count, s->field_count);
  if (s->fields == NULL) {
    return error_nomem(err, count * sizeof(lance_field));
  }
  for (size_t i = count; i-- != 0;) {
    TRY(read_field(a, messages[i], nodes[i].self, err));
  }
  bool ok = true;
  s->metadata = metadata_copy(a, m, &ok);
  if (!ok) {
    return error_nomem(err, 0);
  }
  *ret = s;
  return GLV_OK;
}

/* ---- to messages ---- */

static glv_status write_metadata(arena *a, metadata m, Lance__File__Field *to, glv_error *err) {
  to->metadata = ARENA_ARRAY(a, Lance__File__BytesEntry *, m.count);
  for (size_t i = 0; to->metadata != NULL && i < m.count; i++) {
    Lance__File__BytesEntry *e = ARENA_NEW(a, Lance__File__BytesEntry);
    if (e == NULL) {
      return error_nomem(err, sizeof *e);
    }
    lance__file__bytes_entry__init(e);
    e->key = arena_strdup(a, m.pairs[i].key);
    e->value.data = (uint8_t *)arena_strdup(a, m.pairs[i].value);
    e->value.len = m.pairs[i].value.size;
    if (e->key == NULL || e->value.data == NULL) {
      return error_nomem(err, m.pairs[i].value.size);
    }
    to->metadata[i] = e;
  }
  to->n_metadata = m.count;
  return to->metadata != NULL ? GLV_OK : error_nomem(err, m.count * sizeof(void *));
}

void lance_field_mark_keys(metadata m, Lance__File__Field *to) {
  uint64_t position;
  to->unenforced_primary_key = false;
  to->unenforced_primary_key_position = 0;
  to->unenforced_clustering_key_position = 0;
  if (str_to_u64(metadata_get(m, STR("lance-schema:unenforced-primary-key:position"), NULL),
                 &position) &&
      position <= UINT32_MAX) {
    to->unenforced_primary_key = true;
    to->unenforced_primary_key_position = (uint32_t)position;
  } else if (str_is_true(metadata_get(m, STR("lance-schema:unenforced-primary-key"), NULL))) {
    to->unenforced_primary_key = true;
  }
  if (str_to_u64(metadata_get(m, STR("lance-schema:unenforced-clustering-key:position"), NULL),
                 &position) &&
      position <= UINT32_MAX) {
    to->unenforced_clustering_key_position = (uint32_t)position;
  }
}

static glv_status write_field(arena *a, const lance_field *f, Lance__File__Field **ret,
                              glv_error *err) {
  if (f->raw.size != 0) {
    ProtobufCMessage *m = NULL;
    TRY(pb_unpack(a, f->raw, &lance__file__field__descriptor, f->arrow.name, &m, err));
    *ret = (Lance__File__Field *)m;
    return GLV_OK;
  }
  Lance__File__Field *m = ARENA_NEW(a, Lance__File__Field);
  if (m == NULL) {
    return error_nomem(err, sizeof *m);
  }
  lance__file__field__init(m);
  m->name = arena_strdup(a, str_of(f->arrow.name));
  m->logical_type = arena_strdup(a, str_of(f->logical_type));
  if (m->name == NULL || m->logical_type == NULL) {
    return error_nomem(err, 0);
  }
  m->id = f->id;
  m->parent_id = f->parent_id;
  m->nullable = f->arrow.nullable;
  m->encoding = f->encoding;
  TRY(write_metadata(a, f->arrow.metadata, m, err));
  lance_field_mark_keys(f->arrow.metadata, m);
  *ret = m;
  return GLV_OK;
}

static size_t count_fields(const lance_field *fields, size_t count) {
  size_t total = count;
  for (size_t i = 0; i < count; i++) { /* trees are at most LIMIT_TYPE_DEPTH deep */
    total += count_fields(fields[i].children, fields[i].child_count);
  }
  return total;
}

static glv_status write_fields(arena *a, const lance_field *fields, size_t count,
                               Lance__File__Field **out, size_t *at, glv_error *err) {
  for (size_t i = 0; i < count; i++) {
    TRY(write_field(a, &fields[i], &out[(*at)++], err));
    TRY(write_fields(a, fields[i].children, fields[i].child_count, out, at, err));
  }
  return GLV_OK;
}

glv_status lance_schema_to_messages(arena *a, const lance_schema *s, Lance__File__Field ***ret,
                                    size_t *ret_count, glv_error *err) {
  const size_t count = count_fields(s->fields, s->field_count);
  Lance__File__Field **messages = ARENA_ARRAY(a, Lance__File__Field *, count);
  if (messages == NULL) {
    return error_nomem(err, count * sizeof *messages);
  }
  size_t at = 0;
  TRY(write_fields(a, s->fields, s->field_count, messages, &at, err));
  *ret = messages;
  *ret_count = count;
  return GLV_OK;
}

/* ---- looking around ---- */

static size_t visit_columns(const lance_field *fields, size_t count, format_version v,
                            const lance_field **ret, size_t room, size_t at) {
  for (size_t i = 0; i < count; i++) {
    const lance_field *f = &fields[i];
    if (f->is_leaf || v == FORMAT_2_0) {
      if (ret != NULL && at < room) {
        ret[at] = f;
      }
      at++;
    }
    if (!f->is_leaf) {
      at = visit_columns(f->children, f->child_count, v, ret, room, at);
    }
  }
  return at;
}

size_t lance_schema_columns(const lance_schema *s, format_version v, const lance_field **ret,
                            size_t room) {
  return visit_columns(s->fields, s->field_count, v, ret, room, 0);
}

const lance_field *lance_schema_find(const lance_schema *s, str name) {
  for (size_t i = 0; i < s->field_count; i++) {
    if (str_is(name, s->fields[i].arrow.name)) {
      return &s->fields[i];
    }
  }
  return NULL;
}

static const lance_field *find_id(const lance_field *fields, size_t count, int32_t id) {
  for (size_t i = 0; i < count; i++) {
    if (fields[i].id == id) {
      return &fields[i];
    }
    const lance_field *below = find_id(fields[i].children, fields[i].child_count, id);
    if (below != NULL) {
      return below;
    }
  }
  return NULL;
}

const lance_field *lance_schema_find_id(const lance_schema *s, int32_t id) {
  return find_id(s->fields, s->field_count, id);
}
