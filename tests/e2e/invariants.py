"""What must be true of a cluster at every moment, read from its objects."""
from decimal import Decimal

SUFFIXES = {"m": Decimal("0.001"), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20,
            "Gi": 2**30, "Ti": 2**40}


def amount(text):
    """A quantity as a number."""
    digits = text.rstrip("mkMGTKi")
    return Decimal(digits) * SUFFIXES.get(text[len(digits):], 1)


def requests_of(pod):
    """{resource: amount} of a pod's containers together, and one pod."""
    total = {"pods": Decimal(1)}
    for container in pod["spec"]["containers"]:
        resources = container.get("resources", {})
        for name, text in {**resources.get("limits", {}), **resources.get("requests", {})}.items():
            total[name] = total.get(name, 0) + amount(text)
    return total


def holds(pod):
    """Whether the pod takes something of a node."""
    return pod["spec"].get("nodeName") and pod["status"].get("phase") not in ("Succeeded", "Failed")


def overcommitted(nodes, pods):
    """What is given more often than it is there: lines for people, none when all is well."""
    problems = []
    free = {node["metadata"]["name"]: {name: amount(text) for name, text in node["status"]["allocatable"].items()}
            for node in nodes}
    for pod in filter(holds, pods):
        for name, wanted in requests_of(pod).items():
            left = free.get(pod["spec"]["nodeName"], {})
            left[name] = left.get(name, Decimal(0)) - wanted
            if left[name] < 0:
                problems.append(f"{pod['spec']['nodeName']}: {name} over-committed by {pod['metadata']['name']}")
    return problems


def devices_of(pod):
    """UUIDs of the GPUs that a pod was given."""
    text = pod["metadata"].get("annotations", {}).get("hami.io/vgpu-devices-allocated", "")
    return [device.split(",")[0] for container in text.split(";") for device in container.split(":") if "," in device]


def given_twice(pods):
    """GPUs that two pods hold, where every pod asks for whole ones."""
    owner, problems = {}, []
    for pod in filter(holds, pods):
        for device in devices_of(pod):
            if device in owner:
                problems.append(f"{device}: {owner[device]} and {pod['metadata']['name']}")
            owner[device] = pod["metadata"]["name"]
    return problems


def asked_of(pod):
    """How many GPUs a pod asks for."""
    return int(requests_of(pod).get("nvidia.com/gpu", 0))


def misgiven(pods):
    """Pods with a node and without as many GPUs of it as they ask for."""
    problems = []
    for pod in filter(holds, pods):
        node, devices = pod["spec"]["nodeName"], set(devices_of(pod))
        if len(devices) != asked_of(pod) or not all(device.startswith(f"GPU-{node}-") for device in devices):
            problems.append(f"{pod['metadata']['name']} on {node} asks for {asked_of(pod)} GPUs and has {sorted(devices)}")
    return problems


def room_for(nodes, pods, label, gpus, gpus_of_a_node):
    """The most pods with so many GPUs each that find a place on nodes with one value of the label."""
    held = {}
    for pod in filter(holds, pods):
        held[pod["spec"]["nodeName"]] = held.get(pod["spec"]["nodeName"], 0) + len(devices_of(pod))
    room = {}
    for node in nodes:
        domain = node["metadata"]["labels"][label]
        free = gpus_of_a_node - held.get(node["metadata"]["name"], 0)
        room[domain] = room.get(domain, 0) + free // gpus
    return max(room.values())


class Ledger:
    """Remembers each pod by its uid: where it was bound it stays, and it is there as long as its owner is."""

    def __init__(self):
        self.node_of = {}
        self.pods_of = {}  # uid of the owner: {uid: name}

    def problems(self, pods, owners):
        """What has happened since the last look that must not; `owners` are the uids of those that still live."""
        found = []
        for pod in pods:
            meta, node = pod["metadata"], pod["spec"].get("nodeName")
            before = self.node_of.get(meta["uid"])
            if before and before != node:
                found.append(f"{meta['name']}: bound to {before}, now {node}")
            if node:
                self.node_of[meta["uid"]] = node
            self.pods_of.setdefault(meta["ownerReferences"][0]["uid"], {})[meta["uid"]] = meta["name"]
        present = {pod["metadata"]["uid"] for pod in pods}
        for owner in owners:
            lost = [name for uid, name in self.pods_of.get(owner, {}).items() if uid not in present]
            found += [f"{name} is lost" for name in lost]
        return found
