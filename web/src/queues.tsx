// The queues as a tree: what each has, wants and may have, on one scale per resource.
import type { Amounts, Queue, Queues } from "./api";
import { app, useApp } from "./app";
import { jobOfPodGroup } from "./fold";
import { amount, byName, plural, resourceTitle, shortName } from "./formats";
import { useAnswer } from "./answer";
import { linkTo } from "./router";

interface Line {
  name: string;
  queue: Queue;
  depth: number;
}

// Parents before their children, children by name.
export function treeOfQueues(queues: Record<string, Queue>): Line[] {
  const children = new Map<string, string[]>();
  for (const name of Object.keys(queues).sort(byName)) {
    const parent = queues[name]!.parent in queues ? queues[name]!.parent : "";
    children.set(parent, [...(children.get(parent) ?? []), name]);
  }
  const lines: Line[] = [];
  const add = (parent: string, depth: number) => {
    for (const name of children.get(parent) ?? []) {
      lines.push({ name, queue: queues[name]!, depth });
      if (name !== parent && depth < 32) add(name, depth + 1);
    }
  };
  add("", 0);
  return lines;
}

const COMMON = ["nvidia.com/gpu", "cpu", "memory"];

function resourcesOf(queue: Queue): string[] {
  const names = new Set<string>();
  for (const amounts of [queue.allocated, queue.request, queue.guarantee, queue.capability, queue.deserved]) {
    for (const name in amounts) if (name !== "pods") names.add(name);
  }
  return [...names].sort((a, b) => (COMMON.indexOf(a) + 9) % 9 - (COMMON.indexOf(b) + 9) % 9 || byName(a, b));
}

function Mark({ at, kind }: { at: number | undefined; kind: string }) {
  return at === undefined ? null : <span class={`mark ${kind}`} style={{ left: `${Math.min(100, at)}%` }} />;
}

function Bar({ queue, resource }: { queue: Queue; resource: string }) {
  const of = (amounts: Amounts | null) => amounts?.[resource];
  const allocated = of(queue.allocated) ?? 0;
  const request = of(queue.request) ?? 0;
  const [guarantee, deserved, capability] = [of(queue.guarantee), of(queue.deserved), of(queue.capability)];
  const top = Math.max(allocated, request, guarantee ?? 0, deserved ?? 0, capability ?? 0, 1e-9);
  const part = (value: number | undefined) => (value === undefined ? undefined : (100 * value) / top);
  const words = [`${amount(resource, allocated)} used`];
  if (request > allocated) words.push(`${amount(resource, request - allocated)} more wanted`);
  if (guarantee) words.push(`guarantee ${amount(resource, guarantee)}`);
  if (deserved !== undefined) words.push(`deserves ${amount(resource, deserved)}`);
  if (capability !== undefined) words.push(`at most ${amount(resource, capability)}`);
  return (
    <div class="resource">
      <div class="words"><b>{resourceTitle(resource)}</b> <span class="muted">{words.join(" · ")}</span></div>
      <div class="bar" aria-hidden="true">
        <span class="wanted" style={{ width: `${part(Math.max(request, allocated))}%` }} />
        <span class="fill" style={{ width: `${part(allocated)}%` }} />
        <Mark at={part(guarantee || undefined)} kind="guarantee" />
        <Mark at={part(deserved)} kind="deserved" />
        <Mark at={part(capability)} kind="capability" />
      </div>
    </div>
  );
}

export function isOverused(queue: Queue): boolean {
  const { deserved, allocated } = queue;
  return deserved !== null && Object.keys(allocated).some((name) => name in deserved && allocated[name]! > deserved[name]! + 1e-9);
}

function QueueCard({ line }: { line: Line }) {
  const { name, queue, depth } = line;
  const chosen = app.route.queue === name;
  const waiting = Object.entries(queue.waiting).map(([group, why]) => [jobOfPodGroup(app.picture!, group), why] as const);
  return (
    <li class={chosen ? "queue chosen" : "queue"} style={{ marginLeft: `${Math.min(depth, 6) * 18}px` }}>
      <div class="first">
        <a href={linkTo(app.route, { queue: chosen ? "" : name })} aria-expanded={chosen} title={name}>{shortName(name, 40)}</a>
        <span class="muted">
          {queue.state !== "Open" && <b class="bad">{queue.state} </b>}
          {isOverused(queue) && <b class="warn">overused </b>}
          weight {queue.weight} · {plural(queue.jobs, "job")}{waiting.length ? `, ${waiting.length} waiting` : ""}
        </span>
      </div>
      {resourcesOf(queue).slice(0, chosen ? 12 : 3).map((resource) => <Bar queue={queue} resource={resource} />)}
      {chosen && (
        <ul class="plain">
          {waiting.slice(0, 30).map(([job, why]) => (
            <li><a href={linkTo(app.route, { view: "waiting", job })}>{shortName(job, 44)}</a> <span class="reason">{why.reason || why.phase}</span></li>
          ))}
          <li><a href={linkTo(app.route, { view: "jobs", find: `queue:${name}` })}>all jobs of this queue</a></li>
        </ul>
      )}
    </li>
  );
}

export function QueuesPanel() {
  const { picture } = useApp();
  const answer = useAnswer<Queues>("queues", picture?.revision);
  if (typeof answer === "string") return <section class="panel"><h1>Queues</h1><p class="bad">Cannot read the queues: {answer}</p></section>;
  if (!answer) return <section class="panel"><h1>Queues</h1><p class="muted">Reading the queues ...</p></section>;
  const lines = treeOfQueues(answer.queues);
  return (
    <section class="panel scroll" aria-labelledby="title">
      <h1 id="title">{plural(lines.length, "queue")}</h1>
      <p class="muted">{answer.plugin ? `Shares by ${answer.plugin}${answer.hierarchical ? " with a hierarchy" : ""}.`
        : "No plugin divides the cluster among the queues."}</p>
      <ul class="legend plain" aria-hidden="true">
        <li><i class="fill" /> used</li><li><i class="wanted" /> wanted</li><li><i class="mark guarantee" /> guarantee</li>
        <li><i class="mark deserved" /> deserved</li><li><i class="mark capability" /> capability</li>
      </ul>
      <ul class="plain queues">{lines.map((line) => <QueueCard key={line.name} line={line} />)}</ul>
    </section>
  );
}
