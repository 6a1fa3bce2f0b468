// How many pods of a shape would fit, by tier and in the map.
import { useEffect } from "preact/hooks";
import type { FitAnswer, Fragmentation } from "./api";
import { app, useApp } from "./app";
import { count, plural, shortName } from "./formats";
import { useAnswer } from "./answer";
import { linkTo } from "./router";

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

function Shape({ shape, pods }: { shape: string; pods: number }) {
  const values = new Map(parseShape(shape));
  return (
    <form class="shape" onSubmit={(event) => event.preventDefault()}>
      <label>pods <input type="number" min="0" max="1000000" value={pods || ""} placeholder="any"
        onInput={(event) => app.go({ pods: Math.max(0, Math.floor(Number(event.currentTarget.value) || 0)) }, true)} /></label>
      {FIELDS.map(([resource, title, hint]) => (
        <label>{title} <input value={values.get(resource) ?? ""} placeholder={hint} autocomplete="off" spellcheck={false}
          onInput={(event) => app.go({ pod: setResource(shape, resource, event.currentTarget.value.trim()) }, true)} /></label>
      ))}
    </form>
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
  const answer = useAnswer<FitAnswer>(picture ? `fit?pod=${encodeURIComponent(shape)}` : "", picture?.revision);
  const fit = typeof answer === "object" ? answer : undefined;
  useEffect(() => {
    app.fit = fit;
    app.changed();
    return () => (app.fit = undefined);
  }, [fit]);
  return (
    <section class="panel scroll" aria-labelledby="title">
      <h1 id="title">What would fit</h1>
      <p class="muted">Pods of one shape, as one gang, in the cluster as it is now. Nothing is created.</p>
      <Shape shape={shape} pods={route.pods} />
      {typeof answer === "string" && <p class="bad">{answer}</p>}
      {fit && (
        <>
          {route.pods > 0 && <p class="sentence" role="status">{answerInWords(fit, route.pods)}</p>}
          <Tiers answer={fit} pods={route.pods} />
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
    </section>
  );
}
