#!/usr/bin/env python3
"""check_style.py ROOT: rules that compilers do not check, and the size report.

Fails on banned functions, malloc outside base/alloc.c, missing file comments, notes to do later without an issue number.
Prints, without failing, what is larger than we like: functions over 70 lines, complexity over 15, more than 7
parameters, files over 800 lines, headers over 400.
"""
import importlib.util
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
bad, notes = [], []

BANNED = "alloca setjmp longjmp strtok strcpy strcat sprintf vsprintf gets atoi atol atof rand srand setlocale localtime gmtime asctime system".split()
STDIO_DATA = "fopen fread fwrite fclose fseek ftell".split()
HEAP = "malloc calloc realloc free posix_memalign aligned_alloc strdup strndup".split()
call = re.compile(r"(?<![\w.>])(\w+)\s*\(")
strip = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


for path in sorted([*root.glob("src/**/*.[ch]"), *root.glob("include/**/*.h")]):
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    if path.suffix == ".c" and not text.startswith("/*"):
        bad.append(f"{name}:1: begins without the comment that says what the file is about")
    code = strip.sub(blank, text)
    for number, line in enumerate(code.splitlines(), 1):
        for word in call.findall(line):
            if word in BANNED:
                bad.append(f"{name}:{number}: {word} is banned")
            if word in HEAP and name != "src/base/alloc.c":
                bad.append(f"{name}:{number}: {word} outside base/alloc.c")
            if word in STDIO_DATA and not name.startswith("src/cli/"):
                bad.append(f"{name}:{number}: {word}: data goes through the I/O table")
            if word == "getenv" and not name.startswith(("src/cli/", "src/api/env.c")):
                bad.append(f"{name}:{number}: getenv outside cli and api/env.c")
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line) and not re.search(r"#\d+", line):
            bad.append(f"{name}:{number}: a note to do later needs an issue number")
        if len(line) > 120:
            bad.append(f"{name}:{number}: {len(line)} columns")
    lines = text.count("\n")
    if lines > (800 if path.suffix == ".c" else 400):
        notes.append(f"{name}: {lines} lines")

if importlib.util.find_spec("lizard"):
    out = subprocess.run([sys.executable, "-m", "lizard", "--csv", str(root / "src")], capture_output=True, text=True).stdout
    import csv

    for row in csv.reader(out.splitlines()):
        length, complexity, parameters, function, where = int(row[4]), int(row[1]), int(row[3]), row[7], row[6]
        if length > 70 or complexity > 15 or parameters > 7:
            notes.append(f"{pathlib.Path(where).relative_to(root) if root != pathlib.Path('.') else where}: {function}: {length} lines, complexity {complexity}, {parameters} parameters")

if notes:
    print(f"style: {len(notes)} places larger than we like:")
    print("\n".join("  " + note for note in notes))
print("\n".join(bad) if bad else "style: no rule is broken")
sys.exit(1 if bad else 0)
