#!/usr/bin/env python3
"""preempt and reclaim end to end, with pods that take their time to stop: ten seconds on a real control plane, two on our own. Budgets that refuse; and
who is evicted in vain is counted."""
import unittest

from evictions import CONF, JOBS, EvictionCluster, condition_of, evicted, is_going, wrong_binds

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


class Judged(EvictionCluster):
    def tearDown(self):
        self.assertEqual(wrong_binds(self.watch.happenings), [])

    def expect_nobody_in_vain(self):
        self.assertEqual(self.in_vain(), 0)


class Eviction(Judged):
    def test_preempt_waits_for_pods_that_take_their_time(self):
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_job("high", 2, 2, "high")
        self.until(lambda: len(evicted(self.watch.happenings)) == 4, "the whole gang goes")
        waiting = self.pods_of("high")
        self.assertEqual(len([pod for pod in waiting if pod["status"].get("nominatedNodeName")]), 2, waiting)
        for pod in evicted(self.watch.happenings).values():
            self.assertEqual(condition_of(pod, "DisruptionTarget")["reason"], "PreemptionByScheduler")
        state = lambda: self.get(f"{JOBS}/low")["status"]["state"]  # pylint: disable=unnecessary-lambda-assignment
        self.until(lambda: "because of preempt: default/high" in state().get("message", ""), "the job says who evicts it")
        self.until(lambda: len(self.running("high")) == 2, "the claimant runs")
        self.until(lambda: (state()["phase"], state().get("reason")) == ("Pending", "PodEvicted"), "the job waits")
        self.assertTrue(any("Pod is evicted, because of preempt: default/high" in text for text in self.messages("Evict")))
        self.assertTrue(any("; waits up to 30s" in text for text in self.messages("Evicting")))
        self.expect_nobody_in_vain()

    def test_reclaim_takes_what_a_queue_has_too_much_of(self):
        for queue in ("one", "two"):
            self.make(QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": queue},
                               "spec": {"weight": 1, "reclaimable": True}})
        self.make_job("wide", 4, 1, "low", queue="one")
        self.run_for_long("wide", 4)
        self.make_job("poor", 2, 2, "low", queue="two")
        self.until(lambda: len(self.running("poor")) == 2, "the poor queue has its share")
        self.assertEqual(len(self.running("wide")), 2)
        self.assertEqual(len(evicted(self.watch.happenings)), 2)
        self.expect_nobody_in_vain()

    def test_who_goes_in_vain_is_counted(self):
        """The job is deleted while its victims stop."""
        self.let_pods_stop_in(25)
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_job("high", 4, 4, "high")
        self.until(lambda: len(evicted(self.watch.happenings)) == 4, "the whole gang goes")
        self.expect_nobody_in_vain()
        self.remove_job("high")
        self.until(lambda: self.in_vain() == 1, "it is counted")


class Budgets(Judged):
    """A queue without a limit: a job that may evict nobody is admitted all the same, and says why it waits."""
    configuration = "\n".join(line for line in CONF.splitlines() if "proportion" not in line)

    def make_budget(self, name, minimum):
        """For the pods of job low."""
        selector = {"matchLabels": {"volcano.sh/job-name": "low"}}
        self.make(BUDGETS, {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
                            "spec": {"minAvailable": minimum, "selector": selector}})
        self.until_allowed(name, 4 - minimum)

    def until_allowed(self, name, pods):
        def allows():
            status = self.get(f"{BUDGETS}/{name}").get("status", {})
            return (status.get("expectedPods"), status.get("disruptionsAllowed")) == (4, pods)
        self.until(allows, f"budget {name} allows {pods}")

    def until_high_says(self, words):
        self.until(lambda: words in condition_of(self.group_of("high"), "Unschedulable").get("message", ""), f"high says: {words}")

    def expect_nobody_went(self):
        self.assertEqual(len(self.running("low")), 4)
        pods = self.watch.objects
        self.assertEqual([pod["metadata"]["name"] for pod in pods if is_going(pod)], [])
        self.assertEqual([pod["metadata"]["name"] for pod in pods if condition_of(pod, "DisruptionTarget")], [])
        self.assertEqual([pod["metadata"]["name"] for pod in pods if pod["status"].get("nominatedNodeName")], [])

    def test_a_budget_keeps_pods_until_it_allows_more(self):
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_budget("keep", 4)
        self.make_job("high", 4, 4, "high")
        self.until_high_says("4 pods that a disruption budget protects")
        self.expect_nobody_went()
        code, answer = self.server.json("PATCH", f"{BUDGETS}/keep", {"spec": {"minAvailable": 0}}, {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(code, 200, answer)
        self.until(lambda: len(self.running("high")) == 4, "the claimant runs")
        self.expect_nobody_in_vain()

    def test_pods_go_if_their_budget_allows_it(self):
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_budget("allow", 0)
        self.make_job("high", 4, 4, "high")
        self.until(lambda: len(self.running("high")) == 4, "the claimant runs")
        reasons = [condition_of(pod, "DisruptionTarget")["reason"] for pod in evicted(self.watch.happenings).values()]
        self.assertEqual(reasons, 4 * ["EvictionByEvictionAPI"])
        self.expect_nobody_in_vain()

    def test_nobody_goes_when_the_api_server_refuses_one(self):
        """Two budgets for one pod: each of them would let it go, the API server does not."""
        self.make_job("low", 4, 4, "low")
        self.run_for_long("low", 4)
        self.make_budget("first", 0)
        self.make_budget("second", 0)
        self.make_job("high", 4, 4, "high")
        self.until_high_says("preempt: the budget of pod default/low-w-")
        self.expect_nobody_went()
        self.expect_nobody_in_vain()


if __name__ == "__main__":
    unittest.main()
