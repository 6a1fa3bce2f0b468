"""Rights as values: what deploy/chart/rbac grants, and what a request needs."""
import collections
import pathlib
import urllib.parse

import yaml  # Debian: python3-yaml

EVERYWHERE = "*"

# `space` is where it holds, `names` to which objects it is limited (None: to none of them).
Grant = collections.namedtuple("Grant", "who space group resource verb names")
# `name` is "" where the request names no object.
Need = collections.namedtuple("Need", "who space group resource verb name")
# No request of its own shows this one: the admission plugin OwnerReferencesPermissionEnforcement (on in our control plane, so that it is refused where it
# is missing) asks for it when the controllers create a pod whose owner reference blocks the deletion of its Job.
BLOCKING_OWNER = Need("strata-controllers", "", "batch.volcano.sh", "jobs/finalizers", "update", "")


def grants_of(folder):
    """All that the roles in a folder of manifests give to service accounts, one Grant per verb."""
    objects = [item for path in sorted(pathlib.Path(folder).glob("*.yaml")) for item in yaml.safe_load_all(path.read_text())]
    roles = {(item["kind"], item["metadata"].get("namespace", EVERYWHERE), item["metadata"]["name"]): item["rules"]
             for item in objects if item["kind"] in ("ClusterRole", "Role")}
    found = []
    for binding in objects:
        if binding["kind"] not in ("ClusterRoleBinding", "RoleBinding"):
            continue
        space = binding["metadata"].get("namespace", EVERYWHERE)
        reference = binding["roleRef"]
        for rule in roles[(reference["kind"], space, reference["name"])]:
            names = tuple(rule["resourceNames"]) if "resourceNames" in rule else None
            found += [Grant(subject["name"], space, group, resource, verb, names) for subject in binding["subjects"]
                      for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]]
    return found


def allows(grant, need):
    return (grant.who == need.who and grant.space in (EVERYWHERE, need.space)
            and (grant.group, grant.resource, grant.verb) == (need.group, need.resource, need.verb)
            and (grant.names is None or need.name in grant.names))


def needs_of(who, method, target):
    """What a request takes: usually one right, none for a path that is not a resource.

    A watch that begins with what is there needs `list`, too: a server that cannot stream lists is asked for one. An apply needs `create`, too: it makes
    what is not there."""
    path, _, query = target.partition("?")
    options = dict(urllib.parse.parse_qsl(query))
    words = path.strip("/").split("/")
    if words[0] == "api" and len(words) > 2:
        group, rest = "", words[2:]
    elif words[0] == "apis" and len(words) > 3:
        group, rest = words[1], words[3:]
    else:
        return []
    space = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        space, rest = rest[1], rest[2:]
    resource, name, below = rest[0], "".join(rest[1:2]), "/".join(rest[2:3])
    if options.get("fieldSelector", "").startswith("metadata.name="):
        name = options["fieldSelector"].removeprefix("metadata.name=")
    verbs = verbs_of(method, bool(rest[1:]), options)
    needs = [Need(who, space, group, f"{resource}/{below}" if below else resource, verb, "" if verb == "create" and not below else name)
             for verb in verbs]
    return needs + [BLOCKING_OWNER._replace(space=space) for need in needs if need[:5] == (BLOCKING_OWNER.who, space, "", "pods", "create")]


def verbs_of(method, names_one, options):
    if method == "GET" and names_one:
        return ["get"]
    if method == "GET":
        streams = options.get("sendInitialEvents") == "true"
        watches = options.get("watch") in ("true", "1")
        return ["list", "watch"] if streams else ["watch"] if watches else ["list"]
    if method == "PATCH":
        return ["create", "patch"] if "force" in options else ["patch"]
    if method == "DELETE":
        return ["delete"] if names_one else ["deletecollection"]
    return [{"POST": "create", "PUT": "update"}[method]]


def table(grants):
    """Lines for people: who may do what, and where."""
    rows = collections.defaultdict(list)
    for grant in grants:
        names = "" if grant.names is None else f" ({', '.join(grant.names)})"
        rows[(grant.who, grant.space, f"{grant.resource}.{grant.group}" if grant.group else grant.resource, names)].append(grant.verb)
    lines = [f"{'who':<22} {'where':<16} {'what':<70} verbs"]
    for (who, space, what, names), verbs in sorted(rows.items()):
        lines.append(f"{who:<22} {'everywhere' if space == EVERYWHERE else space:<16} {what + names:<70} {' '.join(verbs)}")
    return lines
