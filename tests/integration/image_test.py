#!/usr/bin/env python3
"""The OCI image of tools/build_image.py: what is in it, what it says about itself, and that Debian's crun runs it."""
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from strata_run import STRATA

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(STRATA).resolve().parent
SHELLS = {"sh", "bash", "dash", "busybox", "ash", "zsh"}


def build_image(out):
    subprocess.run([sys.executable, ROOT / "tools" / "build_image.py", "--program", STRATA, "--version", "1.2.3", "--out", out], check=True,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}, stdout=subprocess.DEVNULL)


def find_crun():
    """crun and the environment that it needs: that of this machine, or Debian's packages unpacked below build/."""
    found = shutil.which("crun")
    if found:
        return found, {}
    unpacked = BUILD / "crun"
    if not unpacked.exists():
        with tempfile.TemporaryDirectory() as folder:
            download = ["apt-get", "-qq", "download", "crun", "libyajl2"]
            if subprocess.run(download, cwd=folder, capture_output=True, check=False).returncode != 0:
                subprocess.run(["apt-get", "-qq", "update"], capture_output=True, check=True)
                subprocess.run(download, cwd=folder, capture_output=True, check=True)
            for package in pathlib.Path(folder).glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", package, folder + "/unpacked"], check=True)
            shutil.rmtree(unpacked, ignore_errors=True)
            shutil.move(folder + "/unpacked", unpacked)
    libraries = next(unpacked.glob("usr/lib/*/libyajl.so.2")).parent
    return str(unpacked / "usr" / "bin" / "crun"), {"LD_LIBRARY_PATH": str(libraries)}


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        build_image(cls.folder / "image.tar")
        with tarfile.open(cls.folder / "image.tar") as archive:
            cls.files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        cls.index = json.loads(cls.files["index.json"])
        cls.manifest = cls.blob(cls.index["manifests"][0])
        cls.config = cls.blob(cls.manifest["config"])
        cls.layer = gzip.decompress(cls.files[cls.path_of(cls.manifest["layers"][0])])
        with tarfile.open(fileobj=io.BytesIO(cls.layer)) as layer:
            cls.members = {member.name: member for member in layer}
            layer.extractall(cls.folder / "bundle" / "rootfs")

    @staticmethod
    def path_of(descriptor):
        return "blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")

    @classmethod
    def blob(cls, descriptor):
        return json.loads(cls.files[cls.path_of(descriptor)])

    def test_every_part_has_the_hash_and_the_size_that_name_it(self):
        self.assertEqual(json.loads(self.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        for descriptor in (self.index["manifests"][0], self.manifest["config"], *self.manifest["layers"]):
            content = self.files[self.path_of(descriptor)]
            self.assertEqual((hashlib.sha256(content).hexdigest(), len(content)), (descriptor["digest"].removeprefix("sha256:"), descriptor["size"]))
        self.assertEqual(self.config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(self.layer).hexdigest()])

    def test_it_has_no_shell_and_runs_as_nobody_special(self):
        programs = {name for name, member in self.members.items() if member.isfile() and "bin/" in name}
        self.assertEqual(programs, {"usr/bin/strata"})
        self.assertFalse(SHELLS & {pathlib.PurePosixPath(name).name for name in self.members})
        self.assertEqual(self.config["config"]["User"], "65532:65532")
        writable = [name for name, member in self.members.items() if member.mode & 0o022 and not member.issym()]
        self.assertEqual(writable, ["tmp"])
        self.assertFalse([name for name, member in self.members.items() if member.mode & 0o6000], "no set-user-id")
        self.assertIn(b"BEGIN CERTIFICATE", (self.folder / "bundle/rootfs/etc/ssl/certs/ca-certificates.crt").read_bytes())

    def test_the_program_is_stripped(self):
        sections = subprocess.run(["readelf", "--section-headers", "--wide", self.folder / "bundle/rootfs/usr/bin/strata"], check=True,
                                  capture_output=True, text=True).stdout
        self.assertNotIn(".symtab", sections)
        self.assertNotIn(".debug_info", sections)

    def test_the_list_of_contents_names_the_package_of_every_library(self):
        bill = json.loads((self.folder / "image.spdx.json").read_text())
        self.assertEqual((bill["spdxVersion"], bill["SPDXID"]), ("SPDX-2.3", "SPDXRef-DOCUMENT"))
        packages = {package["name"]: package for package in bill["packages"]}
        for name in ("libc6", "libstdc++6", "libssl3", "libsqlite3-0", "ca-certificates"):
            installed = subprocess.run(["dpkg-query", "--show", "--showformat", "${Version}", name], check=True, capture_output=True, text=True).stdout
            self.assertEqual(packages[name]["versionInfo"], installed)
            self.assertIn(f"usr/share/doc/{name}/copyright", self.members)
        contained = {relation["relatedSpdxElement"] for relation in bill["relationships"] if relation["relationshipType"] == "CONTAINS"}
        self.assertEqual(contained, {package["SPDXID"] for package in bill["packages"]} - {"SPDXRef-strata"} | {"SPDXRef-file-strata"})
        program = (self.folder / "bundle/rootfs/usr/bin/strata").read_bytes()
        self.assertEqual(bill["files"][0]["checksums"][1]["checksumValue"], hashlib.sha256(program).hexdigest())
        self.assertIn(self.index["manifests"][0]["digest"], packages["strata"]["comment"])

    def test_the_same_program_gives_the_same_bytes(self):
        build_image(self.folder / "again.tar")
        for suffix in (".tar", ".spdx.json"):
            self.assertEqual((self.folder / f"again{suffix}").read_bytes(), (self.folder / f"image{suffix}").read_bytes())

    def run_in_container(self, name, *arguments):
        """What the program prints in a container with a read-only root, as the user of the image, without rights."""
        crun, environment = find_crun()
        bundle = self.folder / "bundle"
        user, group = (int(number) for number in self.config["config"]["User"].split(":"))
        (bundle / "config.json").write_text(json.dumps({
            "ociVersion": "1.0.0",
            "process": {"terminal": False, "user": {"uid": user, "gid": group}, "args": self.config["config"]["Entrypoint"] + list(arguments),
                        "env": self.config["config"]["Env"], "cwd": self.config["config"]["WorkingDir"], "noNewPrivileges": True,
                        "capabilities": {kind: [] for kind in ("bounding", "effective", "permitted")}},
            "root": {"path": "rootfs", "readonly": True},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")]}}))
        # A runtime wants one kind of cgroups, and machines have both: it sees none, and is told to use none.
        command = 'mount -t tmpfs none /sys/fs/cgroup; exec "$@"'
        done = subprocess.run(
            ["unshare", *(() if os.geteuid() == 0 else ("--map-root-user",)), "--mount", "sh", "-c", command, "-", crun, "--root",
             self.folder / "state", "--cgroup-manager=disabled", "run", "--bundle", bundle, name],
            env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_crun_starts_it(self):
        self.assertRegex(self.run_in_container("version", "--version"), r"^strata \d+\.\d+\.\d+")

    def test_it_does_work_in_a_container(self):
        shutil.copytree(ROOT / "examples", self.folder / "bundle/rootfs/examples", dirs_exist_ok=True)
        self.assertIn("default/", self.run_in_container("simulate", "simulate", "-f", "/examples/training"))


if __name__ == "__main__":
    unittest.main()
