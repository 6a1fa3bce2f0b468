// All jobs as a table, and one job in full.
import type { JobDetail } from "./api";
import { useAnswer } from "./answer";
import { app, useApp, useTicks } from "./app";
import { findJob, jobKey, waits, type Picture } from "./fold";
import { ageSince, plural, shortName } from "./formats";
import { matchesJob, parseFind } from "./find";
import { Windowed } from "./list";
import { linkTo } from "./router";
import { StoryBody, useStory } from "./story";
import { sortJobs } from "./waiting";

const TITLES = ["job", "phase", "queue", "ready", "GPUs", "in", "age"];

function Row({ picture, job, at }: { picture: Picture; job: number; at: number }) {
  const key = jobKey(picture, job);
  const { jobs, hyperNodes } = picture;
  const place = jobs.hyperNode[job]! >= 0 ? hyperNodes.name[jobs.hyperNode[job]!] ?? "" : "";
  const chosen = app.route.job === key;
  return (
    <div role="row" aria-rowindex={at + 2} key={key} class={chosen ? "line chosen" : "line"} aria-current={chosen ? "true" : undefined}
      onMouseEnter={() => { app.hover = job; app.changed(); }} onMouseLeave={() => { app.hover = -1; app.changed(); }}>
      <span role="cell"><a href={linkTo(app.route, { job: key })} title={key}>{shortName(key, 40)}</a></span>
      <span role="cell" title={jobs.reason[job]}>{jobs.phase[job]}</span>
      <span role="cell" title={jobs.queue[job]}>{shortName(jobs.queue[job]!, 18)}</span>
      <span role="cell" class="number">{jobs.ready[job]}/{jobs.total[job]}</span>
      <span role="cell" class="number">{jobs.gpus[job] || "-"}</span>
      <span role="cell" title={place}>{place ? shortName(place, 16) : "-"}</span>
      <span role="cell" class="number">{ageSince(jobs.created[job]!, Date.now())}</span>
    </div>
  );
}

export function Jobs() {
  const { picture, route } = useApp();
  useTicks(10_000);
  if (!picture) return null;
  const terms = parseFind(route.find);
  const there = picture.jobs.name.map((_, job) => job).filter((job) => picture.jobs.name[job]);
  const jobs = sortJobs(picture, there.filter((job) => matchesJob(picture, job, terms)), "name");
  return (
    <section class="panel" aria-labelledby="title">
      <div class="top">
        <h1 id="title">{plural(jobs.length, "job")}{jobs.length < there.length ? ` of ${there.length}` : ""}</h1>
        <span class="muted">filter with ns: queue: user: phase: reason: hn:</span>
      </div>
      {jobs.length === 0 && <p class="empty">{there.length ? "No job matches the search." : "There are no jobs."}</p>}
      <div role="table" class="table jobs" aria-label="Jobs" aria-rowcount={jobs.length + 1}>
        <div role="rowgroup">
          <div role="row" class="line head" aria-rowindex={1}>{TITLES.map((title) => <span role="columnheader">{title}</span>)}</div>
        </div>
        <Windowed label="Jobs" role="rowgroup" count={jobs.length} height={30}
          chosen={jobs.findIndex((job) => jobKey(picture, job) === route.job)}
          row={(i) => <Row picture={picture} job={jobs[i]!} at={i} />} />
      </div>
    </section>
  );
}

// ---- one job

function Pods({ detail }: { detail: JobDetail }) {
  const pods = detail.pods ?? [];
  if (!pods.length) return <p class="muted">No pods.</p>;
  return (
    <table>
      <thead><tr><th>pod</th><th>phase</th><th>node</th></tr></thead>
      <tbody>
        {pods.slice(0, 200).map((pod) => (
          <tr key={pod.name}>
            <td title={pod.name}>{shortName(pod.name, 34)}</td>
            <td>{pod.phase}</td>
            <td>{pod.node ? <a href={linkTo(app.route, { node: pod.node, job: "" })}>{shortName(pod.node, 26)}</a> : "-"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function sentenceOf(picture: Picture, job: number): string {
  const { jobs, hyperNodes } = picture;
  if (jobs.message[job]) return jobs.message[job];
  if (waits(picture, job)) return jobs.reason[job] || `${jobs.phase[job]}: it has no verdict yet.`;
  const place = hyperNodes.name[jobs.hyperNode[job]!];
  return place ? `${jobs.phase[job]} in ${place} (tier ${jobs.tier[job]}).` : `${jobs.phase[job]}.`;
}

export function JobPanel() {
  const { picture, route } = useApp();
  useTicks(10_000);
  const job = picture ? findJob(picture, route.job) : -1;
  const { jobs } = picture ?? {};
  const path = job >= 0 ? `jobs/${route.job.split("/").map(encodeURIComponent).join("/")}` : "";
  const state = job >= 0 ? `${jobs!.phase[job]} ${jobs!.ready[job]} ${jobs!.reason[job]}` : "";
  const past = route.t > 0;
  const detail = useAnswer<JobDetail>(past ? "" : path, state);
  const story = useStory(past ? "" : path, state);
  if (!picture || !jobs) return null;
  if (job < 0) {
    return (
      <section class="panel" aria-labelledby="job-title">
        <Close what={{ job: "" }} />
        <h1 id="job-title">{shortName(route.job, 60)}</h1>
        <p class="empty">There is no such job now.</p>
      </section>
    );
  }
  return (
    <section class="panel scroll" aria-labelledby="job-title">
      <Close what={{ job: "" }} />
      <h1 id="job-title">{shortName(route.job, 80)}</h1>
      <p class="facts">
        <b>{jobs.phase[job]}</b> · {jobs.ready[job]} of {plural(jobs.total[job]!, "pod")} ready, at least {jobs.minAvailable[job]}
        {jobs.gpus[job] ? ` · ${plural(jobs.gpus[job]!, "GPU")}` : ""} ·{" "}
        queue <a href={linkTo(route, { view: "queues", queue: jobs.queue[job]!, job: "" })}>{shortName(jobs.queue[job] || "-", 30)}</a>
        {" "}· created {ageSince(jobs.created[job]!, Date.now())} ago
      </p>
      <p class="sentence">{typeof story === "object" && !past && story.sentence ? story.sentence : sentenceOf(picture, job)}</p>
      {typeof story === "string" && <p class="bad">Cannot read its story: {story}</p>}
      {typeof story === "object" && <StoryBody story={story} picture={picture} />}
      <h2>Pods</h2>
      {typeof detail === "string" ? <p class="bad">Cannot read its pods: {detail}</p>
        : detail ? <Pods detail={detail} /> : past ? <p class="muted">Not kept of the past.</p> : <p class="muted">Reading its pods ...</p>}
      {typeof detail === "object" && detail.events?.length ? (
        <>
          <h2>Events</h2>
          <ul class="plain">
            {detail.events.slice(0, 20).map((event) => (
              <li><b>{event.reason}</b>{event.last ? ` ${ageSince(event.last, Date.now())} ago` : ""}: {event.message}</li>
            ))}
          </ul>
        </>
      ) : null}
      <p class="muted">The same in a shell: <code>strata explain {route.job}</code></p>
    </section>
  );
}

// The link that closes a panel; Esc does the same.
export function Close({ what }: { what: { job?: string; node?: string } }) {
  return <a class="close" href={linkTo(app.route, what)} aria-label="Close">✕</a>;
}
