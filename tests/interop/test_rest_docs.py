"""docs/rest.md: its examples are run in order against a new server, and each gets the status and the answer that the page tells."""
import os
import re
import subprocess

import pytest
from http_server import PROGRAM, ROOT, Server

PAGE = (ROOT / "docs/rest.md").read_text()
EXAMPLE = re.compile(r"^```bash\n(?P<script>(?:(?!```).)*)\n```\n\n(?P<status>\d{3})(?: (?P<ticks>`+) ?(?P<answer>[^\n]*?) ?(?P=ticks))?$", re.M | re.S)
SETUP = re.compile(r"^```bash\n(.*?)\n```\n\n(?!\d{3})", re.M | re.S)
# The status of every answer on the standard error, whatever becomes of its body.
CURL = "#!/bin/sh\nexec {} -w '%{{stderr}}status %{{http_code}}\\n' \"$@\"\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The server, and for every example what it wrote and the statuses it got."""
    place = tmp_path_factory.mktemp("rest")
    tools = place / "tools"
    tools.mkdir()
    found = subprocess.run(["sh", "-c", "command -v curl"], capture_output=True, text=True, check=True).stdout.strip()
    (tools / "curl").write_text(CURL.format(found))
    (tools / "curl").chmod(0o755)
    (tools / "glaive").symlink_to(PROGRAM)
    path = f"{tools}:{ROOT / '.cache/venv/bin'}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "GLAIVE_DB": str(place / "db"), "no_proxy": "*"}
    examples = [match.groupdict() for match in EXAMPLE.finditer(PAGE)]
    subprocess.run(["bash", "-e", "-c", SETUP.search(PAGE).group(1)], cwd=place, env=environment, check=True)
    server = Server(place / "db", "--no-access-log")
    script = [f"U={server.url}"] + [f"{{\n{x['script']}\n}} > {i}.out 2> {i}.err" for i, x in enumerate(examples)]
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=place, env=environment, check=True, timeout=60)
    for i, example in enumerate(examples):
        example["found"] = re.findall(r"^status (\d+)$", (place / f"{i}.err").read_text(), re.M)
        example["wrote"] = (place / f"{i}.out").read_bytes().decode(errors="replace").strip().replace("\n", r"\n")
    yield server, examples
    assert server.stop() == 0


def test_every_example_is_answered_as_the_page_says(run):
    _, examples = run
    assert len(examples) == len(re.findall(r"^```bash$", PAGE, re.M)) - 1 > 60
    wrong = []
    for example in examples:
        parts = [re.escape(part) for part in (example["answer"] or "").split("…")]
        if example["found"][-1:] != [example["status"]] or not re.fullmatch(".*".join(parts) if example["answer"] else ".*", example["wrote"]):
            wrong.append(example)
    assert not wrong


def test_every_route_is_in_the_page_and_was_asked(run):
    server, _ = run
    metrics = server.get("/metrics").body.decode()
    for path, item in server.get("/openapi.json").json()["paths"].items():
        assert f'glaive_requests_total{{route="{path}",' in metrics, path
        for method in map(str.upper, item):
            assert f"`{method} {path}`" in PAGE, (method, path)
