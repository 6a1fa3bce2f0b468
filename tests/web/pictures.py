#!/usr/bin/env python3
"""Writes the pictures of docs/page.md, docs/images/page-*.png, from a cluster that it starts.

Usage: STRATA_BINARY=build/strata PYTHONPATH=tests/integration:tests/e2e /usr/bin/python3 tests/web/pictures.py
"""
import io
import base64
import re
import unittest

from PIL import Image

import browser
import page_server
from live import LIMIT, LiveTest

FOLDER = page_server.ROOT / "docs/images"
JOBS = (("team-a", "llama-70b", 8, 8, 1), ("team-b", "sft-12", 6, 4, 2), ("team-c", "eval-7", 10, 2, 0), ("team-a", "vision", 12, 8, 2),
        ("team-b", "ray-2", 5, 8, 1), ("team-c", "embed", 9, 6, 0), ("team-a", "llama-400b", 24, 8, 1), ("team-b", "sweep", 40, 8, 0))
MANIFEST = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}, namespace: {space}}}
spec:
  schedulerName: volcano
  minAvailable: {pods}
  {topology}
  tasks:
  - name: w
    replicas: {pods}
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: c
          image: busybox
          resources: {{requests: {{cpu: "8", memory: 32Gi, nvidia.com/gpu: {gpus}}}, limits: {{nvidia.com/gpu: {gpus}}}}}
"""
VIEWS = (("map", "#/map", "light"), ("waiting", "#/waiting?job=team-a/llama-400b", "light"), ("job", "#/jobs?job=team-a/vision", "dark"),
         ("queues", "#/queues?queue=default", "light"), ("fit", "#/fit?pods=12", "light"), ("node", "#/map?at=rack-1&node=node-9", "dark"))


class Pictures(LiveTest):
    arguments = ("--generate", "spines=2,racks=4,nodes=8,gpus=8:hgxh100")

    def test_write(self):
        for space in ("team-a", "team-b", "team-c"):
            self.apply(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {space}}}\n")
        for space, name, pods, gpus, tier in JOBS:
            topology = f"networkTopology: {{mode: hard, highestTierAllowed: {tier}}}" if tier else ""
            self.apply(MANIFEST.format(space=space, name=name, pods=pods, gpus=gpus, topology=topology))
        part = self.part("page", "--plain-http")
        self.until(lambda: "\nready " in "\n" + part.said(), "the page", LIMIT)
        url = re.search(r"^ready (\S+)$", part.said(), re.MULTILINE)[1]
        chromium = browser.Browser()
        self.addCleanup(chromium.close)
        chromium.open(url)
        chromium.until(lambda: chromium.view()["waiting"] == 2 and chromium.view()["jobs"] == len(JOBS), "two jobs wait")
        FOLDER.mkdir(exist_ok=True)
        for name, fragment, scheme in VIEWS:
            chromium.media(prefers_color_scheme=scheme)
            chromium.open(url + fragment)
            chromium.until(lambda: not any(word in chromium.text(".left + *") for word in ("Reading", "Trying changes"))
                           and len(chromium.text(".left + *")) > 100, f"{name} is there")
            chromium.run("document.querySelector('header .brand .muted').textContent = 'prod-a'")  # not the port of this run
            shot = Image.open(io.BytesIO(base64.b64decode(chromium.command("Page.captureScreenshot", format="png")["data"])))
            shot.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(FOLDER / f"page-{name}.png", optimize=True)


if __name__ == "__main__":
    unittest.main()
