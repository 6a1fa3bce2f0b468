#!/usr/bin/env python3
"""Builds the page of web/ into a folder, and a C++ source that holds its files (src/page_files/page_files.h).

Usage: tools/build_page.py --esbuild PROGRAM --packages FOLDER [--licences PACKAGE...] --out FOLDER

esbuild makes one script of web/src/main.tsx. The script and the style sheet are named by their content, so that browsers
may keep them for good; index.html names them. Everything is compressed once, here. The same sources give the same bytes.
"""
import argparse
import gzip
import hashlib
import os
import pathlib
import subprocess

WEB = pathlib.Path(__file__).resolve().parent.parent / "web"
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
OPTIONS = ["--bundle", "--format=iife", "--target=es2022", "--jsx=automatic", "--jsx-import-source=preact",
           "--charset=utf8", "--log-level=warning", "--legal-comments=none"]


def bundle(esbuild, packages, source, *options):
    """What esbuild makes of one source, in bytes."""
    return subprocess.run([esbuild, str(source), *OPTIONS, *options], check=True, stdout=subprocess.PIPE,
                          env={**os.environ, "NODE_PATH": str(packages)}).stdout


def licences(packages, names):
    """The texts of the licences of the libraries in the page."""
    texts = ["The page of Strata contains these libraries.\n"]
    for name in names:
        texts.append(f"\n== {name}\n\n{(packages / name / 'LICENSE').read_text().strip()}\n")
    return "".join(texts).encode()


def pages(esbuild, packages, names):
    """{path: (bytes, whether its name changes with its content)}."""
    files = {}
    index = (WEB / "index.html").read_text()
    style = subprocess.run([esbuild, str(WEB / "page.css"), "--minify", "--target=chrome110,firefox110,safari16"],
                           check=True, stdout=subprocess.PIPE).stdout
    for name, content in (("page.css", style), ("page.js", bundle(esbuild, packages, WEB / "src/main.tsx", "--minify"))):
        stem, suffix = os.path.splitext(name)
        hashed = f"{stem}-{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
        assert index.count(f'"{name}"') == 1, f"web/index.html does not name {name} once"
        index = index.replace(f'"{name}"', f'"{hashed}"')
        files[hashed] = content, True
    files["index.html"] = index.encode(), False
    files["licences.txt"] = licences(packages, names), False
    return files


def array(number, content):
    rows = [", ".join(str(byte) for byte in content[i:i + 32]) for i in range(0, len(content), 32)]
    return f"constexpr unsigned char kBytes{number}[] = {{\n" + ",\n".join(rows) + "};\n"


def source(files):
    """The C++ source: one array per file, and the table of PageFiles()."""
    arrays, rows = [], []
    for number, (path, (content, immutable)) in enumerate(sorted(files.items())):
        packed = gzip.compress(content, 9, mtime=0)
        arrays.append(array(number, packed))
        kind = TYPES[os.path.splitext(path)[1]]
        rows.append(f'      {{"{path}", "{kind}", AsText(kBytes{number}), {str(immutable).lower()}}},\n')
    return ('#include "page_files/page_files.h"\n\n#include <array>\n#include <cstddef>\n\n'
            "namespace strata::page_files {\nnamespace {\n\n" + "\n".join(arrays) + "\n"
            "template <std::size_t kSize>\nstd::string_view AsText(const unsigned char (&bytes)[kSize]) {\n"
            "  return {reinterpret_cast<const char*>(bytes), kSize};\n}\n\n}  // namespace\n\n"
            "std::span<const PageFile> PageFiles() {\n"
            f"  static const std::array<PageFile, {len(rows)}> kFiles = {{{{\n" + "".join(rows) + "  }};\n"
            "  return kFiles;\n}\n\n}  // namespace strata::page_files\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--esbuild", required=True)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument("--licences", nargs="*", default=[])
    parser.add_argument("--out", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    files = pages(arguments.esbuild, arguments.packages, arguments.licences)
    site = arguments.out / "site"
    site.mkdir(parents=True, exist_ok=True)
    for old in site.iterdir():
        old.unlink()
    for path, (content, _) in files.items():
        (site / path).write_bytes(content)
    (arguments.out / "page_files.cc").write_text(source(files))


if __name__ == "__main__":
    main()
