// The panel beside the map: the cluster, or the HyperNode that is open, at a glance.
import { useApp } from "./app";
import { countStates, FREE, HELD, OFF, SHARED, totals, USED, waitingJobs, type Picture } from "./fold";
import { count, plural, shortName } from "./formats";
import { positionOf } from "./map";
import { linkTo } from "./router";

const STATES: [number, string, string][] = [
  [USED, "used", "used"], [SHARED, "shared", "shared by pods"], [FREE, "free", "free"],
  [HELD, "held", "held until a pod is gone"], [OFF, "off", "out of service"],
];

function States({ picture }: { picture: Picture }) {
  const counts = countStates(picture);
  const all = picture.cells.length;
  if (!all) return <p class="muted">No node has GPUs: the bars show used CPUs.</p>;
  return (
    <>
      <p class="big"><b>{count(all - counts[FREE]! - counts[OFF]!)}</b> of {plural(all, "GPU")} used</p>
      <div class="states" aria-hidden="true">
        {STATES.map(([state, name]) => counts[state]! > 0 &&
          <span class={`state ${name}`} style={{ flexGrow: counts[state] }} />)}
      </div>
      <ul class="plain legend">
        {STATES.map(([state, name, words]) => (counts[state]! > 0 || state === USED || state === FREE) &&
          <li><i class={`state ${name}`} aria-hidden="true" /> {count(counts[state]!)} {words}</li>)}
      </ul>
    </>
  );
}

function Tiers({ picture }: { picture: Picture }) {
  const { route } = useApp();
  const { tiers, pod } = picture.fit;
  if (!tiers.length) return null;
  const shape = Object.entries(pod).map(([name, value]) => `${value} ${name === "nvidia.com/gpu" ? "GPUs" : name}`).join(", ");
  return (
    <>
      <h2>Largest gang that fits now</h2>
      <p class="muted">pods of {shape || "nothing"} · <a href={linkTo(route, { view: "fit" })}>another shape</a></p>
      <table>
        <tbody>
          {tiers.map((tier, i) => {
            const whole = i === tiers.length - 1;
            return (
              <tr>
                <td>{whole ? "anywhere" : `tier ${tier.tier}${tier.tierName ? ` · ${tier.tierName}` : ""}`}</td>
                <td class="number"><b>{count(tier.pods)}</b> {tier.pods === 1 ? "pod" : "pods"}</td>
                <td>{whole ? "" : <a href={linkTo(route, { at: tier.hyperNode, node: "" })}>{shortName(tier.hyperNode, 24)}</a>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

function Reasons({ picture }: { picture: Picture }) {
  const { route } = useApp();
  const waiting = waitingJobs(picture);
  const counts = new Map<string, number>();
  for (const job of waiting) {
    const why = picture.jobs.reason[job] || picture.jobs.phase[job]!;
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return (
    <>
      <h2>{plural(waiting.length, "job")} waiting</h2>
      {waiting.length === 0 && <p class="muted">No job waits.</p>}
      <ul class="plain">
        {[...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 8).map(([why, jobs]) => (
          <li><a href={linkTo(route, { view: "waiting", find: picture.jobs.reason.includes(why) ? `reason:${why}` : `phase:${why}` })}>
            {shortName(why, 44)}</a> <span class="muted">{plural(jobs, "job")}</span></li>
        ))}
      </ul>
    </>
  );
}

const MOST = 12;

function Troubles({ picture }: { picture: Picture }) {
  const { route } = useApp();
  const hyperNodes = Object.entries(picture.hyperNodes.reason);
  const nodes = Object.entries(picture.nodes.note);
  if (hyperNodes.length + nodes.length === 0) return null;
  return (
    <>
      <h2>Needs a look</h2>
      <ul class="plain">
        {hyperNodes.slice(0, MOST).map(([h, reason]) => {
          const name = picture.hyperNodes.name[Number(h)]!;
          return <li><a href={linkTo(route, { at: name })}>{shortName(name, 30)}</a> <span class="bad">{reason}</span></li>;
        })}
        {nodes.slice(0, MOST).map(([node, note]) => {
          const name = picture.nodes.name[Number(node)]!;
          return <li><a href={linkTo(route, { node: name })}>{shortName(name, 30)}</a> <span class="bad">{note}</span></li>;
        })}
      </ul>
      {nodes.length > MOST && <p class="muted">and {plural(nodes.length - MOST, "more node")}</p>}
    </>
  );
}

function Inside({ picture, at }: { picture: Picture; at: number }) {
  const free = totals(picture).free[at]!;
  const all = totals(picture).all[at]!;
  const { tier, nodes, fits, reason } = picture.hyperNodes;
  return (
    <>
      <p class="big"><b>{count(all - free)}</b> of {plural(all, "GPU")} used</p>
      <p class="facts">tier {tier[at]} · {plural(nodes[at] ?? 0, "node")} · {plural(fits[at] ?? 0, "pod")} would fit</p>
      {reason[at] && <p class="bad">{reason[at]}</p>}
    </>
  );
}

export function Overview() {
  const { picture, route } = useApp();
  if (!picture) return null;
  const at = positionOf(picture.hyperNodes.name, route.at);
  return (
    <section class="panel scroll" aria-labelledby="title">
      <h1 id="title">{at >= 0 ? shortName(route.at, 60) : "The cluster"}</h1>
      {at >= 0 ? <Inside picture={picture} at={at} /> : <States picture={picture} />}
      <Tiers picture={picture} />
      <Reasons picture={picture} />
      <Troubles picture={picture} />
    </section>
  );
}
