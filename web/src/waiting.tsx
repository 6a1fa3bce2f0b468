// The jobs that wait: since when, why, what came nearest, and what would help.
import { app, useApp, useTicks } from "./app";
import { jobKey, waitingJobs, type Picture } from "./fold";
import { ageSince, plural, shortName, splitHelp } from "./formats";
import { matchesJob, parseFind } from "./find";
import { Windowed } from "./list";
import { linkTo } from "./router";

const SORTS = ["age", "name", "queue", "reason"] as const;

export function sortJobs(picture: Picture, jobs: number[], sort: string): number[] {
  const { created, queue, reason } = picture.jobs;
  const order: Record<string, (a: number, b: number) => number> = {
    name: () => 0,
    queue: (a, b) => compare(queue[a]!, queue[b]!),
    reason: (a, b) => compare(reason[a]!, reason[b]!),
  };
  const first = order[sort] ?? ((a, b) => compare(created[a]!, created[b]!));
  return [...jobs].sort((a, b) => first(a, b) || compare(jobKey(picture, a), jobKey(picture, b)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// "allow tier 2" helps 3 jobs: what most jobs would be helped by.
function commonHelp(picture: Picture, jobs: number[]): { help: string; jobs: number } | undefined {
  const counts = new Map<string, number>();
  for (const job of jobs) {
    const help = splitHelp(picture.jobs.helps[job] ?? "")[0];
    if (help) counts.set(help, (counts.get(help) ?? 0) + 1);
  }
  const [best] = [...counts].sort((a, b) => b[1] - a[1] || compare(a[0], b[0]));
  return best && best[1] > 1 ? { help: best[0], jobs: best[1] } : undefined;
}

export function MissBar({ picture, job }: { picture: Picture; job: number }) {
  const miss = picture.jobs.nearest[job]?.[0];
  if (!miss) return null;
  const name = miss.hyperNode < 0 ? "the cluster" : picture.hyperNodes.name[miss.hyperNode] ?? "";
  return (
    <div class="miss">
      <span>{shortName(name, 28)} takes {miss.takes} of {miss.of}</span>
      <span class="bar" aria-hidden="true">
        <span class="fill" style={{ width: `${miss.of ? (100 * miss.takes) / miss.of : 0}%` }} />
      </span>
    </div>
  );
}

function Row({ picture, job, at, of }: { picture: Picture; job: number; at: number; of: number }) {
  const key = jobKey(picture, job);
  const { jobs } = picture;
  const why = jobs.reason[job] || jobs.phase[job];
  return (
    <div role="listitem" aria-posinset={at + 1} aria-setsize={of} key={key} class={app.route.job === key ? "wait chosen" : "wait"}
      onMouseEnter={() => { app.hover = job; app.changed(); }} onMouseLeave={() => { app.hover = -1; app.changed(); }}>
      <div class="first">
        <a href={linkTo(app.route, { job: key })} title={key} aria-current={app.route.job === key ? "true" : undefined}>
          {shortName(key, 44)}
        </a>
        <span class="age">{ageSince(jobs.created[job]!, Date.now())}</span>
      </div>
      <div class="second">
        <span class="reason">{why}</span>
        <span class="muted">{plural(jobs.total[job]!, "pod")}{jobs.gpus[job] ? ` · ${plural(jobs.gpus[job]!, "GPU")}` : ""}
          {" "}· {shortName(jobs.queue[job] || "-", 24)}</span>
      </div>
      {picture.jobs.nearest[job]?.length ? <MissBar picture={picture} job={job} />
        : <div class="muted cut">{jobs.message[job] ?? ""}</div>}
      {jobs.helps[job] && <div class="helps cut">helps: {splitHelp(jobs.helps[job])[0]}</div>}
    </div>
  );
}

export function Waiting() {
  const { picture, route } = useApp();
  useTicks(10_000);
  if (!picture) return null;
  const terms = parseFind(route.find);
  const all = waitingJobs(picture);
  const jobs = sortJobs(picture, all.filter((job) => matchesJob(picture, job, terms)), route.sort);
  const help = commonHelp(picture, jobs);
  return (
    <section class="panel" aria-labelledby="title">
      <div class="top">
        <h1 id="title">{plural(jobs.length, "job")} waiting{jobs.length < all.length ? ` of ${all.length}` : ""}</h1>
        <label>sort{" "}
          <select value={route.sort || "age"} onChange={(event) => app.go({ sort: event.currentTarget.value }, true)}>
            {SORTS.map((sort) => <option value={sort}>{sort}</option>)}
          </select>
        </label>
      </div>
      {help && <p class="helps">“{help.help}” would let {plural(help.jobs, "job")} start.</p>}
      {jobs.length === 0 && <p class="empty">{all.length ? "No waiting job matches the search." : "No job waits."}</p>}
      <Windowed label="Waiting jobs" role="list" count={jobs.length} height={96}
        chosen={jobs.findIndex((job) => jobKey(picture, job) === route.job)}
        row={(i) => <Row picture={picture} job={jobs[i]!} at={i} of={jobs.length} />} />
    </section>
  );
}
