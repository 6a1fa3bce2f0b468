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


class Bindings:
    """Remembers on which node each pod was seen: once bound, it stays there."""

    def __init__(self):
        self.seen = {}

    def moved(self, pods):
        problems = []
        for pod in pods:
            uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
            before = self.seen.get(uid)
            if before and before != node:
                problems.append(f"{pod['metadata']['name']}: {before}, now {node}")
            if node:
                self.seen[uid] = node
        return problems
