import type { Change, Cluster } from "../../../web/src/api";
import { countStates, findJob, fold, FREE, openPicture, totals, USED, waitingJobs, type Picture } from "../../../web/src/fold";
import { holds, random, same, test } from "./check";
import { exampleCluster } from "./example";

// What a picture says, in a form that can be compared.
function facts(picture: Picture): unknown {
  const sorted = (object: Record<string, unknown>) => Object.fromEntries(Object.entries(object).sort());
  const { hyperNodes, nodes, jobs } = picture;
  return [picture.revision, hyperNodes.fits, sorted(hyperNodes.reason), nodes.used, sorted(nodes.note), jobs.name, jobs.phase, jobs.ready,
    sorted(jobs.message), [...picture.cells], [...picture.holders], sorted(picture.shared)];
}

test("opens runs of states and holders as cells", () => {
  const cluster = exampleCluster();
  cluster.gpus.state = "uushx" + "f".repeat(45);
  cluster.gpus.holder = [0, 2, 1, 1, -1, 47];
  const picture = openPicture(cluster);
  same([...picture.cells.slice(0, 6)], [1, 1, 2, 3, 4, 0]);
  same([...picture.holders.slice(0, 4)], [0, 0, 1, -1]);
  same([...picture.firstCell], [0, 8, 16, 24, 28, 32, 40, 40, 48, 50]);
});

test("shows an unknown state as out of service, not as free", () => {
  const cluster = exampleCluster();
  cluster.gpus.state = "?" + cluster.gpus.state.slice(1);
  same(openPicture(cluster).cells[0], 4);
});

test("appends behind the end of a column and removes by null", () => {
  const picture = openPicture(exampleCluster());
  const change: Change = {
    epoch: 7, revision: 2, time: "2026-11-19T12:00:01Z", nodes: { note: { "3": null, "4": "not ready" } },
    jobs: { name: { "0": "", "3": "new" }, namespace: { "3": "c" }, message: { "3": "waits" } },
  };
  holds(fold(picture, change), "it is folded in");
  same(picture.nodes.note, { "4": "not ready" });
  same(picture.jobs.name, ["", "y", "x", "new"]);
  same([findJob(picture, "c/new"), findJob(picture, "a/x"), findJob(picture, "b/x")], [3, -1, 2]);
  same(picture.jobs.message["3"], "waits");
});

test("passes over columns that it does not know", () => {
  const picture = openPicture(exampleCluster());
  const change = { epoch: 7, revision: 2, time: "", jobs: { colour: { "0": "red" } }, hyperNodes: { rack: { "0": 1 } }, later: {} };
  holds(fold(picture, change as Change), "it is folded in");
  holds(!("colour" in picture.jobs), "the column is not there");
});

test("leaves out what is of another epoch or already there", () => {
  const picture = openPicture(exampleCluster());
  const change = { epoch: 8, revision: 2, time: "", gpus: { state: { "0": "u" } } };
  holds(!fold(picture, change), "another epoch");
  holds(!fold(picture, { ...change, epoch: 7, revision: 1 }), "the revision that it has");
  same(countStates(picture), [50, 0, 0, 0, 0]);
});

test("counts waiting jobs and GPUs in each HyperNode", () => {
  const picture = openPicture(exampleCluster());
  same(waitingJobs(picture), [1]);
  same([...totals(picture).all], [32, 24, 8, 16, 8, 8]);
  fold(picture, { epoch: 7, revision: 2, time: "", gpus: { state: { "24": "uu" } } });
  same([...totals(picture).free], [30, 24, 6, 16, 8, 8]);
});

// What differs, as the server writes it.
function changeTo(before: Cluster, after: Cluster): Change {
  const change: Required<Pick<Change, "gpus" | "jobs" | "nodes" | "hyperNodes">> & Change = {
    epoch: 7, revision: after.revision, time: after.time, gpus: { state: {}, holder: {}, shared: {} }, jobs: {}, nodes: {}, hyperNodes: {},
  };
  const column = (a: readonly unknown[] | Record<string, unknown>, b: readonly unknown[] | Record<string, unknown>) => {
    const delta: Record<string, unknown> = {};
    const [from, to] = [a as Record<string, unknown>, b as Record<string, unknown>];
    for (const key in to) if (JSON.stringify(from[key]) !== JSON.stringify(to[key])) delta[key] = to[key];
    for (const key in from) if (!(key in to)) delta[key] = null;
    return delta;
  };
  change.jobs = { name: column(before.jobs.name, after.jobs.name), phase: column(before.jobs.phase, after.jobs.phase),
    ready: column(before.jobs.ready, after.jobs.ready), message: column(before.jobs.message, after.jobs.message) };
  change.nodes = { note: column(before.nodes.note, after.nodes.note), used: { cpu: column(before.nodes.used["cpu"]!, after.nodes.used["cpu"]!) as never } };
  change.hyperNodes = { fits: column(before.hyperNodes.fits, after.hyperNodes.fits), reason: column(before.hyperNodes.reason, after.hyperNodes.reason) };
  const [old, now] = [openPicture(before), openPicture(after)];
  for (let i = 0; i < now.cells.length; ++i) {
    if (old.cells[i] !== now.cells[i]) change.gpus.state![i] = after.gpus.state[i]!;
    if (old.holders[i] !== now.holders[i]) change.gpus.holder![i] = [now.holders[i]!, 1];
  }
  change.gpus.shared = column(before.gpus.shared, after.gpus.shared) as never;
  return change;
}

function step(cluster: Cluster, draw: (end: number) => number): Cluster {
  const next = structuredClone(cluster);
  next.revision += 1 + draw(3);
  const cell = draw(50);
  next.gpus.state = next.gpus.state.slice(0, cell) + "fushx"[draw(5)] + next.gpus.state.slice(cell + 1);
  const holders = [...openPicture(cluster).holders];
  holders[draw(50)] = draw(5) - 1;
  next.gpus.holder = holders.flatMap((job) => [job, 1]);
  if (draw(2)) next.gpus.shared[draw(50)] = [[draw(3), draw(10) / 10]];
  else delete next.gpus.shared[Object.keys(next.gpus.shared)[0] ?? ""];
  next.nodes.used["cpu"]![draw(9)] = draw(5);
  next.hyperNodes.fits[draw(6)] = draw(9);
  const row = draw(next.jobs.name.length + 1);
  next.jobs.name[row] = draw(3) ? `job-${draw(99)}` : "";
  next.jobs.phase[row] = ["Inqueue", "Running"][draw(2)]!;
  next.jobs.ready[row] = draw(9);
  if (draw(2)) next.jobs.message[row] = `words ${draw(9)}`;
  else delete next.jobs.message[row];
  return next;
}

test("1,000 random changes folded in give what the server says at the end", () => {
  const draw = random(4711);
  let cluster = exampleCluster();
  const picture = openPicture(structuredClone(cluster));
  for (let i = 0; i < 1000; ++i) {
    const next = step(cluster, draw);
    holds(fold(picture, JSON.parse(JSON.stringify(changeTo(cluster, next))) as Change), `step ${i} is folded in`);
    cluster = next;
    same(facts(picture), facts(openPicture(structuredClone(cluster))), `step ${i}`);
  }
  holds(countStates(picture)[FREE]! < 50 && countStates(picture)[USED]! > 0, "something happened");
});
