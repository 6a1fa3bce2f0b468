#!/usr/bin/env python3
"""Pictures of the page, compared with those in tests/web/shots: twelve views in both themes, and forced colours.

`STRATA_WRITE_SHOTS=1` writes them anew: look at each before it is committed. They hold for the fonts that fonts.txt names.
"""
import base64
import io
import os
import pathlib
import subprocess
import tempfile
import unittest

from PIL import Image, ImageChops

import browser
import page_server
import recorded

SHOTS = pathlib.Path(__file__).resolve().parent / "shots"
NOW = 1795089605000  # 2026-11-19T12:00:05Z, the clock of every picture
FREEZE = f"Date.now = () => {NOW};"
OFF_BY, OFF_PART = 40, 0.0002  # of 255, as the kept pictures have 256 colours; of all pixels: less than one cell
VIEWS = {"map": "#/map", "rack": "#/map?at=rack-1", "node": "#/map?at=rack-0&node=node-0", "chosen": "#/map?job=team-a/job-0", "waiting": "#/waiting",
         "why": "#/waiting?job=team-b/job-4", "jobs": "#/jobs", "job": "#/jobs?job=team-a/job-0", "queues": "#/queues?queue=q-1",
         "fit": "#/fit?pods=3&mode=hard&tier=1", "time": "#/time", "past": f"#/time?t={NOW - 600000}&than={NOW - 60000}"}


def font():
    return subprocess.run(["fc-match", "system-ui"], check=True, capture_output=True, text=True).stdout.strip()


def difference(shown, kept):
    """(part of the pixels that are off, the picture of them)."""
    off = ImageChops.difference(shown.convert("RGB"), kept.convert("RGB")).convert("L").point(lambda value: 255 if value > OFF_BY else 0)
    return off.histogram()[255] / (off.width * off.height), off


class ShotsTest(browser.BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = recorded.Cluster()
        cluster.now = NOW
        cls.server = page_server.PageServer(cluster).start()
        cls.addClassCleanup(cls.server.stop)
        cls.browser.command("Page.addScriptToEvaluateOnNewDocument", source=FREEZE)
        cls.browser.command("Emulation.setTimezoneOverride", timezoneId="UTC")
        cls.browser.media(prefers_reduced_motion="reduce")

    def shown(self, fragment, **media):
        self.browser.media(**media, prefers_reduced_motion="reduce")
        self.browser.open(self.server.url + fragment)
        self.browser.until(lambda: not any(word in self.browser.text("main") for word in ("Reading", "Trying changes")), f"{fragment} is whole")
        self.browser.run("document.activeElement?.blur()")
        return Image.open(io.BytesIO(base64.b64decode(self.browser.command("Page.captureScreenshot", format="png")["data"])))

    def compare(self, name, shot):
        path = SHOTS / f"{name}.png"
        if os.environ.get("STRATA_WRITE_SHOTS"):
            SHOTS.mkdir(exist_ok=True)
            shot.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
            (SHOTS / "fonts.txt").write_text(font() + "\n")
            return 0
        part, off = difference(shot, Image.open(path))
        if part > OFF_PART:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="strata-shots-"))
            shot.save(folder / f"{name}.png")
            off.save(folder / f"{name}-off.png")
            print(f"\n{name}: {100 * part:.3f} % of the pixels differ; see {folder}")
        return part

    def setUp(self):
        known = SHOTS / "fonts.txt"
        if not os.environ.get("STRATA_WRITE_SHOTS") and font() != known.read_text().strip():
            self.skipTest(f"the pictures hold for {known.read_text().strip()}, not for {font()}")

    def test_every_view_looks_as_it_did_in_both_themes(self):
        for scheme in ("light", "dark"):
            for name, fragment in VIEWS.items():
                with self.subTest(view=name, scheme=scheme):
                    shot = self.shown(fragment, prefers_color_scheme=scheme)
                    self.assertLessEqual(self.compare(f"{name}-{scheme}", shot), OFF_PART)

    def test_forced_colours(self):
        shot = self.shown("#/map", forced_colors="active", prefers_color_scheme="dark")
        self.assertLessEqual(self.compare("map-forced", shot), OFF_PART)

    def test_one_wrong_cell_is_seen(self):
        if os.environ.get("STRATA_WRITE_SHOTS"):
            self.skipTest("the pictures are being written")
        cells = self.server.cluster.cells
        state, holder = cells()
        self.server.cluster.cells = lambda: ("f" + state[1:] if state[0] != "f" else "u" + state[1:], holder)
        try:
            part, _ = difference(self.shown("#/map", prefers_color_scheme="light"), Image.open(SHOTS / "map-light.png"))
        finally:
            self.server.cluster.cells = cells
        self.assertGreater(part, OFF_PART)


if __name__ == "__main__":
    unittest.main()
