import { age, ageSince, amount, plural, resourceTitle, shortName, splitHelp } from "../../../web/src/formats";
import { parseShape } from "../../../web/src/fit";
import { linkMatrix } from "../../../web/src/node";
import { isOverused, treeOfQueues } from "../../../web/src/queues";
import type { Queue } from "../../../web/src/api";
import { same, test } from "./check";

test("writes ages as kubectl does", () => {
  same([0, 119, 120, 150, 600, 3 * 3600 + 60, 9 * 3600 + 60, 49 * 3600, 9 * 86400].map(age),
    ["0s", "119s", "2m", "2m30s", "10m", "3h1m", "9h", "2d1h", "9d"]);
  same(ageSince("", 0), "-");
});

test("writes amounts with the unit of the resource", () => {
  same([amount("memory", 1024), amount("memory", 1.5 * 2 ** 30), amount("cpu", 1.256), amount("nvidia.com/gpu", 40000)], ["1Ki", "1.5Gi", "1.26", "40,000"]);
  same([plural(1, "job"), plural(2000, "job"), resourceTitle("nvidia.com/gpu")], ["1 job", "2,000 jobs", "GPUs"]);
});

test("shortens names in the middle and drops marks that turn text around", () => {
  same(shortName("a".repeat(253), 10), "aaaaaa…aaa");
  same(shortName("x\u202ey", 10), "xy");
});

test("reads the shape of a pod", () => {
  same(parseShape(" cpu=8, nvidia.com/gpu=8,"), [["cpu", "8"], ["nvidia.com/gpu", "8"]]);
});

test("fills the matrix of links from both sides and passes over what it cannot read", () => {
  same(linkMatrix(3, ["0-1 NV18+SYS", "1-2 PIX", "nonsense", "7-8 NV1"]), [["", "NV18+SYS", ""], ["NV18+SYS", "", "PIX"], ["", "PIX", ""]]);
});

function queue(parent: string, deserved: number | null, allocated: number): Queue {
  return { state: "Open", parent, weight: 1, priority: 0, share: null, deserved: deserved === null ? null : { cpu: deserved }, allocated: { cpu: allocated },
    request: {}, guarantee: {}, capability: {}, realCapability: null, jobs: 0, waiting: {} };
}

test("shows queues as a tree, children by name with numbers as numbers", () => {
  const lines = treeOfQueues({ "q-10": queue("root", 1, 2), root: queue("", null, 1), "q-9": queue("root", 2, 1), lost: queue("gone", 1, 1) });
  same(lines.map((line) => [line.name, line.depth]), [["lost", 0], ["root", 0], ["q-9", 1], ["q-10", 1]]);
  same(lines.map((line) => isOverused(line.queue)), [false, false, false, true]);
});

test("splits a change that helps into words and the command", () => {
  same(splitHelp("start with 8 pods: spec.minAvailable 8: kubectl patch vcjob x -p '{\"a: kubectl b\":1}'"),
    ["start with 8 pods: spec.minAvailable 8", "kubectl patch vcjob x -p '{\"a: kubectl b\":1}'"]);
  same(splitHelp("allow tier 2"), ["allow tier 2", ""]);
});
