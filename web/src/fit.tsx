// What-if: how many pods of a shape would fit, by tier and in the map; and what the scheduler would do with a job that is
// not there. Nothing is created.
import { useEffect, useState } from "preact/hooks";
import { post, type FitAnswer, type Fragmentation, type WhatIf } from "./api";
import { app, useApp } from "./app";
import type { Picture } from "./fold";
import { count, plural, shortName } from "./formats";
import { useAnswer } from "./answer";
import { linkTo, type Route } from "./router";
import { StoryBody, WhereButton } from "./story";

// "cpu=8,nvidia.com/gpu=8" as a list of what a pod asks for.
export function parseShape(text: string): [string, string][] {
  return text.split(",").map((part) => part.trim()).filter((part) => part).map((part) => {
    const cut = part.indexOf("=");
    return cut < 0 ? [part, ""] : [part.slice(0, cut).trim(), part.slice(cut + 1).trim()];
  });
}

function shapeText(pod: Record<string, string>): string {
  return Object.entries(pod).map(([name, value]) => `${name}=${value}`).join(",");
}

function setResource(shape: string, resource: string, value: string): string {
  const parts = parseShape(shape).filter(([name]) => name !== resource);
  if (value && value !== "0") parts.push([resource, value]);
  return parts.map(([name, amount]) => `${name}=${amount}`).join(",");
}

const FIELDS: [string, string, string][] = [["nvidia.com/gpu", "GPUs", "8"], ["cpu", "CPUs", "16"], ["memory", "memory", "64Gi"]];

function Shape({ shape, route, picture }: { shape: string; route: Route; picture: Picture }) {
  const values = new Map(parseShape(shape));
  const tiers = app.hello?.tiers ?? [];
  const queues = [...new Set(picture.jobs.queue.filter((queue) => queue))].sort();
  const number = (text: string) => Math.max(0, Math.floor(Number(text) || 0));
  return (
    <form class="shape" onSubmit={(event) => event.preventDefault()}>
      <label>pods <input type="number" min="0" max="1000000" value={route.pods || ""} placeholder="any"
        onInput={(event) => app.go({ pods: number(event.currentTarget.value) }, true)} /></label>
      {FIELDS.map(([resource, title, hint]) => (
        <label>{title} <input value={values.get(resource) ?? ""} placeholder={hint} autocomplete="off" spellcheck={false}
          onInput={(event) => app.go({ pod: setResource(shape, resource, event.currentTarget.value.trim()) }, true)} /></label>
      ))}
      <label>topology{" "}
        <select value={route.mode} onChange={(event) => app.go({ mode: event.currentTarget.value, tier: event.currentTarget.value ? route.tier || 1 : 0 }, true)}>
          <option value="">any</option><option value="hard">hard</option><option value="soft">soft</option>
        </select>
      </label>
      <label>highest tier{" "}
        <select value={String(route.tier)} disabled={!route.mode} onChange={(event) => app.go({ tier: number(event.currentTarget.value) }, true)}>
          <option value="0">-</option>
          {tiers.map((tier) => <option value={String(tier.tier)}>{tier.tier}{tier.tierName ? ` ${tier.tierName}` : ""}</option>)}
        </select>
      </label>
      <label>queue <input list="queues" value={route.queue} placeholder="default" autocomplete="off" spellcheck={false}
        onInput={(event) => app.go({ queue: event.currentTarget.value.trim() }, true)} /></label>
      <datalist id="queues">{queues.map((queue) => <option value={queue} />)}</datalist>
      <label>same as{" "}
        <select value="" onChange={(event) => sameAs(picture, Number(event.currentTarget.value))}>
          <option value="">a job ...</option>
          {picture.jobs.name.map((name, job) => name && <option value={String(job)}>{shortName(`${picture.jobs.namespace[job]}/${name}`, 40)}</option>).slice(0, 500)}
        </select>
      </label>
    </form>
  );
}

// The pods of a job that is there, as far as its columns say them.
function sameAs(picture: Picture, job: number): void {
  const { total, gpus, queue } = picture.jobs;
  const pods = total[job] || 1;
  app.go({ pods, pod: gpus[job] ? `nvidia.com/gpu=${Math.max(1, Math.round(gpus[job]! / pods))}` : "cpu=1", queue: queue[job] ?? "" }, true);
}

// What the scheduler would do.
function Outcome({ answer, picture }: { answer: WhatIf; picture: Picture }) {
  const job = answer.jobs[answer.job];
  const pods = Object.keys(answer.binds).length;
  const later = Object.keys(answer.pipelined).length;
  const place = job?.allocatedHyperNode ? `in ${shortName(job.allocatedHyperNode, 40)} (tier ${job.tier})` : "";
  const words = job?.reason ? `It would wait (${job.reason}): ${job.message}`
    : pods ? `It would start: ${plural(pods, "pod")} ${place}.`
    : later ? `It would start once ${plural(later, "pod")} can go where others are leaving.` : "It would have no pods to place.";
  return (
    <>
      <p class="sentence" role="status">{words}</p>
      <div class="buttons"><WhereButton binds={{ ...answer.binds, ...answer.pipelined }} words={`${plural(pods + later, "pod")} would go`} /></div>
      {answer.story && <StoryBody story={answer.story} picture={picture} />}
    </>
  );
}

const EXAMPLE = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job ...`;

function Try({ shape, route, picture }: { shape: string; route: Route; picture: Picture }) {
  const [answer, setAnswer] = useState<{ asked: string; value: WhatIf | string }>();
  const [busy, setBusy] = useState(false);
  const [yaml, setYaml] = useState("");
  const scope = app.hello?.scope;
  const namespace = Array.isArray(scope) && scope[0] ? scope[0] : "default";
  const body = yaml.trim() ? { yaml } : {
    pods: route.pods, pod: shape, namespace, queue: route.queue || "default",
    ...(route.mode ? { mode: route.mode, ...(route.tier ? { highestTierAllowed: route.tier } : {}) } : {}),
  };
  const asked = JSON.stringify(body);
  const submit = () => {
    setBusy(true);
    post<WhatIf>("what-if", body).then((value) => setAnswer({ asked, value }),
      (error: unknown) => setAnswer({ asked, value: String((error as Error).message) })).finally(() => setBusy(false));
  };
  const mayTry = yaml.trim() !== "" || route.pods > 0;
  return (
    <>
      <h2>Try it</h2>
      <p class="muted">The scheduler's own code decides about the job in a copy of the cluster.</p>
      <details><summary>or paste the manifest of a job</summary>
        <textarea rows={8} value={yaml} placeholder={EXAMPLE} aria-label="Manifest of a job" spellcheck={false}
          onInput={(event) => setYaml(event.currentTarget.value)} />
      </details>
      <div class="buttons">
        <button type="button" class="primary" disabled={busy || !mayTry} onClick={submit}>{busy ? "trying ..." : "Try"}</button>
        {!mayTry && <span class="muted">say how many pods</span>}
      </div>
      {answer && answer.asked === asked && (typeof answer.value === "string" ? <p class="bad" role="alert">{answer.value}</p>
        : <Outcome answer={answer.value} picture={picture} />)}
    </>
  );
}

function Tiers({ answer, pods }: { answer: FitAnswer; pods: number }) {
  const { route } = useApp();
  const most = Math.max(1, pods, ...answer.tiers.map((tier) => tier.pods));
  return (
    <table class="tiers">
      <thead><tr><th>tier</th><th>most room in</th><th class="number">pods</th><th><span class="hidden">share</span></th></tr></thead>
      <tbody>
        {answer.tiers.map((tier, i) => {
          const whole = i === answer.tiers.length - 1;
          return (
            <tr>
              <td>{whole ? "any" : `${tier.tier} ${tier.tierName}`}</td>
              <td>{whole ? "the cluster" : <a href={linkTo(route, { at: tier.hyperNode, node: "" })}>{shortName(tier.hyperNode, 24)}</a>}</td>
              <td class="number"><b>{count(tier.pods)}</b></td>
              <td class="grow"><span class="bar" aria-hidden="true">
                <span class={pods > 0 && tier.pods < pods ? "fill short" : "fill"} style={{ width: `${(100 * tier.pods) / most}%` }} />
                {pods > 0 && <span class="mark capability" style={{ left: `${(100 * pods) / most}%` }} />}
              </span></td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

// How many gangs of these pods could start now, each in one HyperNode.
function Gangs({ fragmentation }: { fragmentation: Fragmentation }) {
  const { tiers } = fragmentation;
  if (tiers.length < 2) return null;
  const sizes = Object.keys(tiers[0]!.placeable);
  return (
    <>
      <h2>Gangs that could start</h2>
      <p class="muted">each in one HyperNode, by the number of their pods</p>
      <table class="gangs">
        <thead><tr><th>tier</th>{sizes.map((size) => <th class="number">{size}</th>)}</tr></thead>
        <tbody>
          {tiers.map((tier, i) => (
            <tr>
              <td>{i === tiers.length - 1 ? "any" : `${tier.tier} ${tier.tierName}`}</td>
              {sizes.map((size) => <td class="number">{count(tier.placeable[size] ?? 0)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function answerInWords(answer: FitAnswer, pods: number): string {
  const tier = answer.tiers.find((fit) => fit.pods >= pods);
  if (!tier) return `${plural(pods, "pod")} of this shape do not fit now.`;
  const whole = tier === answer.tiers[answer.tiers.length - 1];
  return whole ? `${plural(pods, "pod")} fit, but in no single HyperNode.`
    : `${plural(pods, "pod")} fit in one HyperNode of tier ${tier.tier}, such as ${tier.hyperNode}.`;
}

export function FitPanel() {
  const { picture, route } = useApp();
  const shape = route.pod || shapeText(picture?.fit.pod ?? {});
  const answer = useAnswer<FitAnswer>(picture && !route.t ? `fit?pod=${encodeURIComponent(shape)}` : "", picture?.revision);
  const fit = typeof answer === "object" ? answer : undefined;
  useEffect(() => {
    app.fit = fit;
    app.changed();
    return () => (app.fit = undefined);
  }, [fit]);
  return (
    <section class="panel scroll" aria-labelledby="title">
      <h1 id="title">What if</h1>
      <p class="muted">Pods of one shape, as one gang, in the cluster as it is now. Nothing is created.</p>
      {picture && <Shape shape={shape} route={route} picture={picture} />}
      {typeof answer === "string" && <p class="bad">{answer}</p>}
      {fit && (
        <>
          {route.pods > 0 && <p class="sentence" role="status">{answerInWords(fit, route.pods)}</p>}
          <Tiers answer={fit} pods={route.pods} />
          <h2>Fragmentation</h2>
          <dl>
            <div><dt>whole nodes free</dt><dd>{count(fit.wholeNodes)}</dd></div>
            <div><dt>GPUs free on partly used nodes</dt><dd>{count(fit.stranded)}</dd></div>
            <div><dt>pods, if free GPUs were packed</dt><dd>{count(fit.packed)}</dd></div>
            {fit.fragmentation.typicalPods > 0 &&
              <div><dt>idle GPUs that pods like the last ones cannot use</dt><dd>{fit.fragmentation.fgd.toFixed(1)}</dd></div>}
          </dl>
          <Gangs fragmentation={fit.fragmentation} />
          <p class="muted">The same: <code>strata topology --pod {shape}</code></p>
        </>
      )}
      {picture && !route.t && <Try shape={shape} route={route} picture={picture} />}
    </section>
  );
}
