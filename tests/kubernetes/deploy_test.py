#!/usr/bin/env python3
"""deploy/ without a cluster: its files agree with each other, with the program, and with what the program shows."""
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml  # Debian: python3-yaml

from api_server import ApiServer, Kubectl, Up, new_kubectl
from control_plane import ROOT, Daemon, free_ports, programs_folder
from strata_run import STRATA, wait_until

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "chart"
HELM = programs_folder() / "helm"
COMMANDS = ("scheduler", "controllers")
# Webhooks that are off unless somebody wants them, and which kinds each of all looks at.
OPTIONAL = {"gpus-mutate", "podgroups-mutate", "pods-mutate", "pods-validate"}
LOOKS_AT = {"gpus-mutate": set(), "hypernodes-validate": set(), "jobs-mutate": {"queues"}, "jobs-validate": {"queues"}, "podgroups-mutate": {"namespaces"},
            "podgroups-validate": {"queues"}, "pods-mutate": set(), "pods-validate": set(), "queues-mutate": {"queues"},
            "queues-validate": {"podgroups", "queues"}}
AGENT = os.environ.get("STRATA_AGENT", "")
METRIC = re.compile(r"\b(?:volcano|strata)_[a-z0-9_]+")
PART_OF_HISTOGRAM = re.compile(r"_(?:bucket|sum|count)$")


def objects_of(text):
    """{(kind, namespace, name): object}."""
    found = [item for item in yaml.safe_load_all(text) if item]
    return {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): item for item in found}


def without_crds(objects):
    return {key: item for key, item in objects.items() if key[0] != "CustomResourceDefinition"}


def kustomize(folder):
    with tempfile.TemporaryDirectory() as home:
        return objects_of(Kubectl(new_kubectl(), "/dev/null", home)("kustomize", str(folder)))


def base():
    """What the kustomization makes."""
    return kustomize(DEPLOY)


def rights(rules):
    """{(resource, verb): names}; names are () where the rule has none."""
    return {(resource, verb): tuple(rule.get("resourceNames", ())) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}


class Files(unittest.TestCase):
    def test_the_base_has_every_file(self):
        listed = set(yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["resources"])
        there = {str(path.relative_to(DEPLOY)) for folder in ("crds", "chart/rbac", "chart/webhooks", "workloads")
                 for path in (DEPLOY / folder).iterdir()}
        optional = {"chart/rbac/agent.yaml", "chart/rbac/page.yaml", "chart/rbac/virtual-nodes.yaml"} | {f"chart/webhooks/{name}.yaml" for name in OPTIONAL}
        self.assertEqual(listed - {"namespace.yaml"}, there - optional)

    def test_beside_volcano_is_the_base_without_what_volcano_brought(self):
        theirs = {"ConfigMap", "CustomResourceDefinition", "Namespace"}
        self.assertEqual(kustomize(ROOT / "examples" / "beside-volcano"), {key: item for key, item in base().items() if key[0] not in theirs})

    def test_no_name_is_one_of_volcanos_but_those_that_both_read(self):
        ours = {(kind, name) for kind, _, name in base() if kind != "CustomResourceDefinition" and "volcano" in name}
        self.assertEqual(ours, {("Namespace", "volcano-system"), ("ConfigMap", "volcano-scheduler-configmap"),
                                ("ConfigMap", "volcano-controller-configmap")})

    def test_the_base_is_whole(self):
        objects = base()
        kinds = [kind for kind, _, _ in objects]
        self.assertEqual(kinds.count("CustomResourceDefinition"), len(list((DEPLOY / "crds").iterdir())))
        for (kind, space, name), item in objects.items():
            if kind != "Deployment":
                continue
            pod = item["spec"]["template"]["spec"]
            self.assertIn(("ServiceAccount", space, pod["serviceAccountName"]), objects)
            self.assertTrue(any(kind == "Service" and other["spec"]["selector"].items() <= item["spec"]["template"]["metadata"]["labels"].items()
                                for (kind, _, _), other in objects.items()), name)
        for (kind, space, _), item in objects.items():
            if kind in ("ClusterRoleBinding", "RoleBinding"):
                role = item["roleRef"]
                self.assertIn((role["kind"], space, role["name"]), objects)

    def test_every_flag_of_a_workload_is_one_of_the_program(self):
        for item in base().values():
            if item["kind"] != "Deployment":
                continue
            command, *flags = item["spec"]["template"]["spec"]["containers"][0]["args"]
            told = subprocess.run([STRATA, command, "--help"], check=True, capture_output=True, text=True).stdout
            for flag in flags:
                self.assertRegex(told, rf"(?m)^\s+(\S+,)*{re.escape(flag.split('=')[0])}[, ]", flag)

    def test_webhooks_have_the_time_that_they_take_to_end(self):
        told = subprocess.run([STRATA, "webhooks", "--help"], check=True, capture_output=True, text=True).stdout
        takes = [int(re.search(rf"(?s){flag} .*?default: (\d+)s", told)[1]) for flag in ("--shutdown-delay-duration", "--graceful-shutdown-time")]
        given = base()[("Deployment", "volcano-system", "strata-webhooks")]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        self.assertGreater(given, sum(takes))

    def test_a_node_that_goes_takes_not_all_webhooks_with_it(self):
        objects = base()
        spec = objects[("Deployment", "volcano-system", "strata-webhooks")]["spec"]
        budget = objects[("PodDisruptionBudget", "volcano-system", "strata-webhooks")]["spec"]
        self.assertGreater(spec["replicas"], budget["maxUnavailable"])
        spread = spec["template"]["spec"]["topologySpreadConstraints"][0]
        self.assertEqual(spread["topologyKey"], "kubernetes.io/hostname")
        for selector in (budget["selector"], spread["labelSelector"]):
            self.assertEqual(selector["matchLabels"].items() - spec["template"]["metadata"]["labels"].items(), set())

    def test_every_workload_says_what_it_needs_and_who_may_connect(self):
        objects = base()
        workloads = {name: item["spec"]["template"] for (kind, _, name), item in objects.items() if kind == "Deployment"}
        self.assertEqual(len(workloads), 3)
        for name, template in workloads.items():
            container = template["spec"]["containers"][0]
            self.assertEqual(set(container["resources"]["requests"]), {"cpu", "memory"}, name)
            policy = objects[("NetworkPolicy", "volcano-system", name)]["spec"]
            self.assertEqual(policy["podSelector"]["matchLabels"].items() - template["metadata"]["labels"].items(), set())
            self.assertEqual({port["port"] for rule in policy["ingress"] for port in rule["ports"]}, {port["name"] for port in container["ports"]})

    def test_the_scheduler_has_a_folder_for_its_dumps(self):
        pod = base()[("Deployment", "volcano-system", "strata-scheduler")]["spec"]["template"]["spec"]
        told = subprocess.run([STRATA, "scheduler", "--help"], check=True, capture_output=True, text=True).stdout
        folder = re.search(r"(?s)--cache-dump-dir .*?default: (\S+)", told)[1]
        mount = pod["containers"][0]["volumeMounts"][0]
        self.assertEqual(mount["mountPath"], folder)
        self.assertEqual(pod["volumes"], [{"name": mount["name"], "emptyDir": {"sizeLimit": "1Gi"}}])

    def test_every_flag_of_a_service_is_one_of_the_program(self):
        for command in COMMANDS:
            text = (DEPLOY / "systemd" / f"strata-{command}.default").read_text()
            flags = re.search(r'STRATA_ARGUMENTS="(.*)"', text)[1].split()
            done = subprocess.run([STRATA, command, "--kubeconfig", "/nonexistent", *flags], capture_output=True, text=True,
                                  timeout=20, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)  # 2 is bad usage
            unit = (DEPLOY / "systemd" / f"strata-{command}.service").read_text()
            self.assertIn(f"/usr/bin/strata {command} ", unit)

    def test_the_configuration_is_what_up_has(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Up(folder)
            self.addCleanup(server.end)
            for name in ("scheduler", "controller"):
                key = f"volcano-{name}.conf"
                _, found = server.json("GET", f"/api/v1/namespaces/volcano-system/configmaps/volcano-{name}-configmap")
                self.assertEqual((CHART / "config" / key).read_text(), found["data"][key])
            server.stop()


class Monitoring(unittest.TestCase):
    """Every metric that a rule or a panel asks for is one that is shown, and every one that is shown is asked for."""

    @staticmethod
    def asked_for():
        rules = yaml.safe_load((DEPLOY / "monitoring" / "rules.yaml").read_text())
        panels = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text())["panels"]
        queries = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
        queries += [target["expr"] for panel in panels for target in panel["targets"]]
        return {name for query in queries for name in METRIC.findall(query)}

    @staticmethod
    def page(port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        except OSError:
            return ""
        finally:
            connection.close()

    def start(self, folder, server, command, *flags):
        part = Daemon(folder, command, [STRATA, command, "--kubeconfig", server.kubeconfig, *flags])
        part.start()
        self.addCleanup(part.kill)

    def make_jobs(self, server):
        """One that runs and one that waits: some families are shown only then."""
        for name, gpus in (("runs", 1), ("waits", 1000)):
            container = {"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
            spec = {"minAvailable": 1, "schedulerName": "volcano", "queue": "default",
                    "tasks": [{"name": "worker", "replicas": 1, "template": {"spec": {"containers": [container]}}}]}
            code, answer = server.json("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", {
                "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": spec})
            self.assertEqual(code, 201, answer)

    def test_queries_ask_for_what_is_shown_and_for_all_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            server = ApiServer(folder)
            self.addCleanup(server.end)
            self.start(folder, server, "virtual-nodes", "--generate", "spines=1,racks=1,nodes=1,gpus=4:dgx1v")
            ports = dict(zip((*COMMANDS, "page"), free_ports(len(COMMANDS) + 1)))
            for command, port in ports.items():
                if command == "page":
                    self.start(folder, server, command, "--enable-metrics", f"--listen-address=127.0.0.1:{port}")
                    continue
                self.start(folder, server, command, "--enable-metrics", f"--listen-address=127.0.0.1:{port}", "--leader-elect=false")
            self.make_jobs(server)
            try:
                wait_until(lambda: not self.missing(self.shown(ports)), 60, "every metric on a page")
            except AssertionError:
                self.fail(f"no page has {self.missing(self.shown(ports))}")
            asked = {form for name in self.asked_for() for form in (name, PART_OF_HISTOGRAM.sub("", name))}
            self.assertEqual({name for name in self.shown(ports) if METRIC.fullmatch(name)} - asked, set(), "shown, and nobody asks for it")

    def missing(self, shown):
        """What is asked for and not shown."""
        return {name for name in self.asked_for() if not {name, PART_OF_HISTOGRAM.sub("", name)} & shown}

    def shown(self, ports):
        return {name for port in ports.values() for name in re.findall(r"(?m)^# TYPE (\S+)", self.page(port))}


@unittest.skipUnless(HELM.exists(), "no helm: tools/build-control-plane.sh helm")
class Chart(unittest.TestCase):
    def helm(self, *arguments, code=0):
        done = subprocess.run([HELM, *arguments, "--namespace", "volcano-system"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def render(self, *arguments):
        return objects_of(self.helm("template", "strata", str(CHART), *arguments))

    def test_lint_finds_nothing(self):
        self.assertIn("0 chart(s) failed", self.helm("lint", "--strict", str(CHART)))

    def test_the_chart_and_the_base_make_the_same_objects(self):
        made, wanted = self.render(), without_crds(base())
        del wanted[("Namespace", "", "volcano-system")]
        self.assertEqual(sorted(made), sorted(wanted))
        for key, item in wanted.items():
            with self.subTest(key):
                self.assertEqual(made[key], item)

    def test_the_definitions_are_in_it(self):
        made = objects_of(self.helm("template", "strata", str(CHART), "--include-crds"))
        wanted = objects_of("\n---\n".join(path.read_text() for path in (DEPLOY / "crds").iterdir()))
        self.assertEqual({key: item for key, item in made.items() if key[0] == "CustomResourceDefinition"}, wanted)

    def test_values_reach_the_objects(self):
        made = self.render("--set", "custom.scheduler_name=tide", "--set", "custom.scheduler_replicas=2",
                           "--set", "custom.scheduler_schedule_period=200ms", "--set", "custom.controller_enable=false",
                           "--set", "custom.default_ns.role=control", "--set", "basic.image_registry=example.com:5000",
                           "--set", "custom.scheduler_resources.limits.cpu=2",
                           "--set-string", "custom.scheduler_config_override=actions: enqueue")
        self.assertNotIn(("Deployment", "volcano-system", "strata-controllers"), made)
        deployment = made[("Deployment", "volcano-system", "strata-scheduler")]["spec"]
        pod = deployment["template"]["spec"]
        container = pod["containers"][0]
        self.assertEqual((deployment["replicas"], pod["nodeSelector"]), (2, {"role": "control"}))
        self.assertTrue(container["image"].startswith("example.com:5000/strata/strata:"))
        self.assertIn("--scheduler-name=tide", container["args"])
        self.assertIn("--schedule-period=200ms", container["args"])
        self.assertEqual(container["resources"]["limits"], {"cpu": 2})
        conf = made[("ConfigMap", "volcano-system", "volcano-scheduler-configmap")]
        self.assertEqual(conf["data"]["volcano-scheduler.conf"], "actions: enqueue\n")

    def test_without_the_plugin_ssh_the_controllers_read_secrets_of_their_own_namespace_alone(self):
        secrets = lambda made: {(kind, verb) for (kind, _, name), item in made.items() if kind.endswith("Role") and name.startswith("strata-controllers")
                                for resource, verb in rights(item["rules"]) if resource == "secrets"}  # pylint: disable=unnecessary-lambda-assignment
        own = {("Role", "get")}
        self.assertEqual(secrets(self.render("--set", "custom.controller_ssh_enable=false")), own)
        self.assertEqual(secrets(self.render()), own | {("ClusterRole", verb) for verb in ("get", "create", "patch")})

    def test_discovery_may_use_what_the_values_list(self):
        args = lambda made: made[("Deployment", "volcano-system", "strata-controllers")]["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertEqual([word for word in args(self.render()) if "discovery" in word], [])
        made = self.render("--set", "custom.controller_discovery_allow={/usr/sbin/ibnetdiscover,/var/lib/lldp/}")
        self.assertEqual([word for word in args(made) if "discovery" in word],
                         ["--discovery-allow=/usr/sbin/ibnetdiscover", "--discovery-allow=/var/lib/lldp/"])

    def test_service_monitors_are_made_where_values_ask_for_them(self):
        monitors = lambda made: {name: item for (kind, _, name), item in made.items() if kind == "ServiceMonitor"}  # pylint: disable=unnecessary-lambda-assignment
        self.assertEqual(monitors(self.render()), {})
        made = self.render("--set", "custom.service_monitor_enable=true", "--set", "custom.service_monitor_labels.release=prometheus",
                           "--set", "custom.service_monitor_interval=15s")
        self.assertEqual(set(monitors(made)), {"strata-controllers", "strata-scheduler"})
        for name, item in monitors(made).items():
            service = made[("Service", "volcano-system", f"{name}-service")]
            spec = item["spec"]
            self.assertEqual(item["metadata"]["labels"], {"app": name, "release": "prometheus"})
            self.assertEqual(spec["selector"]["matchLabels"].items() - service["metadata"]["labels"].items(), set())
            self.assertEqual(spec["endpoints"], [{"port": service["spec"]["ports"][0]["name"], "interval": "15s"}])
            self.assertIn(spec["jobLabel"], service["metadata"]["labels"])
        self.assertEqual(set(monitors(self.render("--set", "custom.service_monitor_enable=true", "--set", "custom.scheduler_metrics_enable=false"))),
                         {"strata-controllers"})

    def test_the_lease_of_the_role_is_that_of_the_scheduler(self):
        for value, lease in (("tide", "tide"), ("{tide}", "tide"), ("{tide,volcano}", "volcano")):
            with self.subTest(value):
                role = self.render("--set", f"custom.scheduler_name={value}")[("Role", "volcano-system", "strata-scheduler")]
                self.assertEqual(rights(role["rules"])[("leases", "update")], (lease,))

    def test_a_webhook_has_its_configuration_and_its_rights_and_no_others(self):
        wanted = [{name} for name in LOOKS_AT] + [set(LOOKS_AT) - {name} for name in LOOKS_AT]
        for names in wanted:
            with self.subTest(names):
                paths = r"\,".join("/" + name.replace("-", "/") for name in names)
                made = self.render("--set", f"custom.enabled_admissions={paths}")
                configurations = {name.removeprefix("strata-admission-service-") for kind, _, name in made if kind.endswith("WebhookConfiguration")}
                self.assertEqual(configurations, names)
                found = rights(made[("ClusterRole", "", "strata-webhooks")]["rules"])
                self.assertEqual({resource for resource, verb in found if verb == "list"}, set().union(*(LOOKS_AT[name] for name in names)))
                self.assertEqual({name.removeprefix("strata-admission-service-") for (_, verb), of in found.items() if verb == "patch" for name in of},
                                 names)
                self.assertNotIn((), [of for (_, verb), of in found.items() if verb == "patch"], "every configuration there is")

    def test_a_webhook_of_pods_is_not_asked_about_those_of_other_schedulers(self):
        made = self.render("--set", r"custom.enabled_admissions=/pods/validate\,/gpus/mutate", "--set", "custom.scheduler_name={tide,ebb}")
        for kind, name in (("Validating", "pods-validate"), ("Mutating", "gpus-mutate")):
            hook = made[(f"{kind}WebhookConfiguration", "", f"strata-admission-service-{name}")]["webhooks"][0]
            self.assertIn('object.spec.schedulerName in ["tide","ebb"]', hook["matchConditions"][0]["expression"])

    def test_without_webhooks_there_is_nothing_that_asks_for_them(self):
        made = self.render("--set", "custom.admission_enable=false")
        self.assertEqual([key for key in made if key[0].endswith("WebhookConfiguration")], [])

    def test_paths_of_volcanos_values_that_mean_nothing_here_are_let_through(self):
        made = self.render("--set", r"custom.enabled_admissions=/jobs/mutate\,/cronjobs/validate")
        self.assertEqual([name for kind, _, name in made if kind.endswith("WebhookConfiguration")], ["strata-admission-service-jobs-mutate"])

    def test_resource_groups_reach_the_webhooks(self):
        made = self.render("--set-string", "custom.admission_config_override=resourceGroups: []")
        conf = made[("ConfigMap", "volcano-system", "strata-admission-configmap")]["data"]
        self.assertEqual(conf, {"volcano-admission.conf": "resourceGroups: []\n"})
        pod = made[("Deployment", "volcano-system", "strata-webhooks")]["spec"]["template"]["spec"]
        container = pod["containers"][0]
        self.assertEqual(pod["volumes"], [{"name": "configuration", "configMap": {"name": "strata-admission-configmap"}}])
        self.assertIn(f"--admission-conf={container['volumeMounts'][0]['mountPath']}/volcano-admission.conf", container["args"])

    # --- the node agent

    def render_agent(self, *settings, version="1.37.0"):
        """(its DaemonSet's pod, its container, all objects)."""
        arguments = [word for setting in ("custom.agent_enable=true", *settings) for word in ("--set", setting)]
        made = self.render("--kube-version", version, *arguments)
        pod = made[("DaemonSet", "volcano-system", "strata-agent")]["spec"]["template"]["spec"]
        return pod, pod["containers"][0], made

    @staticmethod
    def folders(pod):
        """{path on the machine: (path in the container, whether it can be written)}."""
        mounts = {mount["name"]: (mount["mountPath"], not mount.get("readOnly", False)) for mount in pod["containers"][0]["volumeMounts"]}
        return {volume["hostPath"]["path"]: mounts[volume["name"]] for volume in pod["volumes"]}

    def test_there_is_no_agent_unless_it_is_wanted(self):
        self.assertEqual([key for key in self.render() if "agent" in key[2]], [])

    def test_the_agent_has_no_more_of_its_machine_than_it_needs(self):
        pod, container, _ = self.render_agent()
        self.assertEqual({"hostPID", "hostNetwork", "hostIPC"} & set(pod), set())
        self.assertEqual(container["securityContext"], {
            "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "privileged": False, "readOnlyRootFilesystem": True,
            "runAsGroup": 0, "runAsNonRoot": False, "runAsUser": 0})
        self.assertEqual(pod["securityContext"], {"seccompProfile": {"type": "RuntimeDefault"}})
        kubelet = "/var/lib/kubelet"
        self.assertEqual(self.folders(pod), {
            "/sys": ("/host/sys", False), "/var/lib/strata-agent": ("/var/lib/strata-agent", True), "/etc/cdi": ("/etc/cdi", False),
            "/var/run/cdi": ("/var/run/cdi", False), f"{kubelet}/device-plugins": (f"{kubelet}/device-plugins", True),
            f"{kubelet}/pod-resources": (f"{kubelet}/pod-resources", False), f"{kubelet}/pods-api": (f"{kubelet}/pods-api", False)})
        pod, container, _ = self.render_agent("custom.agent_publish_only=true")
        self.assertEqual(set(self.folders(pod)), {"/sys", "/var/lib/strata-agent"})
        self.assertIn("--publish-only", container["args"])
        pod, _, _ = self.render_agent("custom.agent_hook_path=/usr/local")
        self.assertEqual(self.folders(pod)["/usr/local/vgpu"], ("/usr/local/vgpu", True))
        self.assertEqual(self.folders(pod)["/tmp/vgpulock"], ("/tmp/vgpulock", True))

    def test_the_agent_runs_where_gpus_are_and_gives_way_to_the_next_one(self):
        pod, _, made = self.render_agent()
        self.assertEqual(pod["nodeSelector"], {"strata.sh/gpu-agent": "true"})
        self.assertEqual(pod["tolerations"], [{"key": "nvidia.com/gpu", "operator": "Exists"}])
        self.assertEqual(pod["priorityClassName"], "system-node-critical")
        update = made[("DaemonSet", "volcano-system", "strata-agent")]["spec"]["updateStrategy"]
        self.assertEqual(update, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}})

    def test_the_rights_of_the_agent_follow_what_it_asks(self):
        always = {("nodes", "get"), ("nodes", "patch"), ("events", "create"), ("events", "patch")}
        plugin = {("pods", "patch"), ("resourceslices", "list")}
        for version, settings, more in (
                ("1.37.0", [], plugin),
                ("1.36.2", [], plugin | {("pods", "list")}),
                ("1.36.2", ["custom.agent_identity=pods"], plugin | {("nodes/pods", "get")}),
                ("1.37.0", ["custom.agent_identity=lock"], plugin | {("pods", "list")}),
                ("1.36.2", ["custom.agent_publish_only=true"], set())):
            with self.subTest(version=version, settings=settings):
                _, container, made = self.render_agent(*settings, version=version)
                self.assertEqual(set(rights(made[("ClusterRole", "", "strata-agent")]["rules"])), always | more)
                self.assertEqual(any(flag.startswith("--kubelet=") for flag in container["args"]), ("nodes/pods", "get") in more)
        with_lock = self.render_agent(version="1.36.2")[2]
        for key, item in objects_of((CHART / "rbac" / "agent.yaml").read_text()).items():
            with self.subTest(key):
                self.assertEqual(with_lock[key], item)

    def test_the_agent_needs_a_server_with_policies(self):
        told = self.helm("template", "strata", str(CHART), "--kube-version", "1.29.0", "--set", "custom.agent_enable=true", code=1)
        self.assertIn("needs Kubernetes 1.30", told)

    @unittest.skipUnless(AGENT, "no strata-agent")
    def test_every_flag_of_the_agent_is_one_of_the_program(self):
        _, container, _ = self.render_agent("custom.agent_identity=pods", "custom.agent_hook_path=/usr/local", "custom.agent_publish_only=false",
                                            "custom.agent_arguments={--cdi,--numa}")
        command, *flags = container["args"]
        told = subprocess.run([AGENT, command, "--help"], check=True, capture_output=True, text=True).stdout
        for flag in flags:
            self.assertRegex(told, rf"(?m)^\s+(\S+,)*{re.escape(flag.split('=')[0])}[, ]", flag)

    def test_what_is_not_meant_is_refused(self):
        for wrong in ("custom.agent_identity=guess", "custom.agent_hook_path=usr/local", "custom.agent_max_unavailable=0", "custom.agent_arguments={cdi}",
                      "custom.scheduler_replica=2", "custom.scheduler_replicas=many", "custom.scheduler_schedule_period=soon",
                      "custom.enabled_admissions=/jobs/mutat", "custom.enabled_admissions=/nodes/validate"):
            self.assertIn("schema", self.helm("template", "strata", str(CHART), "--set", wrong, code=1))

    def test_another_namespace_is_refused(self):
        done = subprocess.run([HELM, "template", "strata", CHART, "--namespace", "default"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("volcano-system", done.stderr)


class Image(unittest.TestCase):
    def test_the_program_is_configured_without_what_only_tests_need(self):
        step = re.search(r"cmake --preset release (-D\S+ )*", (DEPLOY / "Dockerfile").read_text())[0].split()
        missing = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("GTest", "benchmark", "rapidcheck")]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([*step, *missing, "-B", folder], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Package(unittest.TestCase):
    PROGRAMS = {"/usr/bin/strata", "/usr/bin/strata-agent", "/usr/bin/kubectl-strata"}
    UNITS = {f"/usr/lib/systemd/system/strata-{command}.service" for command in COMMANDS}
    CONFIGURATION = {f"/etc/default/strata-{command}" for command in COMMANDS}
    TEXTS = {"/usr/share/man/man1/strata.1.gz", "/usr/share/bash-completion/completions/strata", "/usr/share/zsh/vendor-completions/_strata",
             "/usr/share/fish/vendor_completions.d/strata.fish", "/usr/share/doc/strata/copyright", "/usr/share/doc/strata/README.md",
             "/usr/share/doc/strata/CHANGELOG.md", "/usr/share/doc/strata/licences.txt"}

    def make(self, folder):
        """The package of the programs under test."""
        build = pathlib.Path(STRATA).resolve().parent
        if build != ROOT / "build" or not (build / "stripped").is_dir():
            self.skipTest("not what users get: make package")
        if not all(shutil.which(program) for program in ("cpack", "dpkg-deb", "dpkg-shlibdeps")):
            self.skipTest("no cpack or no dpkg-dev: tools/install-packages.sh package")
        done = subprocess.run(["cpack", "--config", build / "CPackConfig.cmake", "-B", folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return next(pathlib.Path(folder).glob("strata_*.deb")), next(pathlib.Path(folder).glob("strata-dbgsym_*.deb"))

    @staticmethod
    def dpkg(*arguments):
        return subprocess.run(["dpkg-deb", *arguments], check=True, capture_output=True, text=True).stdout

    def test_has_programs_manual_completion_units_and_nothing_unknown(self):
        with tempfile.TemporaryDirectory() as folder:
            package, debug = self.make(folder)
            rows = [line.split() for line in self.dpkg("--contents", package).splitlines()]
            files = {row[5].removeprefix("."): row for row in rows if not row[0].startswith("d")}
            folders = [DEPLOY / "crds", DEPLOY / "monitoring", *(CHART / part for part in ("config", "rbac", "webhooks"))]
            shared = {f"/usr/share/strata/{folder.name}/{path.name}" for folder in folders for path in folder.iterdir()}
            self.assertEqual(set(files), self.PROGRAMS | self.UNITS | self.CONFIGURATION | self.TEXTS | shared)
            self.assertEqual({row[1] for row in rows}, {"root/root"})
            for name, row in files.items():
                self.assertEqual(row[0], "-rwxr-xr-x" if name in self.PROGRAMS else "-rw-r--r--", name)
            self.assertEqual(set(self.dpkg("--info", package, "conffiles").split()), self.CONFIGURATION)
            self.assertRegex(self.dpkg("--field", package, "Depends"), r"\blibc6\b")
            self.check_installed(package, pathlib.Path(folder) / "root")
            self.check_debug_information(debug, pathlib.Path(folder) / "root")

    def check_installed(self, package, root):
        """What lies below `root` works, and units start what is there."""
        self.dpkg("--extract", package, root)
        told = subprocess.run([root / "usr/bin/strata", "--version"], check=True, capture_output=True, text=True).stdout
        self.assertIn(self.dpkg("--field", package, "Version").strip(), told)
        self.assertIn(b".TH", gzip.decompress((root / "usr/share/man/man1/strata.1.gz").read_bytes()))
        subprocess.run(["bash", "-n", root / "usr/share/bash-completion/completions/strata"], check=True)
        for unit in self.UNITS:
            program = re.search(r"(?m)^ExecStart=(\S+)", (root / unit[1:]).read_text())[1]
            self.assertTrue((root / program[1:]).exists(), program)

    def check_debug_information(self, package, root):
        """Programs have none; it lies beside them, and only it is in its package. Builds without it (`make test`) keep names there."""
        compiled_with_it = "STRATA_DEBUG_INFO:BOOL=ON" in (ROOT / "build" / "CMakeCache.txt").read_text()
        self.dpkg("--extract", package, root)
        paths = {row.split()[5] for row in self.dpkg("--contents", package).splitlines() if not row.startswith("d")}
        self.assertEqual(paths, {"./usr/bin/.debug/strata.debug", "./usr/bin/.debug/strata-agent.debug"})
        for name in ("strata", "strata-agent"):
            program, beside = root / "usr/bin" / name, root / "usr/bin/.debug" / f"{name}.debug"
            self.assertNotIn(".debug_info", self.sections(program))
            self.assertIn(f"{name}.debug", self.sections(program, "--string-dump=.gnu_debuglink"))
            self.assertIn(".symtab", self.sections(beside))
            self.assertEqual(".debug_info" in self.sections(beside), compiled_with_it)

    @staticmethod
    def sections(program, *options):
        told = subprocess.run(["readelf", "--sections", "--wide", *options, program], check=True, capture_output=True).stdout
        return told.decode(errors="replace")  # a dumped section has a checksum behind its text

    def test_the_units_are_good(self):
        units = sorted(str(path) for path in (DEPLOY / "systemd").glob("*.service"))
        with tempfile.TemporaryDirectory() as folder:
            for unit in units:  # the program stands elsewhere here
                text = pathlib.Path(unit).read_text().replace("/usr/bin/strata", str(pathlib.Path(STRATA).resolve()))
                (pathlib.Path(folder) / pathlib.Path(unit).name).write_text(text.replace("Documentation=man:strata(1)\n", ""))
            try:
                done = subprocess.run(["systemd-analyze", "verify", *pathlib.Path(folder).iterdir()], capture_output=True, text=True,
                                      check=False)
            except FileNotFoundError:
                self.skipTest("no systemd-analyze")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
