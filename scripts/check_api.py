#!/usr/bin/env python3
"""check_api.py ROOT LIBRARY...: the exported functions are those of docs/api/symbols.txt, all declared and documented.

LIBRARY is a shared library (its dynamic symbols) or a static one (its global symbols). Every function in a public header
must have a Doxygen block that names each of its parameters.
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
bad = []

listed = {}
for line in (root / "docs/api/symbols.txt").read_text().splitlines():
    if line and not line.startswith("#"):
        name, version = line.split()
        listed[name] = version
if list(listed) != sorted(listed):
    bad.append("docs/api/symbols.txt: keep it sorted")

for library in sys.argv[2:]:
    flags = ["-D"] if ".so" in library else ["-g"]
    text = subprocess.run(["nm", *flags, "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[2] for line in text.splitlines() if len(line.split()) == 3 and line.split()[1] in "TDBRVW"}
    bad += [f"{library}: exports {name}, which docs/api/symbols.txt does not list" for name in sorted(exported - set(listed))]
    bad += [f"{library}: {name} of docs/api/symbols.txt is missing" for name in sorted(set(listed) - exported)]
    if ".so" in library:
        section = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        if "TEXTREL" in section:
            bad.append(f"{library}: has text relocations")

declared = set()
block = re.compile(r"(/\*\*(?:(?!\*/).)*\*/)?\s*GLV_API\s+([^;{]*?)\b(glv_\w+)\(([^;]*)\);", re.S)
for header in sorted((root / "include/glaive").glob("*.h")):
    text = header.read_text()
    for comment, _, name, parameters in block.findall(text):
        comment = re.sub(r"\s*\n\s*\*\s*", " ", comment)
        declared.add(name)
        if not comment:
            bad.append(f"{header}: {name} has no comment")
            continue
        for parameter in parameters.split(","):
            word = re.search(r"(\w+)\s*$", parameter.strip())
            if word and word.group(1) != "void" and not re.search(rf"@param\s+{word.group(1)}\b", comment):
                bad.append(f"{header}: {name}: parameter {word.group(1)} is not documented")
        if "Thread class" not in comment:
            bad.append(f"{header}: {name}: no thread class")
bad += [f"{name} is listed but declared in no public header" for name in sorted(set(listed) - declared)]
bad += [f"{name} is declared but not listed in docs/api/symbols.txt" for name in sorted(declared - set(listed))]

print("\n".join(bad) if bad else f"api: {len(listed)} functions exported, declared and documented")
sys.exit(1 if bad else 0)
