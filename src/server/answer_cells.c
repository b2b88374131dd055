/* Rows as one JSON document: made whole, so that what fails is answered with a status. */
#include "arrow/cdata.h"
#include "server/server_private.h"
#include "text/text.h"

enum {
  MOST_BYTES = 4 << 20,   /* the document ends with the row that passes this */
  ROOM_BYTES = 128 << 20, /* and so does the answer: for rows that are large by themselves */
};

glv_status answer_cells(request *r, struct ArrowArrayStream *rows, uint64_t max_rows,
                        glv_error *err) {
  CLEANUP(batch_reader_dispose) batch_reader reader = {0};
  CLEANUP(buf_dispose) buf text;
  buf_init(&text, r->env, ROOM_BYTES);
  const uint64_t most = r->server->options.max_rows;
  max_rows = most != 0 && most < max_rows ? most : max_rows;
  TRY(cdata_import_stream(r->env, rows, &reader, err));
  TRY(cells_write(&reader, max_rows, MOST_BYTES, &text, NULL, err));
  return answer_bytes(r, 200, "application/json", buf_str(&text), err);
}
