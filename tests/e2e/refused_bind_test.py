#!/usr/bin/env python3
"""A bind that the API server refuses: its pod says so, keeps its room, and is bound when the server lets it."""
import unittest

from live import ApiServer, LiveTest
from recording_proxy import RecordingProxy

PODS = "/api/v1/namespaces/default/pods"
REFUSED = 3


class RefusedBind(LiveTest):
    server_class = ApiServer
    arguments = ("--plain-http",)

    def setUp(self):
        super().setUp()
        self.spoiled = 0
        nodes = self.part("virtual-nodes", "--generate", "spines=1,racks=1,nodes=1,cpu=2")
        self.until(lambda: "ready" in nodes.said(), "the node takes pods")
        self.part("controllers", "--leader-elect=false", *self.server.controller_flags)
        proxy = RecordingProxy(self.server, self.spoil)
        self.addCleanup(proxy.close)
        self.scheduler = self.part_with("scheduler", *proxy.flags, "--schedule-period=20ms", "--leader-elect=false")

    def spoil(self, data):
        """The first binds of pod first go to a subresource that there is not."""
        if b"/first/binding HTTP" in data and self.spoiled < REFUSED:
            self.spoiled += 1
            return data.replace(b"/first/binding HTTP", b"/first/bindinx HTTP")
        return data

    def make_pod(self, name):
        spec = {"schedulerName": "volcano", "containers": [
            {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "1500m"}}}]}
        code, _ = self.server.json("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
        self.assertEqual(code, 201)

    def events_of(self, pod, reason):
        return [event["message"] for event in self.items("/api/v1/namespaces/default/events")
                if event["involvedObject"]["name"] == pod and event["reason"] == reason]

    def test_it_is_tried_again_and_its_room_goes_to_nobody_else(self):
        self.make_pod("first")
        self.until(lambda: "bind failed" in self.scheduler.said(), "the refusal is seen")
        self.make_pod("second")  # there is room for one of them
        self.until(lambda: self.phase("first") == "Running", "it is bound in the end")
        self.assertEqual(self.spoiled, REFUSED)
        self.assertIsNone(self.pod("second")["spec"].get("nodeName"))
        self.until(lambda: self.events_of("first", "FailedScheduling"), "the pod says what went wrong")
        self.assertTrue(all(message.startswith("bind: ") for message in self.events_of("first", "FailedScheduling")))
        self.kubectl("delete", "pod", "first", "--now")
        self.until(lambda: self.phase("second") == "Running", "the room is free")


if __name__ == "__main__":
    unittest.main()
