"""Random expressions against pylance: the program that checks the recorded corpus checks these the same way.

A few hundred in the short form; GLAIVE_LONG=1 compares 20,000 (sql-expressions, section 19, item 28).
"""
import json
import os
import pathlib
import subprocess

import pytest
from conftest import ROOT
from random_expressions import KNOWN, Generator, Reference

CASES = pathlib.Path(os.environ.get("GLAIVE_CASES", ROOT.parent / "shared/cases"))
CHECKER = pathlib.Path(os.environ.get("GLAIVE_SQL_CORPUS", ROOT / "build/dev/tests/corpus/sql_corpus"))
LONG = os.environ.get("GLAIVE_LONG") == "1"
PER_SEED = 2500 if LONG else 300
SEEDS = range(8 if LONG else 2)
MISTAKES = 0.02  # at most this share may fall on errors of the reference


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return Reference(CASES, tmp_path_factory.mktemp("reference"))


def judged(reference, seed):
    """PER_SEED cases with outcomes but those that are known to differ, and how many more were left out."""
    generator, cases, left_out = Generator(seed), [], 0
    while len(cases) < PER_SEED:
        case = reference.judge(generator.case())
        if case is None:
            left_out += 1
        else:
            cases.append(case)
    return [case for number, case in enumerate(cases, 1) if (seed, number) not in KNOWN], left_out


def write_folder(folder, cases):
    """A folder like that of the corpus, in which every line must pass."""
    (folder / "sql").mkdir()
    for name in ("table.arrow", "calm.arrow"):
        (folder / "sql" / name).symlink_to(CASES / "sql" / name)
    (folder / "sql/cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "sql/scope1.txt").write_text("".join(f"{line}\n" for line in range(1, len(cases) + 1)))
    (folder / "floor.txt").write_text(f"{len(cases)}\n")


@pytest.mark.parametrize("seed", SEEDS)
def test_as_the_reference(reference, seed, tmp_path):
    cases, left_out = judged(reference, seed)
    assert left_out <= MISTAKES * PER_SEED
    write_folder(tmp_path, cases)
    result = subprocess.run([CHECKER, tmp_path / "floor.txt"], env={**os.environ, "GLAIVE_CASES": str(tmp_path)},
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_recorded_cases_are_judged_alike(reference):
    """What the recorded corpus says of its own cases: the judge sees the same, so it may judge others."""
    lines = (CASES / "sql/cases.jsonl").read_text().splitlines()
    recorded = [json.loads(line) for line in lines[::10]]
    for want in recorded:
        if want["mode"] == "group":
            continue
        got = reference.outcome({key: want[key] for key in ("expr", "schema", "mode")})
        for key in ("type", "values", "error_kind"):
            assert json.dumps(got.get(key)) == json.dumps(want.get(key)), want["expr"]
