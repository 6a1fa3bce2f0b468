#!/usr/bin/env python3
"""Alerts fire when something is wrong, and not because a cluster is busy.

healthy.json is what a busy cluster showed (record.py made it). promtool plays it against deploy/monitoring/rules.yaml, once
as it is, and once for each fault, which is put into it after an hour. A fault must make its own alert fire and no other.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import yaml  # Debian: python3-yaml

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parents[1] / "deploy" / "monitoring" / "rules.yaml"
PROMTOOL = os.environ.get("STRATA_PROMTOOL") or shutil.which("promtool")
RECORDED = json.loads((HERE / "healthy.json").read_text())
SECONDS = RECORDED["run"]["seconds"]  # between two samples
HOUR = 3600 // SECONDS  # in samples
FAULT_AT = HOUR
END = 2 * HOUR
COUNTER = re.compile(r"_(?:total|bucket|count|sum)(?:\{|$)")
# Times are in seconds since 1970; promtool begins there.
TIME = "strata_discovery_last_success_seconds"
INSTANCES = {"scheduler": "10.0.0.1:8080", "controllers": "10.0.0.2:8081"}


def family(name):
    return name.split("{")[0]


def filled(values):
    """Without gaps: what was not there yet is what it began with, and what is gone stays as it was."""
    known = next(value for value in values if value is not None)
    found = []
    for value in values:
        known = known if value is None else value
        found.append(known)
    return found


def play(name, values):
    """The recording again and again until END. Counters go on from where they were."""
    values = filled(values)
    if family(name) == TIME:
        values = [value - RECORDED["run"]["begun"] for value in values]
    found = []
    while len(found) < END:
        ahead = 0.0
        if COUNTER.search(name) and not name.startswith("process_start"):
            ahead = found[-1] - values[0] if found else 0.0
        elif family(name) == TIME:
            ahead = len(found) * SECONDS
        found += [value + ahead for value in values]
    return found[:END]


def healthy():
    """{job: {series: values}}"""
    return {job: {name: play(name, values) for name, values in RECORDED[job].items()} for job in INSTANCES}


class Series(dict):
    """What a fault changes, from FAULT_AT on. Values are by series, as 'metric{labels}'."""

    def of(self, metric, **labels):
        """Names of the series of a metric with these labels."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        found = [name for name in self if family(name) == metric and all(label in name for label in wanted)]
        if not found:
            raise AssertionError(f"no {metric} {labels} was recorded")
        return found

    def stop(self):
        for name in list(self):
            self[name] = self[name][:FAULT_AT]

    def stay(self, name):
        """A counter that counts no more, a gauge that stays."""
        self[name] = self[name][:FAULT_AT] + [self[name][FAULT_AT - 1]] * (END - FAULT_AT)

    def put(self, name, value):
        self[name] = self[name][:FAULT_AT] + [value] * (END - FAULT_AT)

    def grow_like(self, name, other, share):
        """Counts `share` of what `other` counts."""
        base, begun = self[name][FAULT_AT - 1], self[other][FAULT_AT - 1]
        self[name] = self[name][:FAULT_AT] + [base + share * (value - begun) for value in self[other][FAULT_AT:]]


def scheduler_gone(parts):
    parts["scheduler"].stop()


def controllers_gone(parts):
    parts["controllers"].stop()


def binds_fail(parts):
    series = parts["scheduler"]
    good, = series.of("volcano_schedule_attempts_total", result="scheduled")
    bad, = series.of("volcano_schedule_attempts_total", result="error")
    series.grow_like(bad, good, 1.0)
    series.stay(good)


def cycles_slow(parts):
    series = parts["scheduler"]
    for name in series.of("volcano_e2e_scheduling_latency_milliseconds_bucket"):
        if 'le="+Inf"' not in name:
            series.stay(name)


def restarts(parts):
    series = parts["scheduler"]
    name, = series.of("process_start_time_seconds")
    ten_minutes = 600 // SECONDS
    series[name] = [value + (at - FAULT_AT) // ten_minutes * 600 if at >= FAULT_AT else value for at, value in enumerate(series[name])]


def evictions_in_vain(parts):
    series = parts["scheduler"]
    plans, = series.of("volcano_eviction_transactions_total")
    vain, = series.of("strata_eviction_in_vain_total")
    series.grow_like(vain, plans, 0.9)


def controllers_fail(parts):
    series = parts["controllers"]
    plans, = series.of("strata_controllers_plans_total", controller="job")
    failures, = series.of("strata_controllers_failures_total", controller="job")
    series.grow_like(failures, plans, 0.8)


def discovery_down(parts):
    series = parts["controllers"]
    for name in series.of("strata_discovery_source_up"):
        series.put(name, 0.0)
    for name in series.of(TIME):
        series.stay(name)


def discovery_old(parts):
    """The controllers believe that the source is well, and its last answer is a day old."""
    series = parts["controllers"]
    for name in series.of(TIME):
        series.put(name, 1.0)


FAULTS = {
    "StrataSchedulerAbsent": scheduler_gone,
    "StrataControllersAbsent": controllers_gone,
    "StrataBindsFail": binds_fail,
    "StrataCyclesSlow": cycles_slow,
    "StrataRestarts": restarts,
    "StrataEvictionsInVain": evictions_in_vain,
    "StrataControllersFail": controllers_fail,
    "StrataDiscoveryDown": discovery_down,
    "StrataDiscoveryOld": discovery_old,
}
# An answer that is a day old needs a clock that shows more than a day: there is nothing to see before that.
LATE = {"StrataDiscoveryOld": 25 * HOUR}


def number(value):
    return str(int(value)) if value == int(value) else repr(value)


def expression(values, after):
    """Values as promtool takes them: of equal neighbours one, and how often it comes again."""
    words = [f"_x{after}"] if after else []
    at = 0
    while at < len(values):
        again = at
        while again + 1 < len(values) and values[again + 1] == values[at]:
            again += 1
        words.append(number(values[at]) + (f"+0x{again - at}" if again > at else ""))
        at = again + 1
    return " ".join(words)


def labelled(name, job):
    metric, labels = name[:-1].split("{", 1)
    return f'{metric}{{{labels + "," if labels else ""}job="strata-{job}",instance="{INSTANCES[job]}"}}'


def input_series(parts, after):
    return [{"series": labelled(name, job), "values": expression(values, after)} for job, series in parts.items() for name, values in series.items()]


def firing(at, alerts):
    """What must be firing at a sample: exactly these."""
    return {"expr": 'group by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{at * SECONDS}s",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in alerts]}


def promtool(folder, parts, checks, after=0):
    """What promtool says; '' when everything is as it must be."""
    path = pathlib.Path(folder) / "test.yaml"
    path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [{
        "interval": f"{SECONDS}s", "input_series": input_series(parts, after), "promql_expr_test": checks}]}))
    done = subprocess.run([PROMTOOL, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def alert_names():
    return {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"] if "alert" in rule}


class Alerts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not PROMTOOL:
            raise AssertionError("promtool is missing: install or unpack Debian's package prometheus")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @staticmethod
    def parts():
        return {job: Series(series) for job, series in healthy().items()}

    def test_the_rules_are_well_formed(self):
        done = subprocess.run([PROMTOOL, "check", "rules", str(RULES)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_recording_is_of_a_busy_cluster(self):
        series = RECORDED["scheduler"]
        waiting = filled(series["volcano_unschedule_job_count{}"])
        self.assertGreater(sum(1 for count in waiting if count > 0), len(waiting) / 2, "jobs wait most of the time")
        bound = filled(series['volcano_schedule_attempts_total{result="scheduled"}'])
        self.assertGreater(bound[-1] - bound[0], 100, "pods are bound all the time")
        self.assertGreater(len(waiting) * SECONDS, 600)

    def test_a_busy_cluster_makes_no_alert_fire(self):
        checks = [firing(at, []) for at in range(0, END, HOUR // 12)]
        self.assertEqual(promtool(self.folder, self.parts(), checks), "")

    def test_there_is_a_fault_for_every_alert(self):
        self.assertEqual(set(FAULTS), alert_names())

    def test_every_fault_makes_its_own_alert_fire_and_no_other(self):
        for name, fault in FAULTS.items():
            with self.subTest(alert=name):
                parts, after = self.parts(), LATE.get(name, 0)
                fault(parts)
                checks = [firing(after + END - 1, [name])]
                if not after:
                    checks += [firing(at, []) for at in range(0, FAULT_AT, HOUR // 12)]
                self.assertEqual(promtool(self.folder, parts, checks, after), "")


if __name__ == "__main__":
    unittest.main()
