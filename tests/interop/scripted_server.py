"""An HTTP server on a socket that answers what a test tells it, also against the protocol, and keeps what it was sent.

A script is a dict from the end of a path to the steps for requests to it, in turn; the last step goes on for ever.
Steps are made with the functions below. A request that no script knows gets 404.
"""
import gzip
import json
import socket
import struct
import threading
import time

JSON = "application/json"
ARROW_FILE = "application/vnd.apache.arrow.file"


class Step:
    def __init__(self, status=200, body=b"", headers=None, wait=0, cut=None, reset=False, silent=False, early=False):
        self.status, self.body, self.headers = status, body, headers or {}
        self.wait = wait      # seconds before the answer
        self.cut = cut        # send only so many bytes of the body, then close
        self.reset = reset    # close with RST instead of an answer
        self.silent = silent  # close without an answer
        self.early = early    # answer before the body of the request was read

    def __str__(self):
        return f"{self.status} {self.body.decode('latin-1')[:40]}"


def reply(value, status=200, **more):
    return Step(status, json.dumps(value).encode(), {"Content-Type": JSON, **more.pop("headers", {})}, **more)


def text(body, status=200, content_type="text/plain", **more):
    return Step(status, body if isinstance(body, bytes) else body.encode(), {"Content-Type": content_type}, **more)


def error(status, code, detail="", message="went wrong", instance="r-1", **more):
    return reply({"error": message, "code": code, "detail": detail, "instance": instance}, status, **more)


def rows(table, content_type=ARROW_FILE, **more):
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    writer = pa.ipc.new_stream if "stream" in (content_type or "") else pa.ipc.new_file
    with writer(sink, table.schema) as out:
        out.write_table(table)
    headers = {"Content-Type": content_type} if content_type else {}
    return Step(200, sink.getvalue().to_pybytes(), {**headers, **more.pop("headers", {})}, **more)


def compressed(step):
    return Step(step.status, gzip.compress(step.body), {**step.headers, "Content-Encoding": "gzip"})


class Request:
    def __init__(self, method, target, headers, body, connection):
        self.method, self.target, self.headers, self.body, self.connection = method, target, headers, body, connection
        self.path, _, self.query = target.partition("?")
        self.at = time.monotonic()

    @property
    def json(self):
        return json.loads(self.body) if self.body else None


class ScriptedServer:
    def __init__(self, script):
        self.script = {path: list(steps) if isinstance(steps, (list, tuple)) else [steps] for path, steps in script.items()}
        self.requests, self.lock, self.connections = [], threading.Lock(), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def sent(self, path):
        """The requests to paths that end so."""
        return [r for r in self.requests if r.path.endswith(path)]

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(peer, self.connections), daemon=True).start()

    def serve(self, peer, number):
        try:
            with peer:
                stream = peer.makefile("rb")
                while self.serve_one(peer, stream, number):
                    pass
        except OSError:
            pass

    def serve_one(self, peer, stream, number):
        line = stream.readline().decode()
        if not line:
            return False
        method, target, _ = line.split(" ", 2)
        headers = {}
        for header in iter(lambda: stream.readline().decode().rstrip("\r\n"), ""):
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        step = self.next_step(target.partition("?")[0])
        body = b"" if step.early else self.read_body(stream, headers)
        with self.lock:
            self.requests.append(Request(method, target, headers, body, number))
        return self.answer(peer, step)

    def read_body(self, stream, headers):
        if headers.get("transfer-encoding") != "chunked":
            return stream.read(int(headers.get("content-length", 0)))
        body = b""
        while True:
            line = stream.readline()
            size = int(line or b"0", 16)
            body += stream.read(size)
            stream.readline()
            if size == 0:
                return body

    def next_step(self, path):
        with self.lock:
            for known, steps in self.script.items():
                if path.endswith(known):
                    return steps.pop(0) if len(steps) > 1 else steps[0]
        return error(404, 0, message=f"no route {path}")

    def answer(self, peer, step):
        time.sleep(step.wait)
        if step.reset:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if step.silent:
            return False
        headers = {"Content-Length": str(len(step.body)), **step.headers}
        head = f"HTTP/1.1 {step.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        peer.sendall(head.encode() + (step.body if step.cut is None else step.body[: step.cut]))
        return step.cut is None and not step.early
