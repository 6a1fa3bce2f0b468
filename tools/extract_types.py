#!/usr/bin/env python3
"""Writes src/schema/types/*.types from a Kubernetes source tree: facts only, no texts.

Names, types, required fields and how lists merge are those of the published OpenAPI v3 documents; what
Go calls the named scalars is read from the Go types; the defaults that a server puts in, and no document
tells, are the table below. The notation is described in src/schema/type_reader.h.

Usage: tools/extract_types.py KUBERNETES_DIR
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORE = "io.k8s.api.core.v1"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

# package: (short name, group, folder of the Go types, kinds that are served under their name)
PACKAGES = {
    META: ("meta", "meta.k8s.io", "apimachinery/pkg/apis/meta/v1", "DeleteOptions Status ObjectMeta ListMeta"),
    CORE: ("core", "", "api/core/v1", "Namespace Node Pod Event ConfigMap Secret Service ServiceAccount PersistentVolume "
           "PersistentVolumeClaim ResourceQuota Binding"),
    "io.k8s.api.policy.v1": ("policy", "policy", "api/policy/v1", "PodDisruptionBudget Eviction"),
    "io.k8s.api.scheduling.v1": ("scheduling", "scheduling.k8s.io", "api/scheduling/v1", "PriorityClass"),
    "io.k8s.api.storage.v1": ("storage", "storage.k8s.io", "api/storage/v1", "StorageClass CSINode"),
    "io.k8s.api.coordination.v1": ("coordination", "coordination.k8s.io", "api/coordination/v1", "Lease"),
    "io.k8s.api.authorization.v1": ("authorization", "authorization.k8s.io", "api/authorization/v1",
                                    "SelfSubjectAccessReview"),
    EXTENSIONS: ("apiextensions", "apiextensions.k8s.io", "apiextensions-apiserver/pkg/apis/apiextensions/v1",
                 "CustomResourceDefinition"),
}
ALSO = [f"{CORE}.PodTemplateSpec"]
SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intOrString",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
    f"{META}.Time": "time",
    f"{META}.MicroTime": "microTime",
    f"{META}.FieldsV1": "any",
    f"{EXTENSIONS}.JSON": "any",
    f"{EXTENSIONS}.JSONSchemaPropsOrArray": "any",
    f"{EXTENSIONS}.JSONSchemaPropsOrBool": "any",
    f"{EXTENSIONS}.JSONSchemaPropsOrStringArray": "any",
}
CONTAINER = {"terminationMessagePath": 'or="/dev/termination-log"', "terminationMessagePolicy": 'or="File"',
             "resources": "default={}"}
DEFAULTS = {
    "core.PodSpec": {"restartPolicy": 'or="Always"', "dnsPolicy": 'or="ClusterFirst"',
                     "schedulerName": 'or="default-scheduler"', "terminationGracePeriodSeconds": "default=30",
                     "securityContext": "default={}", "enableServiceLinks": "default=true"},
    "core.Container": CONTAINER,
    "core.EphemeralContainer": CONTAINER,
    "core.Probe": {"timeoutSeconds": "or=1", "periodSeconds": "or=10", "successThreshold": "or=1", "failureThreshold": "or=3"},
    "core.HTTPGetAction": {"path": 'or="/"', "scheme": 'or="HTTP"'},
    "core.GRPCAction": {"service": 'default=""'},
    "core.SecretVolumeSource": {"defaultMode": "default=420"},
    "core.ConfigMapVolumeSource": {"defaultMode": "default=420"},
    "core.DownwardAPIVolumeSource": {"defaultMode": "default=420"},
    "core.ProjectedVolumeSource": {"defaultMode": "default=420"},
    "core.ServiceAccountTokenProjection": {"expirationSeconds": "default=3600"},
    "core.HostPathVolumeSource": {"type": 'default=""'},
    "core.ObjectFieldSelector": {"apiVersion": 'or="v1"'},
    "core.ContainerPort": {"protocol": 'or="TCP"'},
    "core.ServicePort": {"protocol": 'or="TCP"'},
    "core.ServiceSpec": {"sessionAffinity": 'or="None"', "type": 'or="ClusterIP"'},
    "core.PersistentVolumeSpec": {"persistentVolumeReclaimPolicy": 'or="Retain"', "volumeMode": 'default="Filesystem"'},
    "core.PersistentVolumeStatus": {"phase": 'or="Pending"'},
    "core.PersistentVolumeClaimSpec": {"volumeMode": 'default="Filesystem"', "resources": "default={}"},
    "core.PersistentVolumeClaimStatus": {"phase": 'or="Pending"'},
    "core.NamespaceStatus": {"phase": 'or="Active"'},
    "core.Secret": {"type": 'or="Opaque"'},
    "storage.StorageClass": {"reclaimPolicy": 'default="Delete"', "volumeBindingMode": 'default="Immediate"'},
    "scheduling.PriorityClass": {"preemptionPolicy": 'default="PreemptLowerPriority"'},
    "apiextensions.CustomResourceDefinitionSpec": {"conversion": 'default={"strategy":"None"}'},
}
PATCH = {"merge": "merge", "retainKeys": "retain", "merge,retainKeys": "mergeRetain"}


class GoTypes:
    """The Go types of one package, as far as their names matter."""

    def __init__(self, folder):
        text = "".join(path.read_text() for path in sorted(folder.glob("types*.go")))
        self.structs = {}
        for match in re.finditer(r"^type (\w+) struct \{\n(.*?)^\}", text, re.S | re.M):
            self.structs[match[1]] = self.read_struct(match[2])
        self.names = dict(re.findall(r"^type (\w+) (string|int|int32|int64|bool|\[\]\w+|map\[[^\n]+)$", text, re.M))

    @staticmethod
    def read_struct(body):
        fields, embedded = {}, []
        for line in body.splitlines():
            if field := re.match(r'\s+(\w+)\s+([^\s`]+)\s+`.*?json:"([^",]+)', line):
                fields[field[3]] = field[2].lstrip("*")
            elif inline := re.match(r'\s+([\w.]+)\s+`json:",inline"', line):
                embedded.append(inline[1].split(".")[-1])
        return fields, embedded

    def of_field(self, struct, field):
        """The Go type of a field, "" where it is not of this package."""
        fields, embedded = self.structs.get(struct, ({}, []))
        if field in fields:
            return fields[field]
        return next((found for inner in embedded if (found := self.of_field(inner, field))), "")

    def element(self, name):
        """What a list or map of that type has inside; "" for anything else."""
        name = self.names.get(name, name).lstrip("*")
        match = re.match(r"(?:\[\]|map\[[^\]]+\])(.*)", name)
        return match[1].lstrip("*") if match else ""

    def scalar(self, name):
        """`<v1.RestartPolicy>` for a named scalar, "" for a plain one."""
        if "." in name:
            package, name = name.split(".")
            return f"<{'v1' if package.endswith('v1') else package}.{name}>"
        return f"<v1.{name}>" if name in self.names else ""


class Extractor:
    def __init__(self, tree):
        self.schemas = {}
        for path in sorted((tree / "api/openapi-spec/v3").glob("api*__v1_openapi.json")):
            self.schemas.update(json.loads(path.read_text())["components"]["schemas"])
        staging = tree / "staging/src/k8s.io"
        self.go = {package: GoTypes(staging / row[2]) for package, row in PACKAGES.items()}
        self.queue = [f"{package}.{kind}" for package, row in PACKAGES.items() for kind in row[3].split()] + ALSO
        self.seen = set(self.queue)

    def reference(self, package, full):
        if full in SCALARS:
            return SCALARS[full]
        if full not in self.seen:
            self.seen.add(full)
            self.queue.append(full)
        owner, name = full.rsplit(".", 1)
        return name if owner == package else f"{PACKAGES[owner][0]}.{name}"

    def expression(self, package, schema, go_type):
        if "$ref" in schema or "allOf" in schema:
            target = schema.get("$ref") or schema["allOf"][0]["$ref"]
            return self.reference(package, target.rsplit("/", 1)[1])
        go = self.go[package]
        kind = schema.get("type")
        if kind == "array":
            return "[]" + self.expression(package, schema["items"], go.element(go_type))
        if kind == "object" and "additionalProperties" in schema:
            return "{}" + self.expression(package, schema["additionalProperties"], go.element(go_type))
        if kind == "string":
            return "bytes" if schema.get("format") == "byte" else "string" + go.scalar(go_type)
        if kind == "integer":
            return schema.get("format", "int32") + go.scalar(go_type)
        return {"number": "number", "boolean": "bool"}.get(kind, "any")

    def attributes(self, package, schema, go_type, default):
        words = []
        if schema.get("type") in ("array", "object") and go_type in self.go[package].names:
            words.append(f"go=v1.{go_type}")
        if default:
            words.append(default)
        elif schema.get("default") and schema.get("type") not in ("array", "object"):
            words.append("default=" + json.dumps(schema["default"], separators=(",", ":")))
        list_type = schema.get("x-kubernetes-list-type")
        if list_type == "map":
            words.append("map=" + ",".join(schema["x-kubernetes-list-map-keys"]))
        elif list_type:
            words.append(list_type)
        if strategy := PATCH.get(schema.get("x-kubernetes-patch-strategy")):
            key = schema.get("x-kubernetes-patch-merge-key")
            words.append(f"{strategy}={key}" if key else strategy)
        if schema.get("x-kubernetes-map-type") == "atomic":
            words.append("atomic")
        return words

    def type_lines(self, full):
        package, name = full.rsplit(".", 1)
        short, _, _, kinds = PACKAGES[package]
        schema = self.schemas[full]
        head = f"type {name}" + (" kind" if name in kinds.split() else "")
        yield head + (" atomic" if schema.get("x-kubernetes-map-type") == "atomic" else "")
        for field, inner in sorted(schema.get("properties", {}).items()):
            go_type = self.go[package].of_field(name, field)
            expression = self.expression(package, inner, go_type)
            if name == "JSONSchemaProps":  # a type inside itself
                expression = expression.replace(name, "any")
            default = DEFAULTS.get(f"{short}.{name}", {}).get(field)
            required = "!" if field in schema.get("required", []) else ""
            yield " ".join([f"  {field}{required}", expression, *self.attributes(package, inner, go_type, default)])

    def run(self):
        types = {package: {} for package in PACKAGES}
        while self.queue:
            full = self.queue.pop(0)
            package, name = full.rsplit(".", 1)
            types[package][name] = "\n".join(self.type_lines(full)) + "\n"
        for package, (short, group, _, _) in PACKAGES.items():
            text = f"package {package} {short} {group}/v1\n"
            text += "".join("\n" + types[package][name] for name in sorted(types[package]))
            (ROOT / f"src/schema/types/{short}.types").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Extractor(pathlib.Path(sys.argv[1])).run()
