#!/usr/bin/env python3
"""Nodes with the label that Strata's source `nvlink` reads, from what else knows the NVLink domains.

    nvlink_labels.py nmx --nodes nodes.json compute-nodes.json           NMX, GET nmx/v1/compute-nodes
    nvlink_labels.py nvidia-smi --nodes nodes.json node-01=a.csv ...     on each node: nvidia-smi
        --query-gpu=fabric.clusterUuid,fabric.cliqueId --format=csv,noheader

--nodes is `kubectl get nodes -o json`. Prints the same Nodes, labelled: give that to `strata discover --nodes`. Where
GPU feature discovery runs, the nodes have the label already.
"""
import argparse
import json
import pathlib
import sys

LABEL = "nvidia.com/gpu.clique"


def nmx(files):
    for path in files:
        for node in json.loads(pathlib.Path(path).read_text(encoding="utf-8")):
            if node.get("DomainUUID"):
                yield node["Name"], node["DomainUUID"]


def nvidia_smi(files):
    for given in files:
        node, _, path = given.rpartition("=")
        if not node:
            raise ValueError(f"{path}: want NODE={path}")
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        domains = {".".join(part.strip() for part in line.split(",")) for line in lines if line.strip()}
        if len(domains) != 1:
            raise ValueError(f"{path}: the GPUs of {node} are in {len(domains)} NVLink domains (want one)")
        domain = domains.pop()
        if "N/A" not in domain:
            yield node, domain


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=("nmx", "nvidia-smi"))
    parser.add_argument("--nodes", required=True, type=pathlib.Path)
    parser.add_argument("files", nargs="+", metavar="[NODE=]FILE")
    arguments = parser.parse_args()
    domain_of = dict({"nmx": nmx, "nvidia-smi": nvidia_smi}[arguments.form](arguments.files))
    nodes = json.loads(arguments.nodes.read_text(encoding="utf-8"))
    for node in nodes["items"]:
        labels = node["metadata"].setdefault("labels", {})
        labels.pop(LABEL, None)
        if node["metadata"]["name"] in domain_of:
            labels[LABEL] = domain_of[node["metadata"]["name"]]
    json.dump(nodes, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"nvlink_labels.py: {type(error).__name__}: {error}")
