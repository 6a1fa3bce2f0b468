// The cluster as the page keeps it: the columns of `cluster`, with a cell for each GPU, and changes folded in.
import type { Change, Cluster, Gpus } from "./api";

export const FREE = 0;
export const USED = 1;
export const SHARED = 2;
export const HELD = 3;
export const OFF = 4;
const LETTERS = "fushx";

export interface Picture extends Omit<Cluster, "gpus"> {
  shared: Gpus["shared"];
  cells: Uint8Array; // FREE and so on, by GPU
  holders: Int32Array; // the job that holds the GPU, -1 none
  firstCell: Int32Array; // by node, and one entry behind the last
}

function writeStates(cells: Uint8Array, from: number, letters: string): void {
  for (let i = 0; i < letters.length && from + i < cells.length; ++i) {
    const state = LETTERS.indexOf(letters[i]!);
    cells[from + i] = state < 0 ? OFF : state;
  }
}

function writeHolders(holders: Int32Array, from: number, runs: number[]): void {
  let cell = from;
  for (let i = 0; i + 1 < runs.length; i += 2) {
    const end = Math.min(cell + runs[i + 1]!, holders.length);
    holders.fill(runs[i]!, cell, end);
    cell = end;
  }
}

export function openPicture(cluster: Cluster): Picture {
  const { gpus, ...rest } = cluster;
  const firstCell = new Int32Array(cluster.nodes.gpus.length + 1);
  cluster.nodes.gpus.forEach((count, node) => (firstCell[node + 1] = firstCell[node]! + count));
  const total = firstCell[firstCell.length - 1]!;
  const cells = new Uint8Array(total);
  const holders = new Int32Array(total).fill(-1);
  writeStates(cells, 0, gpus.state);
  writeHolders(holders, 0, gpus.holder);
  return { ...rest, shared: gpus.shared ?? {}, cells, holders, firstCell };
}

type Column = unknown[] | Record<string, unknown>;

function foldColumn(column: Column, delta: Record<string, unknown>): void {
  if (Array.isArray(column)) {
    for (const position in delta) column[Number(position)] = delta[position];
    return;
  }
  for (const position in delta) {
    if (delta[position] === null) delete column[position];
    else column[position] = delta[position];
  }
}

// Folds the columns of `delta` that `target` has; others are of a newer server.
function foldColumns(target: Record<string, unknown>, delta: Record<string, unknown>): void {
  for (const name in delta) {
    const column = target[name];
    if (typeof column === "object" && column !== null) {
      foldColumn(column as Column, delta[name] as Record<string, unknown>);
    }
  }
}

function foldAmounts(target: Record<string, number[]>, delta: Record<string, Record<string, number>>, nodes: number): void {
  for (const resource in delta) {
    target[resource] ??= new Array<number>(nodes).fill(0);
    foldColumn(target[resource], delta[resource]!);
  }
}

// Brings `picture` to the revision of `change`. A change of another epoch, or of a revision that the picture has, is
// left out; returns whether it was folded in. Cost: what differs.
export function fold(picture: Picture, change: Change): boolean {
  if (change.epoch !== picture.epoch || change.revision <= picture.revision) return false;
  picture.revision = change.revision;
  picture.time = change.time;
  if (change.fit) picture.fit = change.fit;
  if (change.hyperNodes) foldColumns(picture.hyperNodes as never, change.hyperNodes);
  if (change.jobs) foldColumns(picture.jobs as never, change.jobs);
  if (change.nodes) {
    const { used, allocatable, ...rest } = change.nodes as Record<string, never>;
    const count = picture.nodes.name.length;
    if (used) foldAmounts(picture.nodes.used, used, count);
    if (allocatable) foldAmounts(picture.nodes.allocatable, allocatable, count);
    foldColumns(picture.nodes as never, rest);
  }
  const { state, holder, shared } = change.gpus ?? {};
  for (const cell in state) writeStates(picture.cells, Number(cell), state[cell]!);
  for (const cell in holder) writeHolders(picture.holders, Number(cell), holder[cell]!);
  if (shared) foldColumn(picture.shared, shared);
  return true;
}

// The number of cells by state.
export function countStates(picture: Picture, from = 0, to = picture.cells.length): number[] {
  const counts = [0, 0, 0, 0, 0];
  for (let i = from; i < to; ++i) counts[picture.cells[i]!]!++;
  return counts;
}

export interface Totals {
  free: Float64Array; // GPUs, by HyperNode
  all: Float64Array;
}

const totalsOf = new WeakMap<Picture, Totals & { revision: number }>();

// The GPUs in each HyperNode. Computed once per revision.
export function totals(picture: Picture): Totals {
  const known = totalsOf.get(picture);
  if (known?.revision === picture.revision) return known;
  const { parent } = picture.hyperNodes;
  const free = new Float64Array(parent.length);
  const all = new Float64Array(parent.length);
  picture.nodes.leaf.forEach((leaf, node) => {
    if (leaf < 0) return;
    for (let i = picture.firstCell[node]!; i < picture.firstCell[node + 1]!; ++i) {
      all[leaf]!++;
      if (picture.cells[i] === FREE) free[leaf]!++;
    }
  });
  // Parents come before their children.
  for (let h = parent.length - 1; h >= 0; --h) {
    const above = parent[h]!;
    if (above < 0) continue;
    free[above]! += free[h]!;
    all[above]! += all[h]!;
  }
  const made = { free, all, revision: picture.revision };
  totalsOf.set(picture, made);
  return made;
}

// The position of the job "namespace/name", -1 when there is none.
export function findJob(picture: Picture, key: string): number {
  const { namespace, name } = picture.jobs;
  const cut = key.indexOf("/");
  const space = key.slice(0, cut);
  const rest = key.slice(cut + 1);
  for (let i = 0; i < name.length; ++i) {
    if (name[i] === rest && namespace[i] === space) return i;
  }
  return -1;
}

export function jobKey(picture: Picture, job: number): string {
  return `${picture.jobs.namespace[job]}/${picture.jobs.name[job]}`;
}

// The job whose PodGroup is "namespace/podGroup"; the PodGroup itself where there is none.
export function jobOfPodGroup(picture: Picture, key: string): string {
  const { namespace, podGroup } = picture.jobs;
  const job = podGroup.findIndex((group, i) => `${namespace[i]}/${group}` === key && picture.jobs.name[i] !== "");
  return job < 0 ? key : jobKey(picture, job);
}

const ENDED = new Set(["Completed", "Failed", "Terminated", "Aborted", "Succeeded"]);

export function waits(picture: Picture, job: number): boolean {
  const { name, phase, reason } = picture.jobs;
  if (!name[job] || ENDED.has(phase[job]!)) return false;
  return reason[job] !== "" || phase[job] === "Pending" || phase[job] === "Inqueue";
}

export function waitingJobs(picture: Picture): number[] {
  return picture.jobs.name.map((_, job) => job).filter((job) => waits(picture, job));
}
