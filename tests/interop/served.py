"""`glaive serve` in a process of its own, and plain HTTP to it."""
import http.client
import json
import subprocess
import time

import pyarrow as pa
from conftest import PROGRAM


class Served:
    def __init__(self, db, *options):
        self.db, self.options = db, options
        self.start()

    def start(self):
        words = [PROGRAM, "--db", str(self.db), "serve", "--port", "0", "--no-access-log", *map(str, self.options)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("serving"), self.process.communicate()
        self.url = line.split()[-1]

    def stop(self):
        self.process.terminate()
        _, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, errors

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def call(self, path, body=None, method="POST", headers=None):
        """(status, JSON or bytes)."""
        connection = http.client.HTTPConnection(self.url.split("//")[1], timeout=60)
        try:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body)
            connection.request(method, path, data, {"content-type": "application/json"} | (headers or {}))
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if answer.headers.get_content_type() == "application/json" else text
        finally:
            connection.close()

    def ok(self, path, body=None, **more):
        status, answer = self.call(path, body, **more)
        assert status in (200, 201, 202), (path, status, answer)
        return answer

    def refused(self, status, code, path, body=None, **more):
        found, answer = self.call(path, body, **more)
        assert (found, answer["code"]) == (status, code), (path, found, answer)
        assert answer["detail"].startswith("GLV_E_") and answer["instance"]
        return answer["error"]

    def job(self, id):
        return self.ok("/v1/jobs/describe", {"job_id": id})

    def wait(self, id, seconds=30):
        """The job when it is over."""
        for _ in range(seconds * 100):
            job = self.job(id)
            if job["job_state"] not in ("QUEUED", "IN_PROGRESS"):
                return job
            time.sleep(0.01)
        raise AssertionError(f"still not over: {job}")

    def events(self, id, **more):
        return pa.ipc.open_stream(self.ok("/v1/jobs/query_events", {"job_id": id, **more})).read_all()
