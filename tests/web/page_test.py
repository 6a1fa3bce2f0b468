#!/usr/bin/env python3
"""The built page in chromium, with recorded answers under the headers of `strata page`."""
import gzip
import os
import pathlib
import unittest
import urllib.request

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import browser
import page_server
import recorded

AXE = pathlib.Path(os.environ.get("NODE_PATH", page_server.ROOT / "build/web/node_modules")) / "axe-core/axe.min.js"
VIEWS = ("#/map", "#/waiting", "#/waiting?job=team-b/job-4", "#/jobs", "#/jobs?job=team-a/job-0", "#/queues?queue=q-1", "#/fit?pods=3",
         "#/map?at=rack-1", "#/map?at=rack-0&node=node-0", "#/map?node=no-such-node", "#/time", "#/time?t=1000&than=2000")


class PageTest(browser.BrowserTest):
    def setUp(self):
        self.server = page_server.PageServer(recorded.Cluster()).start()
        self.addCleanup(lambda: self.server.stop())
        self.browser.media(prefers_color_scheme="light")
        self.browser.run("sessionStorage.clear()") if self.browser.driver.current_url.startswith("http") else None

    def press(self, *keys):
        for key in keys:
            ActionChains(self.browser.driver).send_keys(key).perform()

    def show(self, fragment):
        """Opens a view and waits until what it asks the server for is there."""
        self.browser.open(self.server.url + fragment)
        self.browser.until(lambda: "Reading" not in self.browser.text(".left + *"), f"{fragment} has its answers")

    # ---- what it costs

    def test_takes_at_most_120_kB_and_6_requests_none_to_elsewhere(self):
        self.browser.open(self.server.url)
        self.assertLessEqual(len(self.server.asked), 6, self.server.asked)
        paths = [path for path in self.server.asked if not path.startswith("/page/")]
        size = sum(len(gzip.compress(urllib.request.urlopen(self.request(path)).read(), 9)) for path in paths)
        self.assertLess(size, 120_000)
        seen = self.browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertEqual([url for url in seen if not url.startswith((self.server.url, "data:"))], [])

    def request(self, path):
        answer = urllib.request.urlopen(self.server.url + path.lstrip("/")).read()
        return "data:application/octet-stream;base64," + __import__("base64").b64encode(gzip.decompress(answer)).decode()

    # ---- what it shows

    def test_shows_the_whole_cluster_and_follows_changes(self):
        self.browser.open(self.server.url)
        view = self.browser.view()
        self.assertEqual([view["nodes"], view["hyperNodes"], view["jobs"], view["waiting"]], [8, 6, 6, 2])
        self.assertEqual(sum(view["gpus"].values()), 64)
        self.assertEqual(view["level"], "named")
        self.server.send("change", {"epoch": 3, "revision": 11, "time": "2026-11-19T12:00:01Z", "gpus": {"state": {"0": "f" * 64}},
                                    "jobs": {"phase": {"4": "Running"}, "reason": {"4": ""}}}, 11)
        self.browser.until(lambda: self.browser.view()["revision"] == 11, "the change")
        self.assertEqual([self.browser.view()["gpus"]["free"], self.browser.view()["waiting"]], [64, 1])
        self.browser.until(lambda: "0 of 64 GPUs used" in self.browser.text("header"), "the header follows")

    def test_draws_free_and_used_gpus_in_their_colours_and_a_change_in_its_place(self):
        self.server.cluster.cells = lambda: ("u" * 64, [0, 64])
        self.browser.open(self.server.url)
        pixels = """const c = document.querySelector("canvas"); const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
                    let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] === arguments[0] && d[i+1] === arguments[1] && d[i+2] === arguments[2];
                    return n;"""
        used, free = (0x65, 0x78, 0x8A), (0xD3, 0xEA, 0xF8)
        before = self.browser.run(pixels, *used)
        self.assertGreater(before, 0)
        self.assertEqual(self.browser.run(pixels, *free), 0)
        self.server.send("change", {"epoch": 3, "revision": 11, "time": "2026-11-19T12:00:01Z", "gpus": {"state": {"9": "f"}}}, 11)
        self.browser.until(lambda: self.browser.run(pixels, *free) == before // 64, "one GPU of 64 is free in the picture")
        self.assertEqual(self.browser.run(pixels, *used), before - before // 64)

    def test_says_why_a_job_waits_and_outlines_what_came_nearest(self):
        self.show("#/waiting")
        self.assertIn("2 jobs waiting", self.browser.text("h1"))
        self.press("j")
        self.browser.until(lambda: self.browser.view()["route"]["job"] == "team-b/job-4", "j chooses the first job")
        panel = self.browser.text(".split > :last-child")
        self.assertIn("no HyperNode of tier 1 or below holds 24 pods", panel)
        self.assertIn("takes 19 of 24", panel)

    def test_filters_jobs_by_columns(self):
        self.show("#/jobs?find=phase:running%20ns:team-a")
        self.assertIn("2 jobs of 6", self.browser.text("h1"))

    def test_shows_queues_and_what_would_fit(self):
        self.show("#/queues")
        self.assertIn("4 queues", self.browser.text("h1"))
        self.assertIn("Closed", self.browser.text(".panel"))
        self.show("#/fit?pods=3")
        self.browser.until(lambda: self.browser.view().get("asked"), "the answer")
        self.assertIn("3 pods fit in one HyperNode of tier 2", self.browser.text(".panel"))
        self.assertIn("gangs that could start", self.browser.text(".panel").lower())
        self.assertIn("2 spine", self.browser.text(".gangs"))
        self.assertIn("7.5", self.browser.text("dl"))

    # ---- stories, what-if, the past

    def click(self, words, within=".panel"):
        found = self.browser.run("""return [...document.querySelectorAll(arguments[0] + " button")].find((b) => b.textContent.includes(arguments[1]))""",
                                 within, words)
        self.assertIsNotNone(found, f"no button {words!r}")
        found.click()

    def test_lists_what_would_help_with_its_command_and_shows_where(self):
        self.show("#/waiting?job=team-b/job-4")
        panel = self.browser.text(".split > :last-child")
        self.assertIn("38 changes tried", panel)
        self.assertIn("highestTierAllowed", panel)
        self.assertIn("held by team-a/job-0", panel)
        self.browser.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
        self.click("copy kubectl")
        self.browser.until(lambda: (self.browser.run("return window.copied") or "").startswith("kubectl patch podgroup job-4 -n team-b"), "the command")
        self.click("see where")
        self.browser.until(lambda: self.browser.view().get("ghosts") == [["node-0", 1], ["node-1", 1], ["node-2", 1]], "the map shows where")
        self.press(Keys.ESCAPE)
        self.browser.until(lambda: not self.browser.view().get("ghosts"), "without the job they are gone")

    def test_tells_why_a_job_runs_where_it_does(self):
        self.show("#/jobs?job=team-a/job-0")
        panel = self.browser.text(".split > :last-child")
        self.assertIn("it decides the same", panel)
        self.assertIn("binpack", panel)
        self.assertIn("187.2", panel)

    def test_tries_a_gang_and_a_manifest(self):
        self.show("#/fit?pods=3")
        self.click("Try")
        self.browser.until(lambda: "It would start: 3 pods in rack-0" in self.browser.text(".panel"), "the answer")
        self.click("see where")
        self.browser.until(lambda: self.browser.view().get("ghosts"), "the map shows where")
        self.show("#/fit?pods=9")
        self.click("Try")
        self.browser.until(lambda: "It would wait (TopologyUnsatisfied)" in self.browser.text(".panel"), "the other answer")
        self.assertEqual(sum(path.startswith("/page/v1/what-if") for path in self.server.asked), 2)

    def test_shows_a_moment_of_the_past_says_so_and_comes_back(self):
        self.show("#/time")
        self.click("decision before")
        self.browser.until(lambda: self.browser.view()["moment"] > 0 and self.browser.view()["gpus"]["used"] == 8, "the moment")
        self.assertIn("not now", self.browser.text(".notice.past"))
        self.click("compare from here")
        self.browser.until(lambda: "GPUs differ" in self.browser.text(".panel"), "the comparison")
        self.press("L")
        self.browser.until(lambda: self.browser.view()["moment"] == 0 and self.browser.view()["gpus"]["used"] != 8, "live again")

    def test_asks_for_a_token_where_it_has_none_and_for_namespaces_where_not_all_may_be_seen(self):
        self.server.token = "secret"
        self.browser.driver.get("about:blank")
        self.browser.driver.get(self.server.url)
        self.browser.until(lambda: "refused access" in self.browser.text(".notice"), "the refusal")
        self.browser.driver.find_element("css selector", ".token input").send_keys("secret", Keys.ENTER)
        self.browser.until(lambda: self.browser.view()["link"] == "live", "it is live")
        hello = self.server.cluster.hello
        self.server.cluster.hello = lambda: hello() | {"scope": ["team-a"]}
        self.browser.open(self.server.url + "#/map?namespaces=team-a")
        self.browser.until(lambda: "You see jobs of team-a" in self.browser.text(".scope"), "the scope")
        self.assertTrue(any("namespaces=team-a" in path for path in self.server.asked))

    # ---- when things go wrong

    def test_says_how_old_the_picture_is_when_the_server_is_gone_and_comes_back_by_itself(self):
        self.browser.open(self.server.url + "#/waiting?job=team-b/job-4")
        port = self.server.server_address[1]
        self.server.stop()
        self.browser.until(lambda: self.browser.view()["link"] == "lost" and "picture of" in self.browser.text(".status"), "the age of the picture")
        self.server = page_server.PageServer(recorded.Cluster(), port=port).start()
        self.server.cluster.revision = 20
        self.browser.until(lambda: self.browser.view()["link"] == "live" and self.browser.view()["revision"] == 20, "it is live again")
        self.assertEqual(self.browser.view()["route"]["job"], "team-b/job-4")
        self.assertEqual(self.browser.view()["jobs"], 6)

    def test_a_new_epoch_keeps_what_was_chosen(self):
        self.browser.open(self.server.url + "#/map?at=rack-1&node=node-2")
        self.server.cluster = recorded.Cluster(spines=3)
        self.server.cluster.epoch = 4
        self.server.send("epoch", {"epoch": 4})
        self.browser.until(lambda: self.browser.view()["epoch"] == 4, "the new epoch")
        self.assertEqual([self.browser.view()["route"]["at"], self.browser.view()["route"]["node"]], ["rack-1", "node-2"])
        self.assertEqual(self.browser.view()["nodes"], 12)

    def test_a_refused_token_is_said_and_no_error_is_shown_as_zeros(self):
        self.server.token = "secret"
        self.browser.driver.get("about:blank")
        self.browser.driver.get(self.server.url)
        self.browser.until(lambda: "refused access" in self.browser.text(".notice"), "the refusal")
        self.assertNotIn("0 of", self.browser.text("#page"))

    def test_moves_the_token_out_of_the_url(self):
        self.server.token = "secret"
        self.browser.open(self.server.url + "#token=secret")
        self.assertNotIn("secret", self.browser.run("return location.href"))
        self.assertFalse([path for path in self.server.asked if "secret" in path])

    def test_works_below_a_path_of_a_proxy(self):
        self.server.stop()
        self.server = page_server.PageServer(recorded.Cluster(), prefix="/tools/strata").start()
        self.show("#/fit?pods=3")
        self.assertEqual(self.browser.view()["nodes"], 8)
        self.assertNotIn("/nowhere", self.server.asked)

    def test_hostile_names_are_text(self):
        marks = ("<img src=x onerror=alert(1)>", "\u202egnp.exe", "x" * 253, "\"'><script>alert(1)</script>", "a\u0000b\n<b>", "é😀")
        self.server.cluster = recorded.Cluster(spines=4, racks=10, nodes=3, jobs=1000, waiting=500,
                                               name=lambda kind, i: f"{marks[i % len(marks)]}{kind}-{i}")
        for view in ("#/map", "#/waiting", "#/jobs", "#/queues", "#/fit", "#/time", "#/waiting?job=team-b/job-999"):
            self.show(view)
            self.press("j")
            self.assertEqual(self.browser.run("return document.querySelectorAll('#page img, #page script, #page b b').length"), 0)
            wide = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
            self.assertLessEqual(wide[0], wide[1], view)

    # ---- for everybody

    def test_axe_finds_nothing_in_any_view_and_theme(self):
        script = AXE.read_text()
        for scheme in ("light", "dark"):
            self.browser.media(prefers_color_scheme=scheme)
            for view in VIEWS:
                self.show(view)
                self.browser.command("Runtime.evaluate", expression=script)
                self.browser.driver.set_script_timeout(browser.WAIT * 5)
                found = self.browser.driver.execute_async_script(
                    "axe.run(document, {resultTypes: ['violations']}).then((r) => arguments[0](r.violations.map((v) => "
                    "v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).join('; '))))")
                self.assertEqual(found, [], f"{scheme} {view}")

    def test_goes_into_a_rack_and_out_by_keyboard_alone(self):
        self.browser.open(self.server.url)
        self.press(*[Keys.TAB] * 2)
        for _ in range(40):
            if self.browser.run("return document.activeElement.closest('.twin') !== null"):
                break
            self.press(Keys.TAB)
        self.inside("the cluster")
        self.press(Keys.ARROW_DOWN, Keys.ENTER)
        self.inside("spine-1")
        self.press(Keys.ENTER)
        self.inside("rack-2")
        self.press(Keys.ENTER)
        self.browser.until(lambda: self.browser.view()["route"]["node"] == "node-4", "its first node")
        self.press(Keys.ESCAPE)
        self.inside("spine-1")
        self.press(Keys.ESCAPE)
        self.inside("the cluster")
        self.press(Keys.ENTER)
        self.inside("spine-1")

    def inside(self, name):
        """Waits until the keyboard is at a row of the table of what is inside `name`."""
        self.browser.until(lambda: self.browser.run("""const row = document.activeElement;
            return row.getAttribute("role") === "row" && row.parentElement.getAttribute("aria-label")""") == f"Inside {name}",
                           f"the keyboard is inside {name}")

    def test_every_key_of_the_help_works(self):
        self.browser.open(self.server.url)
        self.press("?")
        self.browser.until(lambda: self.browser.run("return document.querySelector('dialog').open"), "the help")
        self.press(Keys.ESCAPE)
        self.browser.until(lambda: not self.browser.run("return document.querySelector('dialog').open"), "the help is closed")
        for number, name in enumerate(("map", "waiting", "jobs", "queues", "fit", "time"), 1):
            self.press(str(number))
            self.browser.until(lambda: self.browser.view()["route"]["view"] == name, name)
        self.press("d")
        self.browser.until(lambda: self.browser.run("return document.documentElement.dataset.theme") == "dark", "dark")
        self.press("t")
        self.browser.until(lambda: self.browser.run("return document.querySelector('.twin.shown') !== null"), "the table")
        self.press("/", "rack-3")
        self.browser.until(lambda: "rack-3" in self.browser.text(".found"), "the search")

    def test_fits_a_narrow_window(self):
        self.browser.command("Emulation.setDeviceMetricsOverride", width=320, height=640, deviceScaleFactor=1, mobile=False)
        try:
            for view in VIEWS:
                self.show(view)
                self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 320, view)
        finally:
            self.browser.command("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=1, mobile=False)

    def test_works_as_a_table_where_there_is_no_canvas(self):
        identifier = self.browser.command("Page.addScriptToEvaluateOnNewDocument",
                                          source="HTMLCanvasElement.prototype.getContext = () => null;")["identifier"]
        try:
            self.browser.driver.get("about:blank")
            self.browser.driver.get(self.server.url)
            self.browser.until(lambda: "spine-1" in self.browser.text(".twin.shown"), "the table")
        finally:
            self.browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)


if __name__ == "__main__":
    unittest.main()
