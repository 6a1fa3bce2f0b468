// The answers of `strata page` (docs/page.md, "Data"). Unknown keys are passed over.

// A sparse column: position to value.
export type Sparse<T> = Record<string, T>;

export interface TierFit {
  tier: number;
  tierName: string;
  hyperNode: string;
  pods: number;
}

// How many pods of a shape find room, by tier; the last entry is the whole cluster.
export interface Fit {
  pod: Record<string, string>;
  tiers: TierFit[];
}

// How what is free lies (docs/fragmentation.md). Gangs are by the number of their pods.
export interface FragmentationTier {
  tier: number;
  tierName: string;
  hyperNodes: number;
  largestGang: number;
  placeable: Record<string, number>;
  rackLoss: Record<string, number>;
  gini: number;
}

export interface Fragmentation {
  freeGpus: number;
  strandedGpus: number;
  stranded: number;
  fgd: number;
  typicalPods: number;
  tiers: FragmentationTier[];
}

export interface FitAnswer extends Fit {
  epoch: number;
  pods: number[]; // by position in hyperNodes
  wholeNodes: number;
  stranded: number;
  packed: number;
  fragmentation: Fragmentation;
}

export interface Tier {
  tier: number;
  tierName: string;
}

export interface Hello {
  version: number;
  strata: string;
  cluster: string;
  user: string;
  scope: "cluster" | string[]; // the namespaces whose jobs are shown
  queues?: boolean; // whether queues may be listed
  resources: string[];
  tiers: Tier[];
}

export interface Miss {
  hyperNode: number;
  tier: number;
  takes: number;
  of: number;
}

export interface LinkShape {
  gpus: number;
  links: string[];
  groups: number[][];
}

export interface HyperNodes {
  name: string[];
  tier: number[];
  parent: number[];
  nodes: number[];
  fits: number[];
  reason: Sparse<string>;
}

export interface Nodes {
  name: string[];
  leaf: number[];
  also: Sparse<number[]>;
  note: Sparse<string>;
  gpus: number[];
  links: number[];
  used: Record<string, number[]>;
  allocatable: Record<string, number[]>;
}

export interface Jobs {
  namespace: string[];
  name: string[]; // "": a job that went
  podGroup: string[];
  phase: string[];
  queue: string[];
  ready: number[];
  total: number[];
  minAvailable: number[];
  gpus: number[];
  hyperNode: number[];
  tier: number[];
  created: string[];
  reason: string[];
  user?: Sparse<string>; // whom it says it belongs to
  message: Sparse<string>;
  nearest: Sparse<Miss[]>;
  helps: Sparse<string>;
}

export interface Gpus {
  state: string; // one letter per cell: f free, u used, s shared, h held, x off
  holder: number[]; // pairs of a job and a number of cells
  shared: Sparse<[number, number][]>; // by cell: job and part
}

export interface Cluster {
  version: number;
  epoch: number;
  revision: number;
  time: string;
  fit: Fit;
  hyperNodes: HyperNodes;
  nodes: Nodes;
  linkShapes: LinkShape[];
  gpus: Gpus;
  jobs: Jobs;
}

// What differs: in place of a column stands an object of position to value.
export interface Change {
  epoch: number;
  revision: number;
  time: string;
  fit?: Fit;
  hyperNodes?: Record<string, Sparse<unknown>>;
  nodes?: Record<string, Sparse<unknown> | Record<string, Sparse<number>>>;
  gpus?: { state?: Sparse<string>; holder?: Sparse<number[]>; shared?: Sparse<[number, number][] | null> };
  jobs?: Record<string, Sparse<unknown>>;
}

export type Amounts = Record<string, number>;

export interface Queue {
  state: string;
  parent: string;
  weight: number;
  priority: number;
  share: number | null;
  deserved: Amounts | null;
  allocated: Amounts;
  request: Amounts;
  guarantee: Amounts;
  capability: Amounts;
  realCapability: Amounts | null;
  jobs: number;
  waiting: Record<string, { phase: string; reason: string; message: string }>;
}

export interface Queues {
  plugin: string;
  hierarchical: boolean;
  queues: Record<string, Queue>;
}

export interface JobPod {
  name: string;
  phase: string;
  node: string;
  leaf?: string;
}

export interface JobDetail {
  message?: string;
  owner?: string;
  started?: string;
  tasks?: { name: string; replicas: number; minAvailable: number; pods: Record<string, number> }[];
  pods?: JobPod[];
  conditions?: { type: string; status: string; reason?: string; message?: string; time?: string }[];
  events?: { type: string; reason: string; message: string; count?: number; last?: string }[];
}

export interface NodeGpu {
  uuid: string;
  index: number;
  health: boolean;
  numa: number;
  holders: { job?: string; pod?: string; part?: number }[];
}

export interface NodeDetail {
  node?: string;
  gpus?: NodeGpu[];
  links?: string[];
  freeSets?: number[][];
  pods?: { namespace?: string; name: string; phase?: string }[];
}

export interface Holder {
  kind: string;
  name: string;
  pods: number;
  amounts: Record<string, string>;
}

export interface StoryTier {
  tier: number;
  open: string[];
  ruledOut: { hyperNodes: string[]; reason: string }[];
  failed: string[];
  chosen: string;
  scores: { name: string; score: number; plugins?: Record<string, number> }[];
}

export interface Helping {
  kind: string;
  object: string;
  text: string;
  command: string;
  restarts: boolean;
  binds?: Record<string, string>; // "namespace/pod" to node
}

export interface Eviction {
  action: string;
  job: string;
  hyperNode: string;
  victims: { job: string; queue: string; priority: number; unit: string; pods: string[]; nodes: string[] }[];
}

// As `strata explain -o json`; what is known at once has fewer members.
export interface Story {
  state: "computing" | "done" | "failed";
  source?: "verdict" | "replay";
  agrees?: boolean;
  replay?: Story;
  problem?: string;
  asOf?: string;
  sentence: string;
  notes?: string[];
  reason?: string;
  message?: string;
  phase?: string;
  allocatedHyperNode?: string;
  tier?: number;
  searches?: { subJob: string; root: string; tiers: StoryTier[] }[];
  nearestMisses?: { subJob: string; tier: number; hyperNode: string; fits: number; wanted: number;
    shortOf: Record<string, string>; nodes: Record<string, number>; heldBy: Holder[] }[];
  queueHeldBy?: Holder[];
  line?: { queue: string; position: number; waiting: number; before: string[] };
  pods?: { name: string; node: string }[];
  evictions?: Eviction[];
  evictedFor?: Eviction[];
  relaxations?: Helping[];
  tried?: { changes: number; runningJobs: number; ofRunningJobs: number };
}

export interface WhatIf {
  job: string;
  jobs: Record<string, { phase: string; allocatedHyperNode: string; tier: number; reason: string; message: string }>;
  binds: Record<string, string>;
  pipelined: Record<string, string>;
  devices: Record<string, Record<string, string[]>>;
  story?: Story;
  asOf: string;
}

export type Sample = [number, number, number, number, [number, number][]]; // time, free, used, waiting, [tier, pods]

export interface Decision {
  time: number;
  job: string; // "": about a node
  outcome: "placed" | "waits" | "gone" | "node";
  where: string;
  tier: number;
}

export interface Past {
  samples: Sample[];
  decisions: Decision[];
}

export interface Moment {
  cluster: Cluster;
  changes: Change[];
}

// An answer that is an error: a Status object of Kubernetes.
export class ApiError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

// Moves the token of the URL (#token=...) to the session of this tab, so that links and pictures do not have it.
export function takeToken(place: Location, session: Storage): void {
  const found = /[#&?]token=([A-Za-z0-9._~-]+)/.exec(place.hash);
  if (!found) return;
  session.setItem("strata-token", found[1]!);
  const rest = place.hash.replace(found[0], "").replace(/^#?&?/, "#");
  history.replaceState(null, "", place.pathname + place.search + rest);
}

// A token that somebody pasted; it stays in the session of this tab.
export function keepToken(token: string, session: Storage): void {
  session.setItem("strata-token", token.trim());
}

export function headers(): Record<string, string> {
  const token = sessionStorage.getItem("strata-token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function problemOf(answer: Response): Promise<ApiError> {
  let message = answer.statusText || "no answer";
  try {
    const status = (await answer.json()) as { message?: string };
    if (status.message) message = status.message;
  } catch {
    // not a Status: a proxy in between answered
  }
  return new ApiError(answer.status, message);
}

// The namespaces that are asked for, where not all may be listed: "?namespaces=a,b" of the view.
let named = "";
export function nameNamespaces(list: string): void {
  named = list;
}

function pathOf(path: string): string {
  const more = named ? `${path.includes("?") ? "&" : "?"}namespaces=${encodeURIComponent(named)}` : "";
  return `page/v1/${path}${more}`;
}

// GET page/v1/<path>. Throws ApiError, or what fetch throws when there is no answer.
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await open(path, signal);
  return (await answer.json()) as T;
}

export async function open(path: string, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(pathOf(path), { headers: headers(), signal: signal ?? null });
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const answer = await fetch(pathOf(path), {
    method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw await problemOf(answer);
  return (await answer.json()) as T;
}
