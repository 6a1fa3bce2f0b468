// One node: its GPUs, how they are linked, and what runs on it.
import type { NodeDetail, NodeGpu } from "./api";
import { useApp } from "./app";
import { countStates, FREE, HELD, OFF, type Picture } from "./fold";
import { amount, plural, resourceTitle, shortName } from "./formats";
import { useAnswer } from "./answer";
import { Close } from "./jobs";
import { positionOf } from "./map";
import { linkTo } from "./router";

const STATES = ["free", "used", "shared", "held", "off"];

// Links are written as "0-1 NV18+SYS".
export function linkMatrix(gpus: number, links: readonly string[]): string[][] {
  const matrix = Array.from({ length: gpus }, () => new Array<string>(gpus).fill(""));
  for (const link of links) {
    const found = /^(\d+)-(\d+) (.*)$/.exec(link);
    const [a, b] = found ? [Number(found[1]), Number(found[2])] : [-1, -1];
    if (!found || !matrix[a] || !matrix[b]) continue;
    matrix[a]![b] = found[3]!;
    matrix[b]![a] = found[3]!;
  }
  return matrix;
}

function Links({ picture, node }: { picture: Picture; node: number }) {
  const shape = picture.linkShapes[picture.nodes.links[node]!];
  if (!shape || !shape.links.length) return null;
  const matrix = linkMatrix(shape.gpus, shape.links);
  return (
    <>
      <h2>Links</h2>
      <div class="wide" tabIndex={0} role="region" aria-label="Links between the GPUs">
        <table class="links">
          <thead><tr><th scope="col">GPU</th>{matrix.map((_, gpu) => <th scope="col">{gpu}</th>)}</tr></thead>
          <tbody>
            {matrix.map((row, gpu) => (
              <tr><th scope="row">{gpu}</th>{row.map((link, other) => <td>{other === gpu ? "·" : link || "-"}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Gpus({ picture, node, gpus }: { picture: Picture; node: number; gpus: NodeGpu[] | undefined }) {
  const { route } = useApp();
  const from = picture.firstCell[node]!;
  const rows = Array.from({ length: picture.nodes.gpus[node]! }, (_, gpu) => from + gpu);
  if (!rows.length) return null;
  return (
    <table>
      <thead><tr><th>GPU</th><th>state</th><th>job</th><th>id</th></tr></thead>
      <tbody>
        {rows.map((cell, gpu) => {
          const holder = picture.holders[cell]!;
          const key = holder >= 0 ? `${picture.jobs.namespace[holder]}/${picture.jobs.name[holder]}` : "";
          const uuid = gpus?.[gpu]?.uuid ?? "";
          return (
            <tr>
              <td>{gpu}</td>
              <td class={picture.cells[cell] === OFF || picture.cells[cell] === HELD ? "bad" : ""}>{STATES[picture.cells[cell]!]}</td>
              <td>{key ? <a href={linkTo(route, { job: key, node: "" })} title={key}>{shortName(key, 28)}</a> : "-"}</td>
              <td class="muted" title={uuid}>{shortName(uuid, 14) || "-"}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function NodePanel() {
  const { picture, route } = useApp();
  const node = picture ? positionOf(picture.nodes.name, route.node) : -1;
  const from = node >= 0 ? picture!.firstCell[node]! : 0;
  const to = node >= 0 ? picture!.firstCell[node + 1]! : 0;
  const held = node >= 0 ? picture!.holders.slice(from, to).join() : "";
  const detail = useAnswer<NodeDetail>(node >= 0 ? `nodes/${encodeURIComponent(route.node)}` : "", held);
  if (!picture) return null;
  const nodes = picture.nodes;
  const leaf = node >= 0 ? nodes.leaf[node]! : -1;
  const states = countStates(picture, from, to);
  const facts = node >= 0 ? Object.keys(nodes.allocatable).filter((r) => nodes.allocatable[r]![node]) : [];
  const pods = typeof detail === "object" ? detail.pods ?? [] : [];
  return (
    <section class="panel scroll" aria-labelledby="title">
      <Close what={{ node: "" }} />
      <h1 id="title">{shortName(route.node, 80)}</h1>
      {node < 0 ? <p class="empty">There is no such node now.</p> : (
        <>
          <p class="facts">
            {leaf >= 0 ? <>in <a href={linkTo(route, { at: picture.hyperNodes.name[leaf]! })}>{shortName(picture.hyperNodes.name[leaf]!, 40)}</a></>
              : "in no HyperNode"}
            {to > from ? ` · ${states[FREE]} of ${plural(to - from, "GPU")} free` : " · no GPUs"}
          </p>
          {nodes.note[node] && <p class="bad">{nodes.note[node]}</p>}
          <Gpus picture={picture} node={node} gpus={typeof detail === "object" ? detail.gpus : undefined} />
          <Links picture={picture} node={node} />
          <h2>Resources</h2>
          <table>
            <thead><tr><th>resource</th><th class="number">used</th><th class="number">of</th></tr></thead>
            <tbody>
              {facts.map((resource) => (
                <tr><td>{resourceTitle(resource)}</td>
                  <td class="number">{amount(resource, nodes.used[resource]?.[node] ?? 0)}</td>
                  <td class="number">{amount(resource, nodes.allocatable[resource]![node]!)}</td></tr>
              ))}
            </tbody>
          </table>
          <h2>Pods</h2>
          {typeof detail === "string" && <p class="bad">Cannot read its pods: {detail}</p>}
          {typeof detail === "object" && !pods.length && <p class="muted">No pods.</p>}
          <ul class="plain">
            {pods.map((pod) => <li>{shortName(pod.namespace ? `${pod.namespace}/${pod.name}` : pod.name, 60)} {pod.phase ?? ""}</li>)}
          </ul>
        </>
      )}
    </section>
  );
}
