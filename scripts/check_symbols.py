#!/usr/bin/env python3
"""Fail when an object of one module uses a symbol defined in a module that src/LAYERS does not allow."""
import pathlib, subprocess, sys

root, build = map(pathlib.Path, sys.argv[1:3])
allow, defined, used = {}, {}, []
for line in (root / "src/LAYERS").read_text().splitlines():
    line = line.split("#")[0].strip()
    if line:
        name, deps = line.split(":")
        allow[name.strip()] = set(deps.split()) | {name.strip()}
for obj in sorted(build.rglob("*.o")):
    mod = next((part for part in obj.relative_to(build).parts if part in allow), None)
    if mod is None:
        continue
    out = subprocess.run(["nm", "-g", obj], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        kind, sym = line.split()[-2:]
        if kind == "U":
            used.append((mod, sym, obj))
        else:
            defined[sym] = mod
for mod in ("server", "cli"):                    # they live on the exported functions
    allow.get(mod, set()).add("api")
bad = [f"{obj.name}: {mod} uses {sym} of {defined[sym]}" for mod, sym, obj in used
       if sym in defined and (defined[sym] not in allow[mod] or (defined[sym] == "api" != mod and not sym.startswith("glv_")))]
print("\n".join(bad) if bad else f"symbols: {len(used)} uses checked, all allowed")
sys.exit(1 if bad else 0)
