// A cluster for the units: two spines of two racks, with nodes of eight, four and no GPUs, and one node outside.
import type { Cluster } from "../../../web/src/api";

export function exampleCluster(): Cluster {
  const perNode = [8, 8, 8, 4, 4, 8, 0, 8, 2];
  const cells = perNode.reduce((sum, count) => sum + count, 0);
  return {
    version: 1, epoch: 7, revision: 1, time: "2026-11-19T12:00:00Z",
    fit: { pod: { "nvidia.com/gpu": "8" }, tiers: [] },
    hyperNodes: {
      name: ["spine-0", "rack-0", "rack-1", "spine-1", "rack-2", "rack-3"], tier: [2, 1, 1, 2, 1, 1], parent: [-1, 0, 0, -1, 3, 3],
      nodes: [5, 3, 2, 3, 2, 1], fits: [3, 2, 1, 2, 1, 1], reason: { "5": "not ready" },
    },
    nodes: {
      name: perNode.map((_, i) => `node-${i}`), leaf: [1, 1, 1, 2, 2, 4, 4, 5, -1], also: {}, note: { "3": "cordoned" },
      gpus: perNode, links: perNode.map(() => -1), used: { cpu: perNode.map(() => 1) }, allocatable: { cpu: perNode.map(() => 4) },
    },
    linkShapes: [],
    gpus: { state: "f".repeat(cells), holder: [-1, cells], shared: {} },
    jobs: {
      namespace: ["a", "a", "b"], name: ["x", "y", "x"], podGroup: ["x", "y", "x"], phase: ["Running", "Inqueue", "Completed"],
      queue: ["q", "q", "q"], ready: [1, 0, 1], total: [1, 2, 1], minAvailable: [1, 2, 1], gpus: [8, 16, 0], hyperNode: [1, -1, -1],
      tier: [1, 0, 0], created: ["", "", ""], reason: ["", "NotEnoughResources", ""], message: {}, nearest: {}, helps: {},
    },
  };
}
