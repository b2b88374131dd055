"""The exported C functions that the program does not show (connect_namespace, pages), through ctypes."""
import ctypes as c
import json
import os

from conftest import ROOT

SCAN_BLOBS = 8
PATH = os.environ.get("GLAIVE_LIBRARY", str(ROOT / "build/release/src/libglaive.so"))


class Error(c.Structure):
    _fields_ = [("code", c.c_int32), ("sys_errno", c.c_int32), ("http_status", c.c_int32), ("flags", c.c_uint32),
                ("message", c.c_char * 496)]


class Id(c.Structure):
    _fields_ = [("parts", c.POINTER(c.c_char_p)), ("count", c.c_size_t)]


class Pair(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class Pairs(c.Structure):
    _fields_ = [("items", c.POINTER(Pair)), ("count", c.c_size_t)]


class Page(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("limit", c.c_uint64), ("page_token", c.c_char_p)]


class Strs(c.Structure):
    _fields_ = [("items", c.POINTER(c.c_char_p)), ("count", c.c_size_t)]


class Buf(c.Structure):
    _fields_ = [("data", c.c_void_p), ("size", c.c_size_t), ("owner", c.c_void_p)]


class EnvOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("threads", c.c_uint32), ("log_level", c.c_int32),
                ("memory_limit_bytes", c.c_uint64), ("allocator", c.c_void_p), ("io", c.c_void_p), ("log", c.c_void_p),
                ("log_user", c.c_void_p)]


class ConnectOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("host_override", c.c_char_p), ("api_key", c.c_char_p),
                ("headers", Pairs), ("user_agent", c.c_char_p), ("ca_file", c.c_char_p), ("timeout_ms", c.c_uint32),
                ("connect_timeout_ms", c.c_uint32), ("read_timeout_ms", c.c_uint32), ("retries", c.c_uint32),
                ("read_consistency_ms", c.c_uint32)]


class ViewDef(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("source_table", c.c_char_p), ("source_namespace", Strs),
                ("projections", Pairs), ("filter", c.c_char_p), ("limit", c.c_uint64), ("query", c.c_char_p),
                ("stored_form", c.c_int32), ("form", c.c_int32), ("inputs", Strs)]


class CallOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("cancel", c.c_void_p)]


class ScanOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("columns", Pairs), ("filter", c.c_char_p),
                ("limit", c.c_uint64), ("offset", c.c_uint64), ("batch_rows", c.c_uint32), ("cancel", c.c_void_p)]


class Order(c.Structure):
    _fields_ = [("column", c.c_char_p), ("flags", c.c_uint32)]


class SearchOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("vectors", c.POINTER(c.c_float)), ("vector_count", c.c_size_t),
                ("dimension", c.c_size_t), ("column", c.c_char_p), ("metric", c.c_int32), ("lower", c.c_float), ("upper", c.c_float),
                ("reserved", c.c_uint32), ("columns", Pairs), ("filter", c.c_char_p), ("limit", c.c_uint64), ("offset", c.c_uint64),
                ("order", c.POINTER(Order)), ("order_count", c.c_size_t), ("cancel", c.c_void_p)]


class TakeOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("columns", Pairs), ("cancel", c.c_void_p)]


class MetadataOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("target", c.c_int32), ("column", c.c_char_p),
                ("cancel", c.c_void_p)]


class OpenOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("version", c.c_uint64), ("tag", c.c_char_p),
                ("branch", c.c_char_p)]


class MergeOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("on", Strs), ("update_if", c.c_char_p),
                ("delete_if", c.c_char_p), ("cancel", c.c_void_p)]


class CompactOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("target_rows", c.c_uint64), ("threshold", c.c_double),
                ("cancel", c.c_void_p)]


class RefreshOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("full", c.c_int32), ("require", c.c_int32),
                ("source_version", c.c_uint64), ("incarnation", c.c_char_p), ("retries", c.c_int32), ("cancel", c.c_void_p)]


class RefreshResult(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("mode", c.c_int32), ("rows_written", c.c_int64), ("rows_removed", c.c_int64),
                ("source_version", c.c_int64), ("version", c.c_uint64), ("duration_ms", c.c_int64),
                ("source_rows_scanned", c.c_int64), ("reason", c.c_char * 32)]


METRICS = (None, "l2", "cosine", "dot", "hamming")
TARGETS = {"schema": 0, "table": 1, "config": 2, "field": 3}
REFRESH_SOURCE_VERSION, REFRESH_UPSTREAM = 1, 4
MERGE_UPDATE, MERGE_INSERT, MERGE_DELETE = 2, 4, 8
MODES = {1: "rebuild", 2: "incremental", 3: "no_op"}


class Failed(Exception):
    def __init__(self, code, text, http_status=0, flags=0):
        super().__init__(text)
        self.code = code
        self.http_status = http_status
        self.flags = flags


def id_of(parts):
    return Id((c.c_char_p * len(parts))(*[p.encode() for p in parts]), len(parts))


def pairs_of(pairs):
    items = (Pair * len(pairs))(*[Pair(k.encode(), v.encode() if v is not None else None) for k, v in pairs.items()])
    return Pairs(items, len(pairs))


def strs_of(names):
    return Strs((c.c_char_p * len(names))(*[n.encode() for n in names]), len(names))


def stream_of(table):
    stream = (c.c_uint64 * 5)()  # struct ArrowArrayStream: five pointers
    table.to_reader()._export_to_c(c.addressof(stream))
    return stream


def load():
    lib = c.CDLL(PATH)
    for name in ("glv_list_name", "glv_list_token"):
        getattr(lib, name).restype = c.c_char_p
    lib.glv_list_count.restype = c.c_size_t
    lib.glv_list_name.argtypes = [c.c_void_p, c.c_size_t]
    for name in ("glv_list_token", "glv_list_count", "glv_list_free", "glv_table_free", "glv_view_free", "glv_conn_free",
                 "glv_env_free"):
        getattr(lib, name).argtypes = [c.c_void_p]
    return lib


class Connection:
    """A connection of glv_connect, or of glv_connect_namespace("dir") when `namespace`; options: those of servers."""

    def __init__(self, root, namespace=False, memory_limit=0, headers=None, **server_options):
        self.lib = load()
        self.env, self.conn = c.c_void_p(), c.c_void_p()
        options = EnvOptions(struct_size=c.sizeof(EnvOptions), memory_limit_bytes=memory_limit)
        self.call("glv_env_new", c.byref(options), c.byref(self.env))
        if namespace:
            properties = Pairs((Pair * 1)(Pair(b"root", str(root).encode())), 1)
            self.call("glv_connect_namespace", self.env, b"dir", properties, None, c.byref(self.conn))
        else:
            how = ConnectOptions(struct_size=c.sizeof(ConnectOptions), headers=pairs_of(headers or {}), **server_options)
            self.call("glv_connect", self.env, str(root).encode(), c.byref(how), c.byref(self.conn))

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.lib, name)(*arguments, c.byref(error)) != 0:
            raise Failed(error.code, error.message.decode(), error.http_status, error.flags)

    def close(self):
        self.lib.glv_conn_free(self.conn)
        self.lib.glv_env_free(self.env)

    def create(self, parts, table):
        self.call("glv_table_create", self.conn, id_of(parts), stream_of(table), None, None)

    def drop(self, parts):
        self.call("glv_table_drop", self.conn, id_of(parts), None)

    def count(self, parts):
        table, count = c.c_void_p(), c.c_uint64()
        self.call("glv_table_open", self.conn, id_of(parts), None, c.byref(table))
        try:
            self.call("glv_table_count", table, None, None, c.byref(count))
        finally:
            self.lib.glv_table_free(table)
        return count.value

    def set_metadata(self, parts, target, changes, column=None, replace=False):
        """Keys of one map (TARGETS); a value of None removes the key."""
        table = c.c_void_p()
        options = MetadataOptions(c.sizeof(MetadataOptions), int(replace), TARGETS[target], column.encode() if column else None)
        self.call("glv_table_open", self.conn, id_of(parts), None, c.byref(table))
        try:
            self.call("glv_table_set_metadata", table, pairs_of(changes), c.byref(options), None)
        finally:
            self.lib.glv_table_free(table)

    def scan(self, parts, cancel=None):
        """A pyarrow reader over the rows."""
        import pyarrow as pa

        table, stream = c.c_void_p(), (c.c_uint64 * 5)()
        options = ScanOptions(struct_size=c.sizeof(ScanOptions), cancel=cancel, batch_rows=100)
        self.call("glv_table_open", self.conn, id_of(parts), None, c.byref(table))
        try:
            self.call("glv_table_scan", table, c.byref(options), stream)
        finally:
            self.lib.glv_table_free(table)
        return pa.RecordBatchReader._import_from_c(c.addressof(stream))

    def take(self, parts, rows, by_row_id=False, flags=0):
        """A pyarrow table of rows by place or row id."""
        import pyarrow as pa

        table, stream = c.c_void_p(), (c.c_uint64 * 5)()
        options = TakeOptions(struct_size=c.sizeof(TakeOptions), flags=4 * by_row_id | flags)
        self.call("glv_table_open", self.conn, id_of(parts), None, c.byref(table))
        try:
            self.call("glv_table_take", table, (c.c_uint64 * len(rows))(*rows), c.c_size_t(len(rows)), c.byref(options), stream)
        finally:
            self.lib.glv_table_free(table)
        return pa.RecordBatchReader._import_from_c(c.addressof(stream)).read_all()

    def search(self, parts, vectors, column=None, metric=None, columns=None, where=None, prefilter=True, limit=None, offset=0,
               lower=None, upper=None, row_id=False, order=()):
        """A pyarrow table of the nearest rows. vectors: a list of lists; columns: expressions by name; order: (column, flags)."""
        import pyarrow as pa

        table, stream = c.c_void_p(), (c.c_uint64 * 5)()
        flat = [x for v in vectors for x in v]
        flags = (limit is not None) | 2 * row_id | 16 * (lower is not None) | 32 * (upper is not None) | 64 * (not prefilter)
        options = SearchOptions(
            struct_size=c.sizeof(SearchOptions), flags=flags, vectors=(c.c_float * len(flat))(*flat), vector_count=len(vectors),
            dimension=len(vectors[0]), column=column.encode() if column else None, metric=METRICS.index(metric), lower=lower or 0,
            upper=upper or 0, columns=pairs_of(columns or {}), filter=where.encode() if where else None, limit=limit or 0,
            offset=offset, order=(Order * len(order))(*[Order(k.encode(), f) for k, f in order]), order_count=len(order))
        self.call("glv_table_open", self.conn, id_of(parts), None, c.byref(table))
        try:
            self.call("glv_table_search", table, c.byref(options), stream)
        finally:
            self.lib.glv_table_free(table)
        return pa.RecordBatchReader._import_from_c(c.addressof(stream)).read_all()

    def refresh(self, parts, flags=0):
        """(mode, rows written, reason) of a refresh."""
        view = c.c_void_p()
        options = RefreshOptions(struct_size=c.sizeof(RefreshOptions), flags=flags)
        result = RefreshResult(struct_size=c.sizeof(RefreshResult))
        self.call("glv_view_open", self.conn, id_of(parts), None, c.byref(view))
        try:
            self.call("glv_view_refresh", view, c.byref(options), c.byref(result))
        finally:
            self.lib.glv_view_free(view)
        return MODES[result.mode], result.rows_written, result.reason.decode()

    def cancel(self):
        """A token, and a function that cancels what carries it."""
        token = c.c_void_p()
        self.call("glv_cancel_new", self.env, c.byref(token))
        return token, lambda: self.lib.glv_cancel_request(token)

    def page(self, kind, parent=(), limit=None, token=None):
        """(names, next token) of one page; kind: table or namespace."""
        options = Page(c.sizeof(Page), limit is not None, limit or 0, token.encode() if token is not None else None)
        entries = c.c_void_p()
        self.call(f"glv_{kind}_list", self.conn, id_of(parent), c.byref(options), c.byref(entries))
        names = [self.lib.glv_list_name(entries, i).decode() for i in range(self.lib.glv_list_count(entries))]
        following = self.lib.glv_list_token(entries)
        self.lib.glv_list_free(entries)
        return names, following.decode() if following is not None else None


class Handle:
    """An open table or view, with the calls that change or report it; freed by close()."""

    def __init__(self, connection, kind, parts):
        self.connection, self.kind, self.handle = connection, kind, c.c_void_p()
        connection.call(f"glv_{kind}_open", connection.conn, id_of(parts), None, c.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        getattr(self.connection.lib, f"glv_{self.kind}_free")(self.handle)

    def call(self, name, *arguments):
        self.connection.call(f"glv_{self.kind}_{name}", self.handle, *arguments)


class Table(Handle):
    def __init__(self, connection, parts):
        super().__init__(connection, "table", parts)

    def append(self, rows):
        self.call("append", stream_of(rows), None, None)

    def overwrite(self, rows):
        self.call("overwrite", stream_of(rows), None, None)

    def delete(self, where):
        self.call("delete", where.encode(), None, None)

    def update(self, assignments, where):
        self.call("update", pairs_of(assignments), where.encode(), None, None)

    def merge(self, rows, on, flags):
        options = MergeOptions(struct_size=c.sizeof(MergeOptions), flags=flags, on=strs_of(on))
        self.call("merge", stream_of(rows), c.byref(options), None)

    def add_columns(self, expressions):
        self.call("add_columns", pairs_of(expressions), None, None)

    def add_null_columns(self, schema):
        import pyarrow as pa

        exported = (c.c_uint64 * 9)()  # struct ArrowSchema
        schema._export_to_c(c.addressof(exported))
        try:
            self.call("add_null_columns", exported, None, None)
        finally:
            pa.Schema._import_from_c(c.addressof(exported))  # releases it

    def alter_columns(self, changes):
        self.call("alter_columns", json.dumps(changes).encode(), None, None)

    def drop_columns(self, names):
        self.call("drop_columns", strs_of(names), None, None)

    def compact(self):
        options = CompactOptions(struct_size=c.sizeof(CompactOptions))
        self.call("compact", c.byref(options), None)

    def restore(self, version):
        options = OpenOptions(struct_size=c.sizeof(OpenOptions), version=version)
        self.call("checkout", c.byref(options))
        self.call("restore", None)


class View(Handle):
    def __init__(self, connection, parts):
        super().__init__(connection, "view", parts)

    def report(self, name, options=None):
        """explain, status or verify."""
        text = Buf()
        try:
            self.call(name, c.byref(options) if options is not None else None, c.byref(text))
            return json.loads(c.string_at(text.data, text.size))
        finally:
            self.connection.lib.glv_buf_dispose(c.byref(text))

    def refresh(self, options=None):
        """(mode, reason, rows written, source version)"""
        result = RefreshResult(struct_size=c.sizeof(RefreshResult))
        self.call("refresh", c.byref(options) if options is not None else None, c.byref(result))
        return MODES[result.mode], result.reason.decode(), result.rows_written, result.source_version


def to_version(version):
    """Options of a refresh to that version of the source."""
    return RefreshOptions(struct_size=c.sizeof(RefreshOptions), flags=REFRESH_SOURCE_VERSION, source_version=version)
