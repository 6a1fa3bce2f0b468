#!/usr/bin/env python3
"""Compares the places of gangs with those of an exact solver: OR-tools, which shares no code with Strata.

Random tight clusters of 8 to 72 nodes below leaves, spines and a core, in each of which one gang waits: of equal pods, of
mixed pods, or of mixed pods in sub-groups. `strata simulate` places it, CP-SAT finds the lowest tier that holds it, and
for equal pods the fewest leaves of one HyperNode of that tier. A line per kind says how often they differ. By hand:

    pip install ortools
    tools/compare_search.py --strata build/strata [--count 2000] [--seed 1] [--greedy]

--greedy turns the second search and the rule about fewest leaves off. A solver that ran out of time says nothing about
its cluster: such clusters are counted as unsolved.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import tempfile

from ortools.sat.python import cp_model

GROUP = "scheduling.k8s.io/group-name"
KINDS = ["equal", "mixed", "sub-groups"]
SHAPES = [(2, 8), (1, 16), (4, 4), (3, 12)]  # cores and GiB of a pod; equal pods have the first
SECONDS = 10.0  # for one question to the solver
GREEDY = """actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
    arguments: {binpack.resources: nvidia.com/gpu}
  - name: network-topology-aware
    arguments: {hypernode.binpack.resources: nvidia.com/gpu}
  - name: deviceshare
"""


class Cluster:
    """Nodes as (free cores, free GiB, leaf); leaf l is in spine l // 3; pods as (cores, GiB, part)."""

    def __init__(self, kind, rng):
        self.kind = kind
        self.nodes = []
        for i in range(rng.randint(8, 72)):
            self.nodes.append((rng.randint(0, 8), rng.choice([4, 8, 16, 24, 32]), i // 4))
        self.leaves = self.nodes[-1][2] + 1
        self.tier = rng.randint(1, 3)
        self.part_tier = rng.randint(1, min(2, self.tier)) if kind == "sub-groups" else 0
        self.pods = self.tight_gang(rng)

    def tight_gang(self, rng):
        """Pods with about as many cores as a random domain of the highest tier allowed has free."""
        domain = rng.choice(sorted({self.domain(i, self.tier) for i in range(len(self.nodes))}))
        room = sum(node[0] for i, node in enumerate(self.nodes) if self.domain(i, self.tier) == domain)
        room = min(room, 160) * rng.uniform(0.6, 0.95)
        pods, parts = [], rng.randint(2, 5)
        while True:
            shape = SHAPES[0] if self.kind == "equal" else rng.choice(SHAPES)
            room -= shape[0]
            if room < 0 and len(pods) >= 2:
                break
            pods.append((*shape, rng.randrange(parts) if self.part_tier else 0))
        return sorted(pods, key=lambda pod: pod[2])

    def domain(self, node, tier):
        leaf = self.nodes[node][2]
        return [leaf, leaf // 3, 0][tier - 1]

    def manifests(self):
        items = []
        members = collections.defaultdict(list)
        for i, (cpu, memory, leaf) in enumerate(self.nodes):
            allocatable = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}
            items.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node{i}"}, "status": {"allocatable": allocatable}})
            members[(1, f"leaf{leaf}")].append(("Node", f"node{i}"))
        for leaf in range(self.leaves):
            members[(2, f"spine{leaf // 3}")].append(("HyperNode", f"leaf{leaf}"))
        for spine in range((self.leaves + 2) // 3):
            members[(3, "core")].append(("HyperNode", f"spine{spine}"))
        for (tier, name), below in members.items():
            spec = {"tier": tier, "members": [{"type": kind, "selector": {"exactMatch": {"name": one}}} for kind, one in below]}
            items.append({"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name}, "spec": spec})
        group = {"minMember": len(self.pods), "networkTopology": {"mode": "hard", "highestTierAllowed": self.tier}}
        if self.part_tier:
            limit = {"mode": "hard", "highestTierAllowed": self.part_tier}
            group["subGroupPolicy"] = [{"name": "part", "subGroupSize": 1, "matchLabelKeys": ["part"], "networkTopology": limit}]
        items.append({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "gang"}, "spec": group})
        for i, (cpu, memory, part) in enumerate(self.pods):
            requests = {"cpu": str(cpu), "memory": f"{memory}Gi"}
            container = {"name": "c", "resources": {"requests": requests, "limits": requests}}
            meta = {"name": f"gang-w-{i}", "annotations": {GROUP: "gang"}, "labels": {"part": str(part)}}
            items.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"schedulerName": "volcano", "containers": [container]}})
        return {"apiVersion": "v1", "kind": "List", "items": items}


def solve(cluster, tier, domain):
    """(feasible, fewest leaves) below one domain; feasible is None where the solver ran out of time."""
    nodes = [i for i in range(len(cluster.nodes)) if cluster.domain(i, tier) == domain]
    model = cp_model.CpModel()
    kinds = collections.Counter(cluster.pods)
    if not cluster.part_tier:
        kinds = collections.Counter((cpu, memory, 0) for cpu, memory, _ in cluster.pods)
    count = {(kind, i): model.new_int_var(0, wanted, "") for kind, wanted in kinds.items() for i in nodes}
    for kind, wanted in kinds.items():
        model.add(sum(count[kind, i] for i in nodes) == wanted)
    for i in nodes:
        for resource in (0, 1):
            model.add(sum(kind[resource] * count[kind, i] for kind in kinds) <= cluster.nodes[i][resource])
    if cluster.part_tier:
        for part in {kind[2] for kind in kinds}:
            places = {cluster.domain(i, cluster.part_tier): model.new_bool_var("") for i in nodes}
            model.add_exactly_one(places.values())
            for kind in (kind for kind in kinds if kind[2] == part):
                for i in nodes:
                    model.add(count[kind, i] <= kinds[kind] * places[cluster.domain(i, cluster.part_tier)])
    opened = {cluster.domain(i, 1): model.new_bool_var("") for i in nodes}
    if cluster.kind == "equal":
        for kind in kinds:
            for i in nodes:
                model.add(count[kind, i] <= kinds[kind] * opened[cluster.domain(i, 1)])
        model.minimize(sum(opened.values()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return False, 0
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, 0
    leaves = round(solver.objective_value) if cluster.kind == "equal" and status == cp_model.OPTIMAL else 0
    return True, leaves


def best_place(cluster):
    """(lowest tier or 0, fewest leaves there or 0); None where the solver ran out of time."""
    for tier in range(1, cluster.tier + 1):
        fewest, found = 0, False
        for domain in sorted({cluster.domain(i, tier) for i in range(len(cluster.nodes))}):
            feasible, leaves = solve(cluster, tier, domain)
            if feasible is None:
                return None
            if feasible:
                fewest = leaves if not found else min(fewest, leaves)
                found = True
        if found:
            return tier, fewest
    return 0, 0


def decide(strata, cluster, conf):
    """The node numbers of the gang, empty when it waits, and its message."""
    command = [strata, "simulate", "-f", "-", "-o", "json"] + (["--scheduler-conf", conf] if conf else [])
    run = subprocess.run(command, input=json.dumps(cluster.manifests()), capture_output=True, text=True, check=True)
    answer = json.loads(run.stdout)
    return [int(node[4:]) for node in answer["binds"].values()], answer["jobs"]["default/gang"]["message"]


def compare(options, kind, conf):
    rng = random.Random(f"{kind} {options.seed}")
    tally = collections.Counter()
    for _ in range(options.count):
        cluster = Cluster(kind, rng)
        best = best_place(cluster)
        if best is None:
            tally["unsolved"] += 1
            continue
        places, message = decide(options.strata, cluster, conf)
        tally["feasible"] += best[0] > 0
        tally["cut"] += "second search" in message
        if not best[0]:
            assert not places, "a place that the solver does not know"
        elif not places:
            tally["missed"] += 1
        else:
            tier = next(t for t in (1, 2, 3) if len({cluster.domain(i, t) for i in places}) == 1)
            assert tier >= best[0], "a lower tier than the solver knows"
            tally["higher"] += tier > best[0]
            leaves = len({cluster.domain(i, 1) for i in places})
            tally["leaves"] += tier == best[0] and 0 < best[1] < leaves
    print(f"{kind}: {options.count} clusters, {tally['feasible']} have a place; missed {tally['missed']}, in a higher tier "
          f"{tally['higher']}, more leaves than needed {tally['leaves']}, cut {tally['cut']}, unsolved {tally['unsolved']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strata", default="build/strata")
    parser.add_argument("--count", type=int, default=2000, help="clusters of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--greedy", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        conf = pathlib.Path(folder) / "volcano-scheduler.conf"
        conf.write_text(GREEDY)
        for kind in KINDS:
            compare(options, kind, str(conf) if options.greedy else None)


if __name__ == "__main__":
    main()
