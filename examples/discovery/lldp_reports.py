#!/usr/bin/env python3
"""Converts cabling reports of other tools into the folder of json0 reports that Strata's source `roce` reads.

    lldp_reports.py --out DIR lldpctl node-01=a.json leaf01=b.json     lldpctl -f json, which is not json0
    lldp_reports.py --out DIR sonic leaf-01=appl-db.json               LLDP_ENTRY_TABLE of a SONiC switch
    lldp_reports.py --out DIR openconfig leaf-01=gnmi.json             openconfig-lldp over gNMI or RESTCONF
    lldp_reports.py --out DIR netbox interfaces.json ...               GET /api/dcim/interfaces/?cabled=true
    lldp_reports.py --out DIR netq topologygraph.json                  NVIDIA NetQ, fetch-topology

A file is given as MACHINE=FILE where the file does not say whose it is. --switches is a regular expression for the
names of switches: give it for netbox when the answer has the switches' interfaces, too. Then, in
volcano-controller.conf: {source: roce, config: {lldpDir: DIR}}.
"""
import argparse
import json
import pathlib
import re
import sys


class Neighbour:
    """What one interface sees. `forwards`: whether the neighbour is a switch; None when nobody says."""

    def __init__(self, interface, name, port, forwards=None, chassis=None):
        self.interface, self.name, self.port, self.forwards, self.chassis = interface, name, port, forwards, chassis

    def json0(self):
        chassis = {}
        if self.chassis:
            chassis["id"] = [{"type": "mac", "value": self.chassis}]
        if self.name:
            chassis["name"] = [{"value": self.name}]
        if self.forwards is not None:
            chassis["capability"] = [{"type": "Bridge", "enabled": self.forwards},
                                     {"type": "Station", "enabled": not self.forwards}]
        port = [{"id": [{"type": "ifname", "value": self.port}]}]
        return {"name": self.interface, "chassis": [chassis], "port": port}


def lldpctl(machine, data):
    """`interface` is one object, or a list of them; a chassis is known by its name, or bare when it has none."""
    interfaces = data["lldp"].get("interface", [])
    for entry in interfaces if isinstance(interfaces, list) else [interfaces]:
        for interface, seen in entry.items():
            bare = "id" in seen["chassis"]
            name, chassis = (None, seen["chassis"]) if bare else next(iter(seen["chassis"].items()))
            capabilities = chassis.get("capability")
            if isinstance(capabilities, dict):
                capabilities = [capabilities]
            forwards = None if capabilities is None else any(
                c["enabled"] and c["type"] in ("Bridge", "Router") for c in capabilities)
            yield machine, Neighbour(interface, name, seen["port"]["id"]["value"], forwards, chassis["id"]["value"])


def sonic(machine, data):
    for key, entry in data.items():
        table, _, interface = key.partition(":")
        if table != "LLDP_ENTRY_TABLE":
            continue
        entry = entry.get("value", entry)  # sonic-db-dump wraps it
        # The bits of lldpRemSysCapEnabled, first bit first: other, repeater, bridge, wlan, router.
        forwards = bool(int(entry["lldp_rem_sys_cap_enabled"].split()[0], 16) & 0x28)
        yield machine, Neighbour(interface, entry["lldp_rem_sys_name"], entry["lldp_rem_port_id"], forwards,
                                 entry["lldp_rem_chassis_id"])


def openconfig(machine, data):
    for interface in data["openconfig-lldp:interfaces"]["interface"]:
        for neighbour in interface.get("neighbors", {}).get("neighbor", []):
            state = neighbour["state"]
            enabled = [c["name"].rpartition(":")[2] for c in neighbour.get("capabilities", {}).get("capability", [])
                       if c["state"]["enabled"]]
            forwards = bool({"MAC_BRIDGE", "ROUTER"} & set(enabled)) if enabled else None
            yield machine, Neighbour(interface["name"], state.get("system-name"), state["port-id"], forwards,
                                     state.get("chassis-id"))


def netbox(data, is_switch):
    for interface in data["results"]:
        if interface["mgmt_only"] or not interface["enabled"]:
            continue
        # Before 3.3 there was one, not a list.
        ends = interface.get("connected_endpoints") or [interface.get("connected_endpoint")]
        for end in filter(None, ends):
            name = end["device"]["name"]
            yield interface["device"]["name"], Neighbour(interface["name"], name, end["name"], is_switch(name))


def netq(data):
    machines = {m["id"]: m for tier in data[0]["nodes"] for m in tier["compounded_nodes"]}
    for link in data[0]["links"]:
        ends = [machines[name] for name in link["id"].split("-*-")]
        for near, far in (ends, ends[::-1]):
            yield near["name"], Neighbour("", far["name"], "", far["tier"] != -1)


def read(arguments):
    def is_switch(name):
        return bool(re.fullmatch(arguments.switches, name)) if arguments.switches else None

    for given in arguments.files:
        machine, _, path = given.rpartition("=")
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if arguments.form == "netbox":
            yield from netbox(data, is_switch)
        elif arguments.form == "netq":
            yield from netq(data)
        elif not machine:
            raise ValueError(f"{path}: want MACHINE={path}")
        else:
            yield from {"lldpctl": lldpctl, "sonic": sonic, "openconfig": openconfig}[arguments.form](machine, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=("lldpctl", "sonic", "openconfig", "netbox", "netq"))
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--switches")
    parser.add_argument("files", nargs="+", metavar="[MACHINE=]FILE")
    arguments = parser.parse_args()
    reports = {}
    for machine, neighbour in read(arguments):
        reports.setdefault(machine, []).append(neighbour.json0())
    arguments.out.mkdir(parents=True, exist_ok=True)
    for machine, interfaces in reports.items():
        text = json.dumps({"lldp": [{"interface": interfaces}]}, indent=1)
        (arguments.out / f"{machine}.json0").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        sys.exit(f"lldp_reports.py: {type(error).__name__}: {error}")
