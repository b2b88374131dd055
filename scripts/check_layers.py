#!/usr/bin/env python3
"""Fail when a #include crosses a boundary: src/LAYERS for modules, PUBLIC for <glaive/...>, HOME for third-party headers."""
import pathlib, re, sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
allow, bad, count = {}, [], 0
for line in (root / "src/LAYERS").read_text().splitlines():
    line = line.split("#")[0].strip()
    if line:
        name, deps = line.split(":")
        allow[name.strip()] = deps.split()
order = list(allow)
for name, deps in allow.items():
    for dep in deps:
        if dep not in allow or order.index(dep) >= order.index(name):
            bad.append(f"src/LAYERS: {name} may not list {dep}: not declared above it")

outer = {"backend", "local", "remote", "api", "server", "cli"}
PUBLIC = {"status.h": set(allow), "env.h": outer | {"base", "io"},
          "arrow_abi.h": outer | {m for m in allow if m == "arrow" or "arrow" in allow[m]}}
HOME = {"jansson": "base", "roaring": "base", "gcrypt": "base", "protobuf-c": "pb", "nanoarrow": "arrow", "sqlite3": "server",
        "zstd": "format", "lz4": "format", "utf8proc": "expr", "pcre2": "expr", "curl": "remote", "microhttpd": "server"}
include = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
for path in sorted(root.glob("src/**/*.[ch]")):
    mod = path.relative_to(root / "src").parts[0]
    if mod not in allow:
        bad.append(f"{path}: module '{mod}' is not in src/LAYERS")
        continue
    for number, text in enumerate(path.read_text().splitlines(), 1):
        m = include.match(text)
        if not m:
            continue
        count += 1
        inc, where = m.group(2), f"{path}:{number}"
        top, _, rest = inc.partition("/")
        home = next((HOME[k] for k in HOME if inc.startswith(k)), mod)
        if m.group(1) == '"' and not rest:
            bad.append(f'{where}: write the module path, "{mod}/{inc}"')
        elif ".." in inc:
            bad.append(f"{where}: no .. in includes")
        elif top in allow and top != mod and top not in allow[mod]:
            bad.append(f"{where}: {mod} must not include {inc}")
        elif inc.endswith("_private.h") and top != mod:
            bad.append(f"{where}: {inc} is private to {top}")
        elif top == "glaive" and mod not in PUBLIC.get(rest, outer):
            bad.append(f"{where}: {mod} must not see <{inc}>")
        elif home != mod:
            bad.append(f"{where}: {inc} belongs to {home} alone")
print("\n".join(bad) if bad else f"layers: {count} includes checked, all allowed")
sys.exit(1 if bad else 0)
