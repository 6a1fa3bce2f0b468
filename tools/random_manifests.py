#!/usr/bin/env python3
"""Writes random clusters with their jobs, each a JSON list of manifests, the same for the same seed.

Small clusters, so that things are short and choices are close: trees of HyperNodes (by name, regex and label), cordoned
and tainted nodes, queues, running pods, GPUs with links, gangs with and without topology, sub-groups, selectors,
affinity of nodes and pods, and spread.

Usage: tools/random_manifests.py FOLDER FIRST_SEED LAST_SEED; writes FOLDER/<seed>.json.
"""
import json
import pathlib
import random
import sys

GROUP = "scheduling.k8s.io/group-name"


def amounts(**values):
    return {name.replace("__", "/").replace("_", "."): str(value) for name, value in values.items()}


def gpu_annotations(rng, node):
    """HAMi's two annotations for four or eight GPUs, paired by random links."""
    ids = [f"GPU-{node}-{i}" for i in range(rng.choice([4, 8]))]
    register = [{"id": uuid, "count": 10, "devmem": 81920, "devcore": 100, "type": "NVIDIA A100", "mode": "hami-core",
                 "health": rng.random() > 0.05, "index": i, "numa": i * 2 // len(ids)} for i, uuid in enumerate(ids)]
    links = {frozenset((a, b)): rng.choice([10, 20, 40, 100, 200]) for a in ids for b in ids if a < b}
    scores = [{"uuid": a, "score": {b: links[frozenset((a, b))] for b in ids if b != a}} for a in ids]
    return len(ids), {"hami.io/node-nvidia-register": json.dumps(register), "hami.io/node-nvidia-score": json.dumps(scores)}


def make_nodes(rng):
    nodes = []
    for i in range(rng.randint(2, 24)):
        allocatable = amounts(cpu=rng.choice([4, 8, 16]), memory=f"{rng.choice([16, 32])}Gi", pods=rng.choice([3, 20]))
        node = {"apiVersion": "v1", "kind": "Node", "status": {"allocatable": allocatable}, "spec": {},
                "metadata": {"name": f"node{i}", "labels": {"zone": f"z{i % 3}", "kubernetes.io/hostname": f"node{i}"}}}
        if rng.random() < 0.4:
            count, annotations = gpu_annotations(rng, i)
            node["metadata"]["annotations"] = annotations
            allocatable["nvidia.com/gpu"] = str(10 * count)
        if rng.random() < 0.15:
            node["spec"]["taints"] = [{"key": "dedicated", "value": "x", "effect": rng.choice(["NoSchedule", "PreferNoSchedule"])}]
        if rng.random() < 0.1:
            node["spec"]["unschedulable"] = True
        nodes.append(node)
    return nodes


def leaf_members(rng, nodes, name):
    """Nodes as members of a leaf: one by one, or all by a regular expression or by a label they get for it."""
    names = [node["metadata"]["name"] for node in nodes]
    how = rng.choice(["exact", "exact", "regex", "label"])
    if how == "regex":
        return [{"type": "Node", "selector": {"regexMatch": {"pattern": f"^({'|'.join(names)})$"}}}]
    if how == "label":
        for node in nodes:
            node["metadata"]["labels"]["leaf"] = name
        return [{"type": "Node", "selector": {"labelMatch": {"matchLabels": {"leaf": name}}}}]
    return [{"type": "Node", "selector": {"exactMatch": {"name": node}}} for node in names]


def make_hypernodes(rng, nodes):
    made, level, tier = [], nodes, 1
    while len(level) > 1 and tier <= 3:
        width = rng.randint(2, 5)
        above = []
        for start in range(0, len(level), width):
            name = f"t{tier}-{start // width}"
            below = level[start:start + width]
            members = leaf_members(rng, below, name) if tier == 1 else [
                {"type": "HyperNode", "selector": {"exactMatch": {"name": member}}} for member in below]
            made.append({"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name},
                         "spec": {"tier": tier, "members": members}})
            above.append(name)
        level, tier = above, tier + 1
    return made


def topology(rng):
    return rng.choice([None, {"mode": "soft"}, {"mode": "hard", "highestTierAllowed": rng.randint(1, 4)}])


def pod_spec(rng):
    request = amounts(cpu=rng.choice(["500m", 1, 2, 4]), memory=f"{rng.choice([1, 2, 4])}Gi")
    if rng.random() < 0.3:
        request["nvidia.com/gpu"] = str(rng.randint(1, 4))
    spec = {"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"limits": request, "requests": request}}]}
    match = {"matchLabels": {"app": rng.choice("ab")}}
    if rng.random() < 0.1:
        spec["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "zone", "labelSelector": match,
                                              "whenUnsatisfiable": rng.choice(["DoNotSchedule", "ScheduleAnyway"])}]
    if rng.random() < 0.1:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": match}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if rng.random() < 0.1:
        spec["nodeSelector"] = {"zone": rng.choice(["z0", "z1"])}
    if rng.random() < 0.1:
        wish = {"matchExpressions": [{"key": "zone", "operator": rng.choice(["In", "NotIn"]), "values": ["z1", "z2"]}]}
        spec.setdefault("affinity", {})["nodeAffinity"] = rng.choice([
            {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [wish]}},
            {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": rng.randint(1, 100), "preference": wish}]}])
    if rng.random() < 0.2:
        spec["tolerations"] = [{"operator": "Exists"}]
    return spec


def make_job(rng, index, queues):
    size = rng.randint(1, 8)
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": f"job{index}"},
             "spec": {"minMember": rng.randint(1, size), "queue": rng.choice(queues)}}
    limits = topology(rng)
    if limits:
        group["spec"]["networkTopology"] = limits
    if size % 2 == 0 and rng.random() < 0.3:
        part = {"name": "part", "subGroupSize": size // 2, "matchLabelKeys": ["part"], "minSubGroups": rng.randint(1, 2)}
        if rng.random() < 0.5:
            part["networkTopology"] = {"mode": "hard", "highestTierAllowed": rng.randint(1, 2)}
        group["spec"]["subGroupPolicy"] = [part]
    spec, app = pod_spec(rng), rng.choice("ab")
    pods = [{"apiVersion": "v1", "kind": "Pod", "spec": spec,
             "metadata": {"name": f"job{index}-{i}", "annotations": {GROUP: f"job{index}"},
                          "labels": {"app": app, "part": f"p{i * 2 // size}"}}} for i in range(size)]
    return [group, *pods]


def make_running(rng, nodes):
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"run{i}", "labels": {"app": "a"}}, "status": {"phase": "Running"},
             "spec": {"nodeName": rng.choice(nodes)["metadata"]["name"],
                      "containers": [{"name": "c", "resources": {"requests": amounts(cpu=1)}}]}} for i in range(rng.randint(0, 4))]


def make_cluster(seed):
    rng = random.Random(seed)
    nodes = make_nodes(rng)
    queues = [f"q{i}" for i in range(rng.randint(1, 3))]
    items = nodes + make_hypernodes(rng, nodes) + make_running(rng, nodes)
    for queue in queues:
        spec = {"weight": rng.randint(1, 4)}
        if rng.random() < 0.3:
            spec["capability"] = amounts(cpu=rng.choice([4, 12, 40]))
        items.append({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": queue}, "spec": spec})
    for index in range(rng.randint(1, 6)):
        items += make_job(rng, index, queues)
    return {"apiVersion": "v1", "kind": "List", "items": items}


def main():
    folder = pathlib.Path(sys.argv[1])
    for seed in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
        (folder / f"{seed:06}.json").write_text(json.dumps(make_cluster(seed)))


if __name__ == "__main__":
    main()
