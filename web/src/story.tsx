// The story of a decision: the search tier by tier, what came nearest and who holds what is short, the scores, and what
// would let a waiting job start, each with its command and where its pods would go.
import { useEffect, useState } from "preact/hooks";
import type { Eviction, Helping, Holder, Story, StoryTier } from "./api";
import { get } from "./api";
import { app } from "./app";
import { jobOfPodGroup, type Picture } from "./fold";
import { ageSince, count, plural, resourceTitle, shortName } from "./formats";
import { linkTo } from "./router";

const ASK_AGAIN = 1000; // while the answer is not whole

// The story of the job at `path`, asked for until it is whole, and anew when `when` has changed.
export function useStory(path: string, when: string): Story | string | undefined {
  const [answer, setAnswer] = useState<{ path: string; story: Story | string }>();
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    let timer = 0;
    const ask = () => {
      get<Story>(`${path}/story`, stop.signal).then((story) => {
        setAnswer({ path, story });
        if (story.state === "computing") timer = window.setTimeout(ask, ASK_AGAIN);
      }, (error: unknown) => !stop.signal.aborted && setAnswer({ path, story: String((error as Error).message) }));
    };
    ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, when]);
  return answer?.path === path ? answer.story : undefined;
}

function GoTo({ name, picture }: { name: string; picture: Picture }) {
  if (!name) return <>the cluster</>;
  if (!picture.hyperNodes.name.includes(name)) return <>{shortName(name, 30)}</>;
  return <a href={linkTo(app.route, { at: name, node: "" })}>{shortName(name, 30)}</a>;
}

// Shows on the map where pods would go, as long as it is pressed.
export function WhereButton({ binds, words }: { binds: Record<string, string>; words: string }) {
  const [mine, setMine] = useState<ReadonlyMap<string, number>>();
  const shown = mine !== undefined && app.ghosts === mine;
  useEffect(() => () => {
    if (mine && app.ghosts === mine) show(undefined);
  }, [mine]);
  const show = (ghosts: ReadonlyMap<string, number> | undefined) => {
    app.ghosts = ghosts;
    app.changed();
  };
  const press = () => {
    const nodes = new Map<string, number>();
    for (const node of Object.values(binds)) nodes.set(node, (nodes.get(node) ?? 0) + 1);
    setMine(shown ? undefined : nodes);
    show(shown ? undefined : nodes);
  };
  const nodes = new Set(Object.values(binds));
  if (!nodes.size) return null;
  return (
    <>
      <button type="button" aria-pressed={shown} onClick={press}>see where</button>
      {shown && <p class="muted" role="status">{words} on {[...nodes].sort().slice(0, 8).map((node) => shortName(node, 24)).join(", ")}
        {nodes.size > 8 ? ` and ${nodes.size - 8} more` : ""}</p>}
    </>
  );
}

export function CopyButton({ command }: { command: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard?.writeText(command).then(() => {
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  });
  const program = command.startsWith("kubectl") ? "kubectl" : "command";
  return <button type="button" onClick={copy}>{copied ? "copied" : `copy ${program}`}</button>;
}

function Change({ change, at }: { change: Helping; at: number }) {
  return (
    <li class="change">
      <span class="rank" aria-hidden="true">{at + 1}</span>
      <div>
        <p>{change.text}{change.restarts && <span class="warn"> (restarts the job)</span>}</p>
        {change.command && <code>{change.command}</code>}
        <div class="buttons">
          {change.command && <CopyButton command={change.command} />}
          <WhereButton binds={change.binds ?? {}} words={`${plural(Object.keys(change.binds ?? {}).length, "pod")} would go`} />
        </div>
      </div>
    </li>
  );
}

export function Changes({ story }: { story: Story }) {
  const { relaxations = [], tried, state, asOf } = story;
  if (state === "computing") {
    return story.reason ? <><h2>What would help</h2><p class="muted" role="status">Trying changes in a copy of the cluster ...</p></>
      : <p class="muted" role="status">Reading its story ...</p>;
  }
  if (!tried || tried.changes === 0) return null;
  const words = `${plural(tried.changes, "change")} tried, in the state of ${asOf ? ageSince(asOf, Date.now()) : "a moment"} ago`;
  return (
    <>
      <h2>What would help</h2>
      {relaxations.length === 0 ? <p>No single change would let it start <span class="muted">({words})</span>.</p>
        : <p>Each of these alone would let it start <span class="muted">({words})</span>:</p>}
      <ol class="plain changes">{relaxations.map((change, i) => <Change change={change} at={i} key={change.text} />)}</ol>
    </>
  );
}

function Holders({ holders, picture, title }: { holders: Holder[]; picture: Picture; title: string }) {
  if (!holders.length) return null;
  return (
    <p class="facts">{title}{" "}
      {holders.slice(0, 5).map((holder, i) => {
        const key = holder.kind === "Pod" ? holder.name : jobOfPodGroup(picture, holder.name);
        const amounts = Object.entries(holder.amounts).map(([name, amount]) => `${amount} ${resourceTitle(name)}`).join(", ");
        return (
          <>{i > 0 && " · "}{holder.kind === "Pod" || key === "(hidden)" ? <span>{shortName(key, 34)}</span>
            : <a href={linkTo(app.route, { view: "jobs", job: key, find: "" })}>{shortName(key, 34)}</a>} {amounts}</>
        );
      })}
      {holders.length > 5 && ` and ${plural(holders.length - 5, "more job")}`}
    </p>
  );
}

export function Misses({ story, picture }: { story: Story; picture: Picture }) {
  const misses = story.nearestMisses ?? [];
  if (!misses.length) return story.queueHeldBy?.length ? <Holders holders={story.queueHeldBy} picture={picture} title="its queue is held by" /> : null;
  return (
    <>
      <h2>Nearest</h2>
      {misses.map((miss) => (
        <div class="nearest">
          <div class="miss">
            <span>tier {miss.tier}: <GoTo name={miss.hyperNode} picture={picture} /> takes {miss.fits} of {miss.wanted}</span>
            <span class="bar" aria-hidden="true"><span class="fill" style={{ width: `${miss.wanted ? (100 * miss.fits) / miss.wanted : 0}%` }} /></span>
          </div>
          {Object.keys(miss.shortOf).length > 0 && <p class="facts">short of {Object.entries(miss.shortOf)
            .map(([name, amount]) => `${amount} ${resourceTitle(name)}`).join(", ")}</p>}
          {Object.entries(miss.nodes).slice(0, 4).map(([reason, nodes]) => <p class="facts">{plural(nodes, "node")}: {reason}</p>)}
          <Holders holders={miss.heldBy} picture={picture} title="held by" />
        </div>
      ))}
    </>
  );
}

const MOST_SCORES = 4;

// One bar per HyperNode, divided by the plugins that gave the points.
function Scores({ tier, picture }: { tier: StoryTier; picture: Picture }) {
  const scores = tier.scores.slice(0, MOST_SCORES);
  const best = Math.max(1e-9, ...scores.map((score) => score.score));
  const plugins = [...new Set(scores.flatMap((score) => Object.keys(score.plugins ?? {})))];
  if (!tier.scores.some((score) => score.score !== 0)) return null;
  return (
    <div class="scores">
      {scores.map((score) => (
        <div class="miss">
          <span><GoTo name={score.name} picture={picture} />{score.name === tier.chosen ? " (chosen)" : ""}</span>
          <span class="bar parts" aria-hidden="true">
            {plugins.map((plugin, i) => <span class={`part part-${i % 4}`} style={{ width: `${(100 * Math.max(0, score.plugins?.[plugin] ?? 0)) / best}%` }} />)}
          </span>
          <span class="number">{count(Math.round(score.score * 10) / 10)}</span>
        </div>
      ))}
      {plugins.length > 0 && <ul class="legend plain">{plugins.map((plugin, i) => <li><i class={`part-${i % 4}`} /> {plugin}{" "}
        {scores.map((score) => Math.round((score.plugins?.[plugin] ?? 0) * 10) / 10).join(" / ")}</li>)}</ul>}
      {tier.scores.length > MOST_SCORES && <p class="muted">and {plural(tier.scores.length - MOST_SCORES, "more HyperNode")}</p>}
    </div>
  );
}

function Tier({ tier, picture }: { tier: StoryTier; picture: Picture }) {
  const parts = [`${count(tier.open.length)} open`];
  if (tier.failed.length) parts.push(`${count(tier.failed.length)} tried and too small`);
  return (
    <li>
      <p><b>tier {tier.tier}</b>: {parts.join(", ")}{tier.chosen && <> · chosen <GoTo name={tier.chosen} picture={picture} /></>}</p>
      {tier.ruledOut.map((out) => <p class="facts">{count(out.hyperNodes.length)} ruled out: {out.reason}</p>)}
      <Scores tier={tier} picture={picture} />
    </li>
  );
}

export function Search({ story, picture, title }: { story: Story; picture: Picture; title?: string }) {
  const searches = (story.searches ?? []).filter((search) => search.tiers.length);
  if (!searches.length) return null;
  return (
    <>
      {title && <h2>{title}</h2>}
      {searches.slice(0, 6).map((search) => (
        <>
          {search.subJob && <p class="facts">part {shortName(search.subJob, 40)}</p>}
          <ul class="plain">{search.tiers.map((tier) => <Tier tier={tier} picture={picture} />)}</ul>
        </>
      ))}
    </>
  );
}

// Who would be evicted so that it can start, or was, and for whom this job goes.
export function Victims({ plans, title, picture }: { plans: Eviction[] | undefined; title: string; picture: Picture }) {
  if (!plans?.length) return null;
  return (
    <>
      <h2>{title}</h2>
      {plans.map((plan) => (
        <div>
          <p>{plan.action}{plan.hyperNode && <> in <GoTo name={plan.hyperNode} picture={picture} /></>}, for {shortName(jobOfPodGroup(picture, plan.job), 40)}:</p>
          <ul class="plain">
            {plan.victims.map((victim) => (
              <li>{shortName(jobOfPodGroup(picture, victim.job), 40)} <span class="muted">{plural(victim.pods.length, "pod")}
                {victim.unit === "gang" ? ", the whole gang" : " beyond its minimum"}, priority {victim.priority}, queue {shortName(victim.queue, 24)}</span></li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

// Everything but the first sentence.
export function StoryBody({ story, picture }: { story: Story; picture: Picture }) {
  const { replay } = story;
  return (
    <>
      {story.state === "failed" && <p class="bad">The story could not be found out: {story.problem}</p>}
      {story.notes?.map((note) => <p class="facts">{note}</p>)}
      {story.line && <p class="facts">number {story.line.position} of {plural(story.line.waiting, "waiting job")} of queue {shortName(story.line.queue, 30)}</p>}
      <Changes story={story} />
      <Misses story={story} picture={picture} />
      <Victims plans={story.evictions} title="Pods that go for it" picture={picture} />
      <Victims plans={story.evictedFor} title="It goes for others" picture={picture} />
      <Search story={story} picture={picture} title="Search" />
      {replay && (
        <>
          <h2>Why there</h2>
          <p class="facts">{story.agrees ? "Told by deciding again: it decides the same." : `The cluster has changed since. Decided again now, it would go to ${replay.allocatedHyperNode || "other nodes"}.`}</p>
          <Search story={replay} picture={picture} />
        </>
      )}
    </>
  );
}
