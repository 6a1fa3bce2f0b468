#!/usr/bin/env python3
"""What the page looks like: colours apart for every colour vision, themes, forced colours, and speed at 40,000 GPUs."""
import io
import base64
import itertools
import statistics
import unittest

from PIL import Image

import browser
import page_server
import recorded

VISIONS = ("none", "protanopia", "deuteranopia", "tritanopia")
MIN_DISTANCE = 15  # of two states in Lab; people see a difference from about 3 on


def lab(pixel):
    """CIE L*a*b* of an sRGB pixel."""
    red, green, blue = ((c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in pixel[:3])
    xyz = ((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505, 0.2126 * red + 0.7152 * green + 0.0722 * blue,
           (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089)
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(lab(a), lab(b))) ** 0.5


class LookTest(browser.BrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = page_server.PageServer(recorded.Cluster()).start()
        cls.addClassCleanup(cls.server.stop)

    def picture(self):
        return Image.open(io.BytesIO(base64.b64decode(self.browser.command("Page.captureScreenshot", format="png")["data"]))).convert("RGB")

    def colours(self):
        """{state: pixel} as the legend above the map has them; of hatched ones the line."""
        picture, back = self.picture(), None
        found = {}
        boxes = self.browser.run("""return [...document.querySelectorAll(".crumbs .state")].map((e) => {
            const r = e.getBoundingClientRect(); return [e.className.split(" ")[1], r.x, r.y, r.width, r.height]; })""")
        for state, x, y, width, height in boxes:
            back = picture.getpixel((int(x + width / 2), int(y - 4)))
            pixels = [picture.getpixel((int(x) + i, int(y) + j)) for i in range(3, int(width) - 2) for j in range(3, int(height) - 2)]
            found[state] = max(pixels, key=lambda pixel: distance(pixel, back))
        return found

    def test_states_are_apart_for_every_colour_vision_in_both_themes(self):
        for scheme, vision in itertools.product(("light", "dark"), VISIONS):
            self.browser.media(prefers_color_scheme=scheme)
            self.browser.open(self.server.url + "#/map?job=team-a/job-0")
            self.browser.command("Emulation.setEmulatedVisionDeficiency", type=vision)
            colours = self.colours()
            self.browser.command("Emulation.setEmulatedVisionDeficiency", type="none")
            self.assertEqual(sorted(colours), ["chosen", "free", "held", "off", "used"])
            for a, b in itertools.combinations(colours, 2):
                self.assertGreater(distance(colours[a], colours[b]), MIN_DISTANCE, f"{scheme}, {vision}: {a} and {b}")

    def test_follows_the_theme_of_the_system_without_a_reload(self):
        self.browser.media(prefers_color_scheme="light")
        self.browser.open(self.server.url)
        light = self.picture().getpixel((640, 790))
        self.browser.media(prefers_color_scheme="dark")
        self.browser.until(lambda: self.picture().getpixel((640, 790)) != light, "it is dark")
        self.assertLess(sum(self.picture().getpixel((640, 790))), 150)

    def test_keeps_the_cells_where_colours_are_forced(self):
        self.browser.media(forced_colors="active", prefers_color_scheme="dark")
        try:
            self.browser.open(self.server.url)
            colours = self.colours()
            self.assertGreater(distance(colours["free"], colours["used"]), MIN_DISTANCE)
        finally:
            self.browser.media(forced_colors="none", prefers_color_scheme="light")

    def test_paints_40000_gpus_and_changes_of_them_quickly(self):
        server = page_server.PageServer(recorded.Cluster(spines=10, racks=20, nodes=25, jobs=2000, waiting=41)).start()
        self.addCleanup(server.stop)
        self.browser.open(server.url)
        self.assertEqual(sum(self.browser.view()["gpus"].values()), 40_000)
        self.assertEqual(self.browser.view()["level"], "rows")
        painted = []
        for revision in range(11, 22):
            server.send("change", {"epoch": 3, "revision": revision, "time": "2026-11-19T12:00:01Z",
                                   "gpus": {"state": {str(revision * 800): "uf" * 400}}}, revision)
            self.browser.until(lambda: self.browser.view()["revision"] == revision, "the change")
            painted.append(self.browser.view()["painted"])
        loaded = self.browser.run("return performance.getEntriesByName('strata-painted')[0].startTime")
        print(f"\n40,000 GPUs: first picture after {loaded:.0f} ms, a whole drawing {statistics.median(painted):.1f} ms")
        self.assertLess(statistics.median(painted), 500)  # 10 to 20 ms on an idle machine


if __name__ == "__main__":
    unittest.main()
