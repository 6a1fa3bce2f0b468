#!/usr/bin/env python3
"""Writes an OCI image with programs of Strata, without a daemon, and a list of what is in it (SPDX) beside it.

Usage: tools/build_image.py --program build/strata [--program build/strata-agent] --version 0.1.0 --out build/strata-image.tar

The image holds the stripped programs in /usr/bin, the libraries that they need with their copyright files, CA
certificates and an unprivileged user; no shell and no other program. Libraries come from the Debian packages that are
installed here. The archive can be loaded or pushed by podman, skopeo, crane, and by docker from version 25 on. The same
programs and packages give the same bytes.
"""
import argparse
import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

USER = 65532
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# What the C library loads by name at run time, and ldd does not show.
ALSO = ("libnss_files.so.2", "libnss_dns.so.2")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MEDIA = "application/vnd.oci.image."


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries_of(program):
    """The paths by which the loader finds what a program needs, and the loader itself."""
    paths = set()
    for line in output_of("ldd", program).splitlines():
        if "not found" in line:
            sys.exit(f"{program}: {line.strip()}")
        if found := re.search(r"(/\S+) \(0x", line):
            paths.add(found.group(1))
    return paths


def packages_of(paths):
    """The names of the Debian packages that have these files, by any of the names of a file."""
    names = {}
    for path in paths:
        for name in (path, os.path.realpath(path)):
            names.update({name: path, name.removeprefix("/usr"): path})
    found = subprocess.run(["dpkg-query", "--search", *sorted(names)], capture_output=True, text=True, check=False).stdout
    packages = {}
    for line in found.splitlines():
        package, _, name = line.partition(": ")
        if name in names:
            packages[names[name]] = package.split(":")[0]
    for path in paths - set(packages):
        sys.exit(f"{path}: not of a Debian package")
    return set(packages.values())


def describe(package):
    fields = ("Version", "Architecture", "source:Package", "source:Version", "Homepage")
    values = output_of("dpkg-query", "--show", "--showformat", "\\t".join(f"${{{field}}}" for field in fields) + "\\n", package)
    return dict(zip(fields, values.splitlines()[0].split("\t")))


@functools.cache
def stripped(program):
    """The bytes of a program without symbols and debug information."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program"
        subprocess.run(["strip", "--strip-all", "-o", path, program], check=True)
        return path.read_bytes()


class Layer:
    """The files of the image; their order, owners and times do not depend on this machine."""

    def __init__(self, moment):
        self.moment = moment
        self.entries = {}  # path without the first slash -> (TarInfo, bytes)

    def _add(self, path, kind, mode, content=b"", target=""):
        for folder in reversed(pathlib.PurePosixPath(path).parents):
            if str(folder) not in (".", "/") and str(folder) not in self.entries:
                self._add(str(folder), tarfile.DIRTYPE, 0o755)
        info = tarfile.TarInfo(path)
        info.type, info.mode, info.mtime, info.size, info.linkname = kind, mode, self.moment, len(content), target
        self.entries[path] = (info, content)

    def file(self, path, content, mode=0o644):
        self._add(path.lstrip("/"), tarfile.REGTYPE, mode, content)

    def folder(self, path, mode):
        self._add(path.lstrip("/"), tarfile.DIRTYPE, mode)

    def link(self, path, target):
        self._add(path.lstrip("/"), tarfile.SYMTYPE, 0o777, target=target)

    def tar(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(self.entries):
                info, content = self.entries[path]
                archive.addfile(info, io.BytesIO(content))
        return out.getvalue()


def add_library(layer, path):
    """A library under the name by which the loader looks for it; folders of a merged /usr become one."""
    name = path if path.startswith("/usr") else "/usr" + path
    layer.file(name, pathlib.Path(path).read_bytes(), 0o755)


def fill(layer, programs):
    """Puts everything into the layer; the packages that it comes from."""
    packages = {"ca-certificates"}
    for program in programs:
        layer.file(f"/usr/bin/{pathlib.Path(program).name}", stripped(program), 0o755)
        needed = libraries_of(program)
        folder = os.path.dirname(next(path for path in needed if "/libc.so" in path))
        needed |= {f"{folder}/{name}" for name in ALSO if os.path.exists(f"{folder}/{name}")}
        for path in needed:
            add_library(layer, path)
        packages |= packages_of(needed)
    for top in ("lib", "lib64"):
        layer.link(top, f"usr/{top}")
    for package in sorted(packages):
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
        layer.file(str(text), text.read_bytes())
    layer.file(CERTIFICATES, pathlib.Path(CERTIFICATES).read_bytes())
    layer.file("/etc/passwd", f"root:x:0:0:root:/:/nonexistent\nstrata:x:{USER}:{USER}:strata:/:/nonexistent\n".encode())
    layer.file("/etc/group", f"root:x:0:\nstrata:x:{USER}:\n".encode())
    layer.file("/etc/nsswitch.conf", b"hosts: files dns\n")
    for mounted in ("/dev", "/proc", "/sys"):
        layer.folder(mounted, 0o755)
    layer.folder("/tmp", 0o1777)
    return sorted(packages)


def bill_of_materials(version, programs, packages, digest, created):
    """SPDX 2.3: Strata, each program with its hash, and each package with its version and source."""
    def package(name, package_version, spdx_id, **more):
        return {"SPDXID": spdx_id, "name": name, "versionInfo": package_version, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
                "copyrightText": "NOASSERTION", **more}

    listed = [{**package("strata", version, "SPDXRef-strata"), "licenseDeclared": "Apache-2.0", "primaryPackagePurpose": "CONTAINER",
               "comment": f"image {digest}"}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-strata")]
    for name in packages:
        about = describe(name)
        spdx_id = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        purl = f"pkg:deb/debian/{name}@{about['Version']}?arch={about['Architecture']}&distro=debian-12".replace("+", "%2B").replace("~", "%7E")
        listed.append(package(name, about["Version"], spdx_id, homepage=about["Homepage"] or "NOASSERTION",
                              sourceInfo=f"built package from: {about['source:Package']} {about['source:Version']}",
                              externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]))
        relations.append(("SPDXRef-strata", "CONTAINS", spdx_id))
    files = []
    for program in programs:
        name = pathlib.Path(program).name
        content = stripped(program)
        files.append({"SPDXID": f"SPDXRef-file-{name}", "fileName": f"/usr/bin/{name}", "licenseConcluded": "Apache-2.0",
                      "copyrightText": "NOASSERTION",
                      "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}]})
        relations.append(("SPDXRef-strata", "CONTAINS", f"SPDXRef-file-{name}"))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"strata-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/strata-{version}-{digest.removeprefix('sha256:')}",
            "creationInfo": {"created": created, "creators": ["Tool: strata-build_image.py"]},
            "packages": listed, "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


class Blobs:
    """Contents of the archive by their hash."""

    def __init__(self):
        self.files = {}

    def add(self, content, media_type):
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": MEDIA + media_type, "digest": f"sha256:{digest}", "size": len(content)}


def build(programs, version, moment):
    """(the archive, the bill of materials), in bytes."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    layer = Layer(moment)
    packages = fill(layer, programs)
    plain = layer.tar()
    blobs = Blobs()
    packed = blobs.add(gzip.compress(plain, mtime=0), "layer.v1.tar+gzip")
    labels = {"org.opencontainers.image.title": "strata", "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "Apache-2.0"}
    config = blobs.add({
        "created": created, "os": "linux", "architecture": ARCHITECTURES[os.uname().machine],
        "config": {"User": f"{USER}:{USER}", "Entrypoint": [f"/usr/bin/{pathlib.Path(programs[0]).name}"], "WorkingDir": "/",
                   "Env": ["PATH=/usr/bin", f"SSL_CERT_FILE={CERTIFICATES}"], "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]},
        "history": [{"created": created, "created_by": "tools/build_image.py"}]}, "config.v1+json")
    manifest = blobs.add({"schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json", "config": config, "layers": [packed],
                          "annotations": labels}, "manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    bill = bill_of_materials(version, programs, packages, manifest["digest"], created)
    archive = Layer(moment)
    archive.file("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
    archive.file("index.json", json.dumps({"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": [manifest]}).encode())
    for path, content in blobs.files.items():
        archive.file(path, content)
    return archive.tar(), (json.dumps(bill, indent=1) + "\n").encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", action="append", required=True, help="the first one is the entry point; repeatable")
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the archive; the list of contents is OUT with .spdx.json for .tar")
    arguments = parser.parse_args()
    if not os.path.exists(CERTIFICATES):
        sys.exit(f"{CERTIFICATES}: not found (apt-get install ca-certificates)")
    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    archive, bill = build(arguments.program, arguments.version, moment)
    arguments.out.write_bytes(archive)
    arguments.out.with_suffix(".spdx.json").write_bytes(bill)
    print(f"{arguments.out}: {len(archive) >> 20} MiB, for {ARCHITECTURES[os.uname().machine]}; {arguments.out.with_suffix('.spdx.json')}")


if __name__ == "__main__":
    main()
