"""The program as scripts see it: output, JSON, exit codes, errors."""
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GLAIVE_PROGRAM", ROOT / "build/release/src/cli/glaive"))


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr


@pytest.fixture
def run(tmp_path):
    def call(*words, stdin=None, env=None, db=True):
        variables = {k: v for k, v in os.environ.items() if not k.startswith("GLAIVE_")}
        if db:
            variables["GLAIVE_DB"] = str(tmp_path / "db")
        variables.update(env or {})
        return Result(subprocess.run([PROGRAM, *words], input=stdin, capture_output=True, text=True, env=variables, cwd=tmp_path))

    return call


@pytest.fixture
def people(run, tmp_path):
    (tmp_path / "people.csv").write_text("name,age,joined\nada,36,2020-05-01\ngrace,85,2019-01-15\nbob,12,2024-08-20\n")
    assert run("ns", "create", "ops").code == 0
    result = run("table", "import", "ops.people", "people.csv")
    assert (result.code, result.err) == (0, "")
    assert result.out == "imported 3 rows into ops.people, version 1\n"
    return run


def readme_session():
    """The commands README shows and what it says they print: [(command, output)]."""
    steps, block = [], False
    for line in (ROOT / "README.md").read_text().splitlines():
        if line.startswith("    $ "):
            block = True
            steps.append(([line[6:]], []))
        elif block and line.startswith("    "):
            command, output = steps[-1]
            unfinished = "<<END" in command[0] and command[-1] != "END"
            (command if unfinished else output).append(line[4:])
        else:
            block = False
    return [("\n".join(command), output) for command, output in steps]


def without_times(text):
    return re.sub(r"\b\d+ ms\b", "N ms", text)


def test_tour(tmp_path):
    """README's tour, command by command in one shell, prints what README says, apart from durations."""
    steps = readme_session()
    assert len(steps) >= 9
    script = "".join(f"{command}\necho end-of-step\n" for command, _ in steps).replace("/tmp/db", str(tmp_path / "db"))
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    process = subprocess.run(["bash", "-e"], input=script, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert (process.returncode, process.stderr) == (0, "")
    printed = process.stdout.split("end-of-step\n")[:-1]
    assert len(printed) == len(steps)
    for (command, expected), actual in zip(steps, printed):
        assert [without_times(line) for line in actual.splitlines()] == [without_times(line) for line in expected], command
    modes = [line for _, output in steps for line in output if line.startswith("adults: ")]
    assert [line.split(",")[0] for line in modes] == ["adults: incremental", "adults: no_op"]


def test_version_and_help(run):
    assert run("--version", db=False).out.startswith("glaive 0.")
    text = run("--help", db=False)
    assert text.code == 0
    for command in ["ns create", "table import", "view refresh", "query"]:
        assert f"glaive {command}" in text.out
        one = run(*command.split(), "--help", db=False)
        assert one.code == 0 and one.out.startswith(f"usage: glaive {command}")
        assert "--db DIR" in one.out


@pytest.mark.parametrize("words, text", [
    ([], "no command"),
    (["frobnicate"], "'frobnicate' is not a command"),
    (["table"], "'table' needs a command after it"),
    (["table", "frobnicate"], "'table frobnicate' is not a command"),
    (["table", "describe"], "an argument is missing: NAME"),
    (["table", "describe", "a", "b"], "unexpected argument 'b'"),
    (["table", "describe", "a", "--what"], "unknown option '--what'"),
    (["table", "head", "a", "-n"], "option '--rows' needs a value"),
    (["table", "head", "a", "-n", "few"], "--rows takes a whole number, not 'few'"),
    (["table", "list", "--json=1"], "option '--json' takes no value"),
    (["table", "list", "--url", "http://h", "--db", "x"], "exclude each other"),
    (["table", "import", "t", "data.txt"], "say --format"),
    (["table", "import", "t", "d.csv", "--append", "--overwrite"], "exclude each other"),
    (["table", "delete", "t"], "--where true deletes all"),
    (["table", "update", "t", "--where", "true"], "--set COLUMN=EXPRESSION"),
    (["table", "update", "t", "--set", "age"], "--set takes COLUMN=EXPRESSION, not 'age'"),
    (["table", "update", "t", "--set", "age==1"], "--set takes COLUMN=EXPRESSION"),
    (["table", "merge", "t", "d.csv", "--when-matched-update"], "--on COLUMN"),
    (["table", "merge", "t", "d.csv", "--on", "id"], "say what to do"),
    (["table", "merge", "t", "d.txt", "--on", "id", "--when-matched-update"], "say --format"),
    (["view", "create", "v"], "give either --as"),
    (["view", "create", "v", "--as", "SELECT a FROM t", "--where", "a > 1"], "give either --as"),
    (["view", "refresh", "v", "--require", "speed"], "--require takes incremental"),
    (["query", "SELECT 1", "--format", "xml"], "--format takes table, csv, jsonl or arrow"),
])
def test_wrong_usage_exits_2(run, words, text):
    result = run(*words)
    assert result.code == 2
    assert text in result.err and "usage: glaive" in result.err
    assert result.out == ""


def test_no_database(run):
    result = run("table", "list", db=False)
    assert (result.code, result.out) == (2, "")
    assert "GLAIVE_DB" in result.err


@pytest.mark.parametrize("words, code, text", [
    (["table", "describe", "ops.nothing"], 3, "ops.nothing"),
    (["ns", "describe", "nothing"], 3, "nothing"),
    (["view", "refresh", "nothing"], 3, "nothing"),
    (["query", "SELECT nothing FROM ops.people"], 1, "nothing"),
    (["query", "SELECT name FROM ops.people ORDER BY nothing"], 3, "nothing"),
    (["ns", "create", "ops"], 4, "ops"),
    (["table", "import", "ops.people", "people.csv"], 4, "already exists"),
    (["view", "create", "ops.people", "--source", "ops.people"], 1, "would read itself: ops.people -> ops.people"),
    (["ns", "drop", "ops"], 1, "1"),
    (["view", "describe", "ops.people"], 1, "not a materialized view"),
    (["view", "drop", "ops.people"], 1, "not a materialized view"),
    (["table", "import", "t", "missing.csv"], 1, "missing.csv"),
    (["table", "import", "nowhere.t", "people.csv"], 3, "nowhere"),
    (["table", "describe", "a..b"], 1, "a..b"),
    (["table", "import", "a b", "people.csv"], 1, "a b"),
    (["view", "create", "v", "--as", "SELECT name FROM ops.people ORDER BY name"], 1, "unsupported clause"),
    (["view", "create", "v", "--as", "SELECT age + FROM ops.people"], 1, ""),
    (["view", "create", "v", "--source", "ops.people", "--select", "x=nope(age)"], 1, "nope"),
    (["table", "count", "ops.people", "--where", "age / 0 > 1"], 1, "Divide by zero"),
    (["table", "delete", "ops.nothing", "--where", "true"], 3, "ops.nothing"),
    (["table", "update", "ops.people", "--set", "nothing=1"], 3, "no column 'nothing'"),
    (["table", "update", "ops.people", "--set", "age=name"], 1, "'ada'"),
    (["table", "merge", "ops.people", "people.csv", "--on", "nothing", "--when-not-matched-insert"], 3, "'nothing'"),
])
def test_failures(people, words, code, text):
    result = people(*words)
    assert (result.code, result.out) == (code, ""), result.err
    assert result.err.startswith("glaive: ") and text in result.err
    assert result.err.count("\n") == 1


def test_json_output(people):
    run = people
    assert json.loads(run("ns", "list", "--json").out) == ["ops"]
    assert json.loads(run("table", "list", "ops", "--json").out) == ["ops.people"]
    assert json.loads(run("table", "count", "ops.people", "--json").out) == {"count": 3}
    described = json.loads(run("table", "describe", "ops.people", "--json").out)
    assert (described["rows"], described["version"], described["stable_row_ids"]) == (3, 1, True)
    assert described["columns"] == [
        {"name": "name", "type": "string", "nullable": True},
        {"name": "age", "type": "int64", "nullable": True},
        {"name": "joined", "type": "date32[day]", "nullable": True}]
    run("view", "create", "v", "--source", "ops.people", "--select", "name", "--select", "old=age > 40", "--where", "age > 1")
    assert json.loads(run("view", "list", "--json").out) == [
        {"name": "v", "namespace": "", "form": "namespaced_select", "state": "ok"}]
    definition = json.loads(run("view", "describe", "v", "--json").out)
    assert definition["projections"] == [{"output": "name", "expression": "`name`"}, {"output": "old", "expression": "age > 40"}]
    assert (definition["source_table"], definition["source_namespace"], definition["filter"]) == ("people", ["ops"], "age > 1")
    result = json.loads(run("view", "refresh", "v", "--json").out)
    assert {k: result[k] for k in ("mode", "rows_written", "source_version", "version", "reason")} == {
        "mode": "no_op", "rows_written": 0, "source_version": 1, "version": 2, "reason": ""}
    assert json.loads(run("query", "SELECT count(*) FROM v", "--json").out) == [{"count(*)": 3}]
    assert json.loads(run("query", "SELECT name FROM v WHERE old AND NOT old", "--json").out) == []
    versions = json.loads(run("table", "versions", "v", "--json").out)
    assert [v["version"] for v in versions] == [1, 2]
    assert json.loads(run("view", "drop", "v", "--json").out) == {"dropped": "v"}


def test_csv_rules(run, tmp_path):
    (tmp_path / "d.csv").write_text('i,f,b,d,t,z,s,n\n1,1.5,true,2024-01-02,2024-01-02T03:04:05,2024-01-02T03:04:05Z,"NA",NA\n-2,2,false,,2024-01-02 03:04:05.5,,x,\n')
    assert run("table", "import", "t", "d.csv").code == 0
    columns = {c["name"]: c["type"] for c in json.loads(run("table", "describe", "t", "--json").out)["columns"]}
    assert columns["i"] == "int64" and columns["f"] == "double" and columns["b"] == "bool" and columns["d"] == "date32[day]"
    assert columns["t"] == "timestamp[us]" and columns["z"] == "timestamp[us, tz=UTC]" and columns["s"] == "string"
    rows = json.loads(run("query", "SELECT i, f, b, d, s, n FROM t", "--json").out)
    assert rows[0] == {"i": 1, "f": 1.5, "b": True, "d": "2024-01-02", "s": "NA", "n": None}
    assert rows[1]["d"] is None
    bad = run("table", "import", "t", "-", "--format", "csv", "--append", stdin="i,f\n1,2\nx,3\n")
    assert bad.code == 1 and "line 3" in bad.err and "i" in bad.err
    bad = run("table", "import", "t", "-", "--format", "csv", "--append", stdin="i,what\n1,2\n")
    assert bad.code in (1, 3) and "what" in bad.err
    assert run("table", "count", "t").out == "2\n"
    assert run("table", "import", "u", "d.csv", "--types", "i=int32", "--types", "f=utf8").code == 0
    columns = {c["name"]: c["type"] for c in json.loads(run("table", "describe", "u", "--json").out)["columns"]}
    assert (columns["i"], columns["f"]) == ("int32", "string")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "arrow"])
def test_export_and_import_again(people, tmp_path, ending):
    run = people
    path = tmp_path / f"out.{ending}"
    assert run("table", "export", "ops.people", str(path)).code == 0
    assert run("table", "import", "again", str(path)).code == 0
    query = "SELECT name, age, CAST(joined AS STRING) AS joined FROM {} ORDER BY name"
    assert json.loads(run("query", query.format("again"), "--json").out) == json.loads(run("query", query.format("ops.people"), "--json").out)
    assert not list(tmp_path.glob("*.part"))


def test_output_to_a_full_device(people):
    result = people("table", "export", "ops.people", "/dev/full/x.csv")
    assert result.code == 1
    if pathlib.Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            process = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE)
        assert process.returncode == 1


def test_completion_and_man_page_name_every_command():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
    page = (ROOT / "man/glaive.1").read_text().replace("\\-", "-")
    for line in text.splitlines():
        if line.startswith("  glaive "):
            words = line.split()
            name = " ".join(words[1:3]) if words[1] not in ("query", "search") else words[1]
            assert name in page, name
            options = subprocess.run([PROGRAM, *name.split(), "--help"], capture_output=True, text=True).stdout
            for word in options.split():
                option = word.split("[")[0]
                if option.startswith("--") and option not in ("--api-key", "--url"):
                    assert option in page, (name, option)
    script = (ROOT / "completions/glaive.bash").read_text()
    check = subprocess.run(["bash", "-c", script + "\nCOMP_WORDS=(glaive vi); COMP_CWORD=1; _glaive; echo ${COMPREPLY[@]}\n"
                            "COMP_WORDS=(glaive view re); COMP_CWORD=2; _glaive; echo ${COMPREPLY[@]}\n"
                            "COMP_WORDS=(glaive view refresh --fu); COMP_CWORD=3; _glaive; echo ${COMPREPLY[@]}"],
                           capture_output=True, text=True, env={**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})
    assert check.stdout.split("\n")[:3] == ["view", "refresh", "--full"]


def test_permission_denied(people, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "db").chmod(0o500)
    result = people("table", "import", "t", "people.csv")
    (tmp_path / "db").chmod(0o700)
    assert result.code == 1 and "permission denied" in result.err.lower()


def test_changing_rows(people, tmp_path):
    run = people
    assert run("table", "delete", "ops.people", "--where", "age < 20").out == "deleted 1 rows from ops.people, version 2\n"
    done = run("table", "update", "ops.people", "--set", "age=age + 1", "--set", 'name=concat("name is ", name)', "--where", '"age" > 80')
    assert (done.out, done.err) == ("updated 1 rows of ops.people, version 3\n", "")
    (tmp_path / "more.csv").write_text("name,age\nada,37\nzoe,5\n")
    merge = ["table", "merge", "ops.people", "more.csv", "--on", "name"]
    assert run(*merge, "--when-matched-update=source.age > target.age", "--when-not-matched-insert").out == (
        "inserted 1, updated 1, deleted 0 rows in ops.people, version 4\n")
    assert json.loads(run(*merge, "--when-not-matched-by-source-delete=age > 80", "--json").out) == {
        "table": "ops.people", "version": 5, "rows_inserted": 0, "rows_updated": 0, "rows_deleted": 1, "attempts": 1}
    assert json.loads(run("table", "head", "ops.people", "--json").out) == [
        {"name": "ada", "age": 37, "joined": "2020-05-01"}, {"name": "zoe", "age": 5, "joined": None}]
    assert json.loads(run("table", "delete", "ops.people", "--where", "age > 99", "--json").out)["attempts"] == 0
    done = run("table", "merge", "ops.people", "-", "--on", "name", "--when-matched-update", "--format", "jsonl", stdin='{"name": "zoe", "age": 6}\n')
    assert (done.code, done.out) == (0, "inserted 0, updated 1, deleted 0 rows in ops.people, version 6\n")
