"""Requests that are nearly right: recorded ones of the official clients, changed at random by rules that know HTTP, paths and JSON.

A case is a function of its number alone, so one that fails is found again by its number.
"""
import base64
import json
import pathlib
import random
import urllib.parse

import pyarrow as pa
from http_server import stream_of

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded_requests.json").read_text())
NAMES = ["t", "v", "ns", "ns$t", "ns%24t", "src", "$", "%24", "no", ""]
LONG_HEAD = 60_000  # what is longer than the server's limit is refused by its HTTP library, not in JSON
JUNK_TEXTS = ["", " ", "t", "id", "vec", "$", "..", ".", "/", "%", "%00", "\x00", "é", "\ud83d\ude00", "a" * 300, "'", "\"", "`", "null", "id = 1", "id =", "age > 50",
              "CASE WHEN", "(" * 200, "1e999", "9223372036854775808", "SELECT id FROM src", "SELECT * FROM src WHERE age > 3 LIMIT 2", "main", "Create", "overwrite",
              "2026-11-30T20:30:30.932841752+00:00", "[]", "{}"]
JUNK_VALUES = [None, True, False, 0, 1, -1, 2, 1000, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -2**63, -2**63 - 1, 0.5, -0.0, 1e308, 1e-320, [], {}, [[]], [None],
               {"": ""}, [0] * 300, ["id"], [0.5] * 4, [[0.5] * 4, [1.0] * 4], {"single_vector": [0.5] * 4}, {"column_names": ["id"]}]
JUNK_ESCAPES = ["%", "%2", "%zz", "%00", "%2F", "%2e%2e", "%24", "%FF", "%C3%28", "$", "$$", "..", "//", "#", ";", "?", "&", "=", "+", "~", "\\"]


def arrow_bodies():
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "age": pa.array([5, None, 7], pa.int32()), "name": ["a", None, "ccc"],
                     "vec": pa.FixedSizeListArray.from_arrays(pa.array([0.5] * 12, pa.float32()), 4)})
    nested = pa.table({"id": [1, 2], "l": [[1, 2], None], "s": [{"a": 1}, {"a": None}], "d": pa.array(["x", "y"]).dictionary_encode()})
    options = [stream_of(rows), stream_of(rows.slice(0, 0)), stream_of(nested), stream_of(rows.select(["id"]))]
    return options


ARROW_BODIES = arrow_bodies()


class Case:
    """One request: bytes to send, and what may be asked of the answer."""

    def __init__(self, number):
        self.number = number
        self.random = random.Random(number)
        self.is_http = True  # what is sent is HTTP, so that the answer is one of the server's own
        self.is_whole = True  # all that the head promises is sent
        self.data = self.make()

    # ---- the parts ----

    def make(self):
        seed = self.random.choice(RECORDED)
        self.method = seed["method"]
        target = self.target(seed)
        headers = {"host": "localhost", "x-request-id": f"case-{self.number}"}
        body = self.body(seed, headers)
        if self.random.random() < 0.1:
            self.change_headers(headers)
        data = self.assemble(target, headers, body)
        if self.random.random() < 0.06:
            data = self.change_bytes(data, protect=0)
            self.is_http = self.is_whole = False
        return data

    def target(self, seed):
        path = seed["path"]
        parts = path.split("/")
        for i, part in enumerate(parts):
            if part in ("t", "t$t", "t%24t") and self.random.random() < 0.9:
                parts[i] = self.random.choice(NAMES[:6] if self.random.random() < 0.9 else NAMES)
            elif self.random.random() < 0.02:
                parts[i] = self.random.choice(NAMES + JUNK_ESCAPES)
        path = "/".join(parts)
        query = [(k, v) for k, v in seed.get("query", [])]
        if query and self.random.random() < 0.3:
            query[self.random.randrange(len(query))] = (self.random.choice(query)[0], self.random.choice(JUNK_TEXTS))
        if self.random.random() < 0.05:
            query.append((self.random.choice(["delimiter", "branch", "limit", "page_token", "mode", "upload_id", "x"]), self.random.choice(JUNK_TEXTS)))
        if query:
            path += "?" + "&".join(f"{k}={urllib.parse.quote(str(v).encode('utf-8', 'surrogatepass'))}" for k, v in query)
        if self.random.random() < 0.08:
            at = self.random.randrange(1, len(path) + 1)
            path = path[:at] + self.random.choice(JUNK_ESCAPES) + path[at:]
        if self.random.random() < 0.03:
            path += "/" if not path.endswith("/") else "/x"
        if self.random.random() < 0.01:
            path += "a" * self.random.choice([1000, 60000, 70000])
        return path

    def body(self, seed, headers):
        body = seed.get("body")
        if body == "ARROW" or (body is not None and self.random.random() < 0.01):
            headers["content-type"] = "application/vnd.apache.arrow.stream"
            data = self.random.choice(ARROW_BODIES)
            chance = self.random.random()
            if chance < 0.5:
                data = self.change_bytes(data, protect=0)
            elif chance < 0.6:
                data = data[:self.random.randrange(len(data))]
            elif chance < 0.65:
                data = data + self.random.choice(ARROW_BODIES)
            return data
        if body is None:
            return b""
        headers["content-type"] = "application/json"
        if self.random.random() < 0.8:
            for _ in range(self.random.choice([1, 1, 1, 2, 3])):
                body = self.change_json(body)
        data = json.dumps(body, ensure_ascii=self.random.random() < 0.5).encode("utf-8", "surrogatepass")
        chance = self.random.random()
        if chance < 0.1:
            data = self.change_bytes(data, protect=0)
        elif chance < 0.12:
            data = b"[" * self.random.choice([10, 200, 100_000]) + data
        elif chance < 0.14:
            data = b'{"a":' * self.random.choice([10, 200, 50_000]) + data
        return data

    def change_json(self, body):
        """Change one place of a document."""
        places = []

        def walk(value):
            if isinstance(value, dict):
                places.extend((value, k) for k in value)
                for one in value.values():
                    walk(one)
            elif isinstance(value, list):
                places.extend((value, i) for i in range(min(len(value), 8)))
                for one in value[:8]:
                    walk(one)

        body = json.loads(json.dumps(body))
        walk(body)
        if not places or self.random.random() < 0.05:
            return self.random.choice([body, self.junk(), {"id": ["t"]}])
        holder, key = self.random.choice(places)
        chance = self.random.random()
        if chance < 0.15:
            del holder[key]
        elif chance < 0.25 and isinstance(holder, dict):
            holder[self.random.choice(JUNK_TEXTS)] = holder.pop(key)
        elif chance < 0.4:
            other, k = self.random.choice(places)
            if not (isinstance(other, list) and k >= len(other)) and not (isinstance(other, dict) and k not in other):
                holder[key] = json.loads(json.dumps(other[k]))
        else:
            holder[key] = self.junk()
        return body

    def junk(self):
        return self.random.choice(JUNK_TEXTS) if self.random.random() < 0.5 else self.random.choice(JUNK_VALUES)

    def change_bytes(self, data, protect):
        out = bytearray(data)
        for _ in range(self.random.choice([1, 1, 2, 4, 16])):
            at = self.random.randrange(protect, len(out)) if len(out) > protect else len(out)
            kind = self.random.random()
            if kind < 0.5 and at < len(out):
                out[at] ^= 1 << self.random.randrange(8)
            elif kind < 0.7 and at < len(out):
                out[at] = self.random.choice([0, 1, 0x7F, 0x80, 0xFF])
            elif kind < 0.85:
                del out[at:at + self.random.randrange(1, 9)]
            else:
                out[at:at] = bytes(self.random.randrange(256) for _ in range(self.random.randrange(1, 5)))
        return bytes(out)

    def change_headers(self, headers):
        kind = self.random.randrange(7)
        if kind == 0:
            headers["content-type"] = self.random.choice(["text/plain", "", "application/vnd.apache.arrow.stream", "application/json; charset=utf-8", "application/x"])
        elif kind == 1:
            headers["accept-encoding"] = self.random.choice(["gzip", "gzip;q=0", "identity", "*", "br, gzip;q=0.5", ";;,,", "gzip;q=x"])
        elif kind == 2:
            headers["x-request-timeout-ms"] = self.random.choice(["0", "1", "-1", "x", "99999999999999999999"])
        elif kind == 3:
            headers["x-request-id"] = self.random.choice(["", "x" * 129, "a b", "\t"])
        elif kind == 4:
            headers["x-api-key"] = self.random.choice(["", "k", "x" * 5000])
        elif kind == 5:
            headers["x-lancedb-min-version"] = self.random.choice(["1", "99", "x", "18446744073709551616"])
        else:
            headers["x-" + "y" * self.random.choice([10, 1000])] = "z" * self.random.choice([10, 1000, 50_000, 100_000])

    def assemble(self, target, headers, body):
        method = self.method if self.random.random() < 0.97 else self.random.choice(["GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "FOO"])
        self.sent_method = method
        chunked = bool(body) and self.random.random() < 0.2
        if chunked:
            headers["transfer-encoding"] = "chunked"
            cut = sorted(self.random.randrange(len(body) + 1) for _ in range(self.random.randrange(4)))
            pieces = [body[a:b] for a, b in zip([0, *cut], [*cut, len(body)], strict=True) if a < b]
            encoded = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        else:
            encoded = body
            if body or method == "POST":
                headers["content-length"] = str(len(body))
        head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        data = head.encode("utf-8", "surrogatepass") + encoded
        if len(head) > LONG_HEAD:
            self.is_http = False
        try:
            target.encode("ascii")
            if any(c in target for c in " \x00\r\n\t#\\"):
                raise ValueError
        except (UnicodeEncodeError, ValueError):
            self.is_http = False
        if encoded and self.random.random() < 0.02:
            data = data[:len(data) - self.random.randrange(1, len(encoded) + 1)]
            self.is_whole = False
        return data

    def describe(self):
        return f"case {self.number}: {base64.b64encode(self.data[:20000]).decode()}\n{self.data[:1500]!r}"
