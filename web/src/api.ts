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

// GET page/v1/<path>. Throws ApiError, or what fetch throws when there is no answer.
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await open(path, signal);
  return (await answer.json()) as T;
}

export async function open(path: string, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(`page/v1/${path}`, { headers: headers(), signal: signal ?? null });
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}
