"""Answers of the page's server for clusters of any size, made by arithmetic: the same every time.

Their form is that of docs/page.md, "Data". What the real server answers is tested by tests/integration and src/page.
"""

STATES = "uuuuuuufuuuufuuuuuhuuuuuffuuuuuu"


def shape_of(gpus):
    return {"gpus": gpus, "links": [f"{a}-{b} NV18" for a in range(gpus) for b in range(a + 1, gpus)],
            "groups": [list(range(gpus))]}


class Cluster:
    """A cluster as columns: spines of racks of nodes, jobs that hold whole nodes, and jobs that wait."""

    def __init__(self, spines=2, racks=2, nodes=2, gpus=8, jobs=6, waiting=2, name=lambda kind, i: f"{kind}-{i}"):
        self.spines, self.racks, self.per_rack, self.gpus, self.name = spines, racks, nodes, gpus, name
        self.node_count = spines * racks * nodes
        self.job_count, self.waiting = jobs, waiting
        self.epoch, self.revision = 3, 10
        self.now = None  # milliseconds, for what is shown of the past; None: the clock

    def hyper_nodes(self):
        names, tiers, parents, counts = [], [], [], []
        for spine in range(self.spines):
            at = len(names)
            names.append(self.name("spine", spine))
            tiers.append(2)
            parents.append(-1)
            counts.append(self.racks * self.per_rack)
            for rack in range(self.racks):
                names.append(self.name("rack", spine * self.racks + rack))
                tiers.append(1)
                parents.append(at)
                counts.append(self.per_rack)
        fits = [(7 * i) % (count + 1) for i, count in enumerate(counts)]
        reason = {str(len(names) - 1): "not ready: two parents"} if len(names) > 4 else {}
        return {"name": names, "tier": tiers, "parent": parents, "nodes": counts, "fits": fits, "reason": reason}

    def nodes(self):
        count = self.node_count
        leaf = [n // self.per_rack + n // (self.per_rack * self.racks) + 1 for n in range(count)]
        gpus = [0, 0] if self.gpus == 0 else []
        return {"name": [self.name("node", n) for n in range(count)], "leaf": leaf, "also": {},
                "note": {"1": "cordoned"} if count > 1 else {}, "gpus": [self.gpus] * count, "links": [0 if self.gpus else -1] * count,
                "used": {"cpu": [(13 * n) % 97 for n in range(count)], "memory": [2**30 * ((29 * n) % 800) for n in range(count)]},
                "allocatable": {"cpu": [128] * count, "memory": [2**40] * count}} | ({} if gpus else {})

    def cells(self):
        """(state, holder): one letter per GPU, runs of jobs."""
        total = self.node_count * self.gpus
        state = "".join("x" if cell // max(1, self.gpus) == 1 and cell % 5 == 0 else STATES[(cell // 8 * 7 + cell) % len(STATES)]
                        for cell in range(total))
        running = max(1, self.job_count - self.waiting)
        holder = []
        for cell, letter in enumerate(state):
            job = cell * running // max(1, total) if letter in "uhs" else -1
            if holder and holder[-2] == job:
                holder[-1] += 1
            else:
                holder += [job, 1]
        return state, holder

    def jobs(self):
        count, running = self.job_count, self.job_count - self.waiting
        waits = [j >= running for j in range(count)]
        words = ("TopologyUnsatisfied", "QueueOverused", "NotEnoughResources")
        leaves = [i for i in range(self.spines * (self.racks + 1)) if i % (self.racks + 1)]
        late = [str(j) for j in range(running, count)]
        return {"namespace": [f"team-{'abc'[j % 3]}" for j in range(count)], "name": [self.name("job", j) for j in range(count)],
                "podGroup": [f"job-{j}" for j in range(count)], "phase": ["Inqueue" if w else "Running" for w in waits],
                "queue": [f"q-{j % 4}" for j in range(count)], "ready": [0 if w else 4 for w in waits], "total": [24 if w else 4 for w in waits],
                "minAvailable": [24 if w else 4 for w in waits], "gpus": [192 if w else 32 for w in waits],
                "hyperNode": [-1 if w else leaves[j % len(leaves)] for j, w in enumerate(waits)], "tier": [0 if w else 1 for w in waits],
                "created": [f"2026-11-19T{8 + j % 3:02}:{j % 60:02}:00Z" for j in range(count)],
                "reason": [words[j % 3] if w else "" for j, w in enumerate(waits)],
                "message": {j: "24/24 tasks in gang unschedulable: no HyperNode of tier 1 or below holds 24 pods" for j in late},
                "nearest": {j: [{"hyperNode": leaves[int(j) % len(leaves)], "tier": 1, "takes": 19, "of": 24}] for j in late},
                "helps": {j: "allow tier 2" if int(j) % 2 else "start with 19 pods" for j in late}}

    def fit(self):
        return {"pod": {"nvidia.com/gpu": "8"},
                "tiers": [{"tier": 1, "tierName": "rack", "hyperNode": self.name("rack", 0), "pods": 1},
                          {"tier": 2, "tierName": "spine", "hyperNode": self.name("spine", 0), "pods": 3},
                          {"tier": 3, "tierName": "", "hyperNode": "<cluster-top-hypernode>", "pods": 4}]}

    def cluster(self):
        state, holder = self.cells()
        return {"version": 1, "epoch": self.epoch, "revision": self.revision, "time": "2026-11-19T12:00:00Z", "fit": self.fit(),
                "hyperNodes": self.hyper_nodes(), "nodes": self.nodes(), "linkShapes": [shape_of(self.gpus)],
                "gpus": {"state": state, "holder": holder, "shared": {}}, "jobs": self.jobs()}

    def hello(self):
        return {"version": 1, "strata": "0.1.0", "cluster": "prod-a", "user": "", "scope": "cluster", "plugins": ["gang"],
                "resources": ["cpu", "memory", "nvidia.com/gpu"], "tiers": [{"tier": 1, "tierName": "rack"}, {"tier": 2, "tierName": "spine"}]}

    def fragmentation(self):
        def tier(tier, name, slots):
            return {"tier": tier, "tierName": name, "hyperNodes": len(slots), "largestGang": max(slots), "gini": 0.25,
                    "placeable": {str(k): sum(free // k for free in slots) for k in (1, 2, 4, 8)},
                    "rackLoss": {str(k): 1 - k * sum(free // k for free in slots) / sum(slots) for k in (1, 2, 4, 8)}}
        return {"freeGpus": 44, "strandedGpus": 12, "stranded": 0.2727, "fgd": 7.5, "typicalPods": 3,
                "tiers": [tier(1, "rack", [1, 1, 1, 1]), tier(2, "spine", [3, 1]), tier(3, "", [4])]}

    def fit_answer(self):
        hyper_nodes = self.hyper_nodes()
        return self.fit() | {"epoch": self.epoch, "pods": hyper_nodes["fits"], "wholeNodes": 4, "stranded": 12, "packed": 5,
                             "fragmentation": self.fragmentation()}

    def queues(self):
        def queue(parent, allocated, request, deserved, capability, waiting):
            return {"state": "Open", "parent": parent, "weight": 1, "priority": 0, "share": 0.5, "deserved": {"nvidia.com/gpu": deserved},
                    "allocated": {"cpu": allocated * 4, "nvidia.com/gpu": allocated}, "request": {"cpu": request * 4, "nvidia.com/gpu": request},
                    "guarantee": {"nvidia.com/gpu": 16}, "capability": {"nvidia.com/gpu": capability}, "realCapability": None,
                    "jobs": 3, "waiting": waiting}
        waits = {"team-a/job-9": {"phase": "Inqueue", "reason": "QueueOverused", "message": "queue q-1 is overused"}}
        return {"plugin": "capacity", "hierarchical": True, "jobsWithoutQueue": {},
                "queues": {"root": queue("", 128, 512, 256, 1024, {}), "q-0": queue("root", 32, 32, 64, 128, {}),
                           "q-1": queue("root", 96, 288, 64, 320, waits), "q-2": queue("root", 0, 0, 64, 128, {}) | {"state": "Closed"}}}

    def job(self, name):
        pods = [{"name": f"{name}-w-{i}", "phase": "Running", "node": self.name("node", i), "leaf": ""} for i in range(4)]
        return {"name": name, "tasks": [], "pods": pods, "conditions": [], "events": [
            {"type": "Warning", "reason": "Unschedulable", "message": "no HyperNode holds it", "count": 3, "last": "2026-11-19T11:59:00Z"}]}

    def story(self, name):
        """As the scheduler's own code tells it: of a job that waits with what would help, of one that runs decided again."""
        number = int(name.rsplit("-", 1)[1]) if name.rsplit("-", 1)[-1].isdigit() else 0
        names = self.hyper_nodes()["name"]
        tiers = [{"tier": 1, "open": [n for n in names if "rack" in n], "ruledOut": [{"hyperNodes": names[-1:], "reason": "not ready"}], "failed": names[1:2],
                  "chosen": "", "scores": []}]
        waits = number >= self.job_count - self.waiting
        story = {"job": f"team-b/{name}", "state": "done", "source": "verdict", "asOf": "2026-11-19T12:00:00Z", "phase": "Inqueue" if waits else "Running",
                 "sentence": f"{name} waits (TopologyUnsatisfied): no HyperNode of tier 1 or below holds 24 pods; nearest: HyperNode rack-0 (tier 1) takes 19 of 24"
                 if waits else f"{name} runs in rack-0 (tier 1).",
                 "searches": [{"subJob": "", "root": "", "tiers": tiers}] if waits else [], "nearestMisses": [], "relaxations": [],
                 "tried": {"changes": 38 if waits else 0, "runningJobs": 12, "ofRunningJobs": 20}, "evictions": [], "evictedFor": [], "pods": []}
        if waits:
            story["nearestMisses"] = [{"subJob": "", "tier": 1, "hyperNode": names[1], "fits": 19, "wanted": 24, "shortOf": {"nvidia.com/gpu": "36"},
                                       "nodes": {"Insufficient nvidia.com/gpu": 6}, "heldBy": [
                                           {"kind": "PodGroup", "name": "team-a/job-0", "pods": 4, "amounts": {"nvidia.com/gpu": "32"}},
                                           {"kind": "PodGroup", "name": "team-b/job-1", "pods": 1, "amounts": {"nvidia.com/gpu": "4"}}]}]
            story["relaxations"] = [
                {"kind": "higherTier", "object": f"PodGroup team-b/{name}", "text": "allow tier 2: raise spec.networkTopology.highestTierAllowed from 1 to 2",
                 "command": f"kubectl patch podgroup {name} -n team-b --type=merge -p '{{\"spec\":{{\"networkTopology\":{{\"highestTierAllowed\":2}}}}}}'",
                 "restarts": False, "binds": {f"team-b/{name}-{i}": self.name("node", i) for i in range(3)}},
                {"kind": "jobGone", "object": "PodGroup team-a/job-0", "text": "without job team-a/job-0 (4 pods)", "command": "strata job stop team-a/job-0",
                 "restarts": False, "binds": {f"team-b/{name}-{i}": self.name("node", 4 + i) for i in range(3)}}]
        else:
            scores = [{"name": names[1], "score": 187.2, "plugins": {"binpack": 120.0, "network-topology-aware": 67.2}},
                      {"name": names[2], "score": 181.0, "plugins": {"binpack": 130.0, "network-topology-aware": 51.0}}]
            story |= {"source": "replay", "agrees": True, "replay": story | {"searches": [
                {"subJob": "", "root": "", "tiers": [tiers[0] | {"failed": [], "chosen": names[1], "scores": scores}]}]}}
        return story

    def what_if(self, body):
        pods = body.get("pods", 4)
        fits = pods <= 3
        job = {"phase": "Running" if fits else "Inqueue", "allocatedHyperNode": self.name("rack", 0) if fits else "", "tier": 1 if fits else 0,
               "reason": "" if fits else "TopologyUnsatisfied", "message": "" if fits else "no HyperNode of tier 1 or below holds them"}
        return {"job": "default/what-if-0", "jobs": {"default/what-if-0": job}, "pipelined": {}, "devices": {}, "asOf": "2026-11-19T12:00:00Z",
                "binds": {f"default/what-if-pod-{i}": self.name("node", i) for i in range(pods)} if fits else {},
                "story": self.story("job-99") | {"relaxations": [], "tried": {"changes": 0, "runningJobs": 0, "ofRunningJobs": 0}}}

    # Half an hour in steps of a minute, until `now` (milliseconds); all of it busy at the end.
    def history(self, now):
        total = self.node_count * self.gpus
        samples = [[now - (30 - i) * 60000, total - total * (i + 5) // 40, total * (i + 5) // 40, i % 5, [[1, 1 + i % 3], [2, 3 + i % 4], [3, 4]]]
                   for i in range(31)]
        outcomes = ("placed", "waits", "gone", "placed", "node")
        decisions = [{"time": now - (29 - i) * 60000, "job": "" if i % 5 == 4 else f"team-a/{self.name('job', i % 6)}", "outcome": outcomes[i % 5],
                      "where": ("rack-0", "TopologyUnsatisfied", "", "rack-1", "node-1: cordoned")[i % 5], "tier": 1} for i in range(29)]
        return {"samples": samples, "decisions": decisions}

    def moment(self, at):
        """The picture when every GPU was free but those of one node, of two nodes in the last five minutes."""
        busy = 16 if self.now and at > self.now - 300000 else 8
        cluster = self.cluster()
        free = {"state": "f" * (self.node_count * self.gpus), "holder": [-1, self.node_count * self.gpus], "shared": {}}
        change = {"epoch": self.epoch, "revision": self.revision, "time": "2026-11-19T11:45:00Z", "gpus": {"state": {"0": "u" * busy}, "holder": {"0": [0, busy]}}}
        return {"cluster": cluster | {"gpus": free, "revision": 1}, "changes": [change]}

    def node(self, name):
        gpus = [{"uuid": f"GPU-{i:08}-1111", "index": i, "health": True, "numa": 0, "holders": []} for i in range(self.gpus)]
        return {"node": name, "gpus": gpus, "links": [], "freeSets": [[4, 5]], "pods": [{"namespace": "team-a", "name": "job-0-w-0", "phase": "Running"}]}
