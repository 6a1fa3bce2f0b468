#!/usr/bin/env python3
"""Where a cloud says its instances are, as the graph that Strata's source `exec` reads.

    cloud_paths.py aws --nodes nodes.json topology.json      aws ec2 describe-instance-topology
    cloud_paths.py gcp instances.json                        compute instances.list
    cloud_paths.py oci --nodes nodes.json hosts.json         compute ListComputeHosts
    cloud_paths.py oci-imds node-01.json node-02.json ...    /opc/v2/host/rdmaTopologyData, a file for each node

Several files are pages of one answer. --nodes is `kubectl get nodes -o json`: clouds name instances by ids, and
spec.providerID of a Node ends in that id.

Where the nodes carry the cloud's labels already, `source: label` with `preset` needs no program at all.
"""
import argparse
import json
import pathlib
import sys


def instances_of(page, key):
    if isinstance(page, list):  # as gcloud prints them
        return page
    return page[key]


def check_complete(last):
    for token in ("NextToken", "nextPageToken"):
        if isinstance(last, dict) and last.get(token):
            raise ValueError(f"{token} is set: there are more pages (give them all, the last one last)")


def aws(pages):
    for page in pages:
        for instance in instances_of(page, "Instances"):
            yield instance["InstanceId"], reversed(instance["NetworkNodes"])  # the answer has the top first


def gcp(pages):
    for page in pages:
        for instance in instances_of(page, "items"):
            place = instance.get("resourceStatus", {}).get("physicalHostTopology", {})
            yield instance["name"], [place.get(key) for key in ("subblock", "block", "cluster")]


def oci(pages):
    for page in pages:
        for host in instances_of(page, "items"):
            yield host.get("instanceId"), [host.get(key) for key in ("localBlockId", "networkBlockId", "hpcIslandId")]


def oci_imds(pages, names):
    for name, place in zip(names, pages):
        yield name, [place.get("customer" + key) for key in ("LocalBlock", "NetworkBlock", "HPCIslandId")]


def known(layers):
    """The layers up to the first that the cloud does not tell."""
    told = []
    for layer in layers:
        if not layer:
            break
        told.append(layer)
    return told


def nodes_by_instance(path):
    nodes = json.loads(path.read_text(encoding="utf-8"))["items"] if path else []
    provided = [(node["metadata"]["name"], node.get("spec", {}).get("providerID", "")) for node in nodes]
    return {provider_id.rpartition("/")[2]: name for name, provider_id in provided if provider_id}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cloud", choices=("aws", "gcp", "oci", "oci-imds"))
    parser.add_argument("--nodes", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    node_of = nodes_by_instance(arguments.nodes)
    pages = [json.loads(path.read_text(encoding="utf-8")) for path in arguments.files]
    check_complete(pages[-1])
    if arguments.cloud == "oci-imds":
        found = oci_imds(pages, [path.stem for path in arguments.files])
    else:
        found = {"aws": aws, "gcp": gcp, "oci": oci}[arguments.cloud](pages)
    instances = [{"id": node_of.get(name, name), "network_layers": known(layers)} for name, layers in found if name]
    json.dump({"instances": instances}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"cloud_paths.py: {type(error).__name__}: {error}")
