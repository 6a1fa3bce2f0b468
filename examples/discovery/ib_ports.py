#!/usr/bin/env python3
"""InfiniBand links from elsewhere, as the lines of `ibnetdiscover -p` that Strata's source `infiniband` reads.

    ib_ports.py iblinkinfo saved.txt             what iblinkinfo printed
    ib_ports.py ufm links.json systems.json      UFM's /ufmRest/resources/links and /ufmRest/resources/systems

In volcano-controller.conf: {source: infiniband, config: {command: [ib_ports.py, iblinkinfo, saved.txt]}}.
"""
import json
import pathlib
import re
import sys

HEAD = re.compile(r"^(?P<type>CA|Switch): (?:0x(?P<guid>[0-9a-f]+) )?(?P<name>.*):$")
PORT = re.compile(r"^\s+(?:0x(?P<guid>[0-9a-f]+)\s+)?(?P<lid>\d+)\s+(?P<port>\d+)\[.*?\] ==\((?P<state>.*?)\)==>"
                  r"\s+(?P<peer_lid>\d*)\s*(?P<peer_port>\d*)\[.*?\] \"(?P<peer>.*)\"")


class End:
    """One end of a link, as `ibnetdiscover -p` shows it."""

    def __init__(self, kind, lid, port, guid, name):
        self.kind, self.lid, self.port, self.guid, self.name = kind, lid, port, guid, name

    def __str__(self):
        return f"{self.kind} {self.lid} {self.port} 0x{self.guid}"


def show(near, far):
    print(f"{near} ?x ??? - {far} ( '{near.name}' - '{far.name}' )")


def iblinkinfo(path):
    """Ports name their peer by lid: the first pass learns whose lids those are."""
    ports = []
    owner = {}
    head = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = HEAD.match(line)
        if match:
            head = match
            continue
        port = PORT.match(line)
        if head is None or not port:
            raise ValueError(f"{path}: line {number}: want a port as iblinkinfo prints it")
        kind = "SW" if head["type"] == "Switch" else "CA"
        end = End(kind, port["lid"], port["port"], head["guid"] or port["guid"], head["name"])
        ports.append((end, port, number))
        known = owner.setdefault(end.lid, end)
        if known.guid != end.guid or end.lid == "0":
            raise ValueError(f"{path}: line {number}: lid {end.lid} is not its own (does a subnet manager run?)")
    for end, port, number in ports:
        if "LinkUp" not in port["state"]:
            continue
        peer = owner.get(port["peer_lid"])
        if peer is None:
            raise ValueError(f"{path}: line {number}: lid {port['peer_lid']} is not in the text: it is a part only")
        show(end, End(peer.kind, peer.lid, port["peer_port"], peer.guid, peer.name))


def ufm(links, systems):
    kinds = {"host": "CA", "switch": "SW"}
    system_of = {system["system_guid"]: system for system in json.loads(systems.read_text(encoding="utf-8"))}
    for link in json.loads(links.read_text(encoding="utf-8")):
        ends = []
        for side in ("source", "destination"):
            guid = link[f"{side}_guid"]
            system = system_of.get(guid)
            if system is None:
                raise ValueError(f"{links}: {link['name']}: system {guid} is not in {systems}")
            kind = kinds.get(system["type"])
            name = system["system_name"] if kind == "SW" else link[f"{side}_port_node_description"]
            ends.append(End(kind, 0, link[f"{side}_port"], guid, name))
        if None not in (ends[0].kind, ends[1].kind):  # gateways and routers have no place in the tree
            show(*ends)
            show(*reversed(ends))


def main():
    wanted = {"iblinkinfo": (iblinkinfo, 1), "ufm": (ufm, 2)}
    function, files = wanted.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if function is None or len(sys.argv) != 2 + files:
        sys.exit(__doc__)
    function(*map(pathlib.Path, sys.argv[2:]))


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"ib_ports.py: {type(error).__name__}: {error}")
