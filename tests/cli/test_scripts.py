"""The scripts that guard the layers notice what they are there for (style, items 1 to 3 and 32)."""
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path):
    for name in ("src", "include"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def script(name, *arguments):
    done = subprocess.run([sys.executable, ROOT / "scripts" / name, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_layers_hold():
    code, text = script("check_layers.py", ROOT)
    assert code == 0, text
    assert "all allowed" in text


@pytest.mark.parametrize("module, line, text", [
    ("format", '#include "table/table.h"', "format must not include table/table.h"),
    ("format", '#include "view/view_private.h"', "format must not include view/view_private.h"),
    ("view", "#include <glaive/table.h>", "view must not see <glaive/table.h>"),
    ("format", "#include <glaive/env.h>", "format must not see <glaive/env.h>"),
    ("catalog", "#include <curl/curl.h>", "curl/curl.h belongs to remote alone"),
    ("view", '#include "format/../base/buf.h"', "no .. in includes"),
    ("view", '#include "plan.h"', "write the module path"),
])
def test_a_wrong_include_is_named(tree, module, line, text):
    path = next(iter(sorted((tree / "src" / module).glob("*.c"))))
    path.write_text(line + "\n" + path.read_text())
    code, output = script("check_layers.py", tree)
    assert code == 1
    assert f"{path}:1: " in output and text in output


def test_modules_have_an_order(tree):
    layers = (tree / "src/LAYERS").read_text()
    (tree / "src/LAYERS").write_text(layers.replace("wire     : base arrow", "wire     : base view"))
    code, output = script("check_layers.py", tree)
    assert code == 1 and "src/LAYERS: wire may not list view: not declared above it" in output


def compiled(tree, module, text):
    """An object of a module in a folder like that of a build."""
    folder = tree / "build" / module
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.c").write_text(text)
    subprocess.run(["cc", "-c", "-o", folder / "x.c.o", folder / "x.c"], check=True)


@pytest.mark.parametrize("module, used, allowed", [("format", "table_open", False), ("view", "table_open", True),
                                                   ("server", "glv_connect", True), ("cli", "api_helper", False)])
def test_a_symbol_used_without_an_include_is_named(tree, module, used, allowed):
    compiled(tree, "table", "int table_open(void) { return 1; }")
    compiled(tree, "api", "int glv_connect(void) { return 1; } int api_helper(void) { return 2; }")
    compiled(tree, module, f"extern int {used}(void); int user(void) {{ return {used}(); }}")
    code, output = script("check_symbols.py", tree, tree / "build")
    assert code == (0 if allowed else 1), output
    assert allowed or f"{module} uses {used}" in output


def test_the_size_report_is_printed(tree):
    code, output = script("check_style.py", ROOT)
    assert code == 0, output
    assert "lines" in output
    (tree / "src/view/extra.c").write_text("/* Subject. */\nvoid *f(void) { return malloc(3); }\n")
    code, output = script("check_style.py", tree)
    assert code == 1 and "extra.c" in output and "malloc" in output
