"""A headless chromium for tests, with a profile of its own, that records what a page was refused."""
import base64
import json
import os
import pathlib
import shutil
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

WAIT = 60  # seconds until a condition must hold, on a machine ten times as slow as a small one
PROGRAM = "/usr/bin/chromium"
DRIVER = "/usr/bin/chromedriver"

# Before any script of the page: what the policy refuses, and what goes wrong.
RECORD = """
window.refusals = []; window.problems = [];
document.addEventListener("securitypolicyviolation", (e) => window.refusals.push(e.violatedDirective + " " + e.blockedURI));
window.addEventListener("error", (e) => window.problems.push(String(e.message)));
window.addEventListener("unhandledrejection", (e) => window.problems.push(String(e.reason)));
"""


class Browser:
    """One chromium. `view()` is what window.strataView() says the page shows."""

    def __init__(self, width=1280, height=800):
        self.profile = tempfile.mkdtemp(prefix="strata-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = PROGRAM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                     "--force-device-scale-factor=1", "--disable-background-networking", f"--user-data-dir={self.profile}"):
            options.add_argument(flag)
        os.environ["SE_AVOID_STATS"] = "true"
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.command("Page.addScriptToEvaluateOnNewDocument", source=RECORD)
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def media(self, **features):
        """Emulates media features, such as media(prefers_color_scheme="dark")."""
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, url):
        self.driver.get("about:blank")
        self.driver.get(url)
        self.until(lambda: self.view()["link"] == "live" and self.view()["painted"] > 0, "the page is live")

    def view(self):
        return self.run("return window.strataView ? window.strataView() : {link: 'none', painted: 0}")

    def until(self, condition, what):
        """Waits until `condition()` holds."""
        return WebDriverWait(self.driver, WAIT, 0.05).until(lambda _: condition(), f"not seen in {WAIT} s: {what}")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def shot(self, path):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)


class BrowserTest(unittest.TestCase):
    """A test class with one browser for all of its tests. After each test nothing was refused and nothing went wrong."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def tearDown(self):
        refused = self.browser.run("return [window.refusals ?? [], window.problems ?? []]")
        self.assertEqual(refused, [[], []], json.dumps(refused))
