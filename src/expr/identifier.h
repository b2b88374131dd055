/**
 * @file identifier.h
 * Which names SQL text may hold without quotes, and texts in quotes.
 */
#ifndef GLAIVE_EXPR_IDENTIFIER_H
#define GLAIVE_EXPR_IDENTIFIER_H

#include "base/buf.h"

/** name, in lower case, is a word that the reference's parser does not read back as a name (15.2).
 */
bool identifier_is_reserved(str name);
/** Canonical text holds name without quotes. */
bool identifier_is_bare(str name);
/** Append a text in quotes of any kind, those inside doubled. Errors: those of buf_append. */
glv_status sql_put_quoted(buf *out, str text, char quote, glv_error *err);

#endif
