// The map: two canvases that follow the picture, and what the mouse does on them.
import { useEffect, useRef, useState } from "preact/hooks";
import { app, useApp } from "./app";
import { findJob, type Picture } from "./fold";
import { plural, shortName } from "./formats";
import { hit, layoutMap, type Layout } from "./layout";
import { gpusText, paintCells, paintNames, type Marks } from "./painter";
import { currentTheme } from "./theme";

export function positionOf(names: string[], name: string): number {
  return name === "" ? -1 : names.indexOf(name);
}

// The HyperNodes that have room for `pods` pods, without those that have one of them inside.
export function lowestThatHold(picture: Picture, fits: readonly number[], pods: number): Set<number> {
  const { parent } = picture.hyperNodes;
  const holds = new Set<number>();
  fits.forEach((room, h) => room >= pods && holds.add(h));
  for (const h of [...holds]) for (let above = parent[h]!; above >= 0; above = parent[above]!) holds.delete(above);
  return holds;
}

// What is outlined: the miss of the job that is pointed at, else of the chosen one; what holds a gang in view "fit".
export function marksOf(picture: Picture): Marks {
  const { route, hover, fit } = app;
  const chosen = findJob(picture, route.job);
  const looked = hover >= 0 ? hover : chosen;
  const misses = looked >= 0 ? (picture.jobs.nearest[looked] ?? []).map((miss) => miss.hyperNode) : [];
  const asks = route.view === "fit" && fit?.epoch === picture.epoch ? fit : undefined;
  const fits = asks ? asks.pods : picture.hyperNodes.fits;
  const holds = asks && route.pods > 0 ? lowestThatHold(picture, fits, route.pods) : new Set<number>();
  return {
    job: looked >= 0 && picture.jobs.name[looked] ? looked : -1, node: positionOf(picture.nodes.name, route.node),
    focus: app.focus, focusNode: app.focusNode, misses, holds, fits, ghosts: app.ghosts,
    other: app.route.than && app.other?.cells.length === picture.cells.length ? app.other : undefined, freeOnly: app.freeOnly,
  };
}

// The width of the longest name of a node, within reason.
function widthOfNames(picture: Picture): number {
  let longest = 0;
  for (const name of picture.nodes.name) longest = Math.max(longest, name.length);
  return Math.min(200, Math.max(40, longest * 7.5 + 16));
}

function draw(cells: HTMLCanvasElement, names: HTMLCanvasElement, layout: Layout, picture: Picture): void {
  const started = performance.now();
  const ratio = Math.min(3, Math.max(1, window.devicePixelRatio));
  const width = Math.ceil(layout.width * ratio);
  const height = Math.ceil(layout.height * ratio);
  for (const canvas of [cells, names]) {
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    canvas.style.width = `${layout.width}px`;
    canvas.style.height = `${layout.height}px`;
  }
  const below = cells.getContext("2d");
  const above = names.getContext("2d");
  if (!below || !above) {
    app.asTable = true;
    return;
  }
  const theme = currentTheme();
  const marks = marksOf(picture);
  const image = below.createImageData(width, height);
  paintCells(new Uint32Array(image.data.buffer), width, ratio, layout, picture, theme, marks);
  below.putImageData(image, 0, 0);
  above.setTransform(ratio, 0, 0, ratio, 0, 0);
  above.clearRect(0, 0, layout.width, layout.height);
  paintNames(above, layout, picture, theme, marks);
  app.level = layout.scale.level;
  app.painted = performance.now() - started;
  if (!performance.getEntriesByName("strata-painted").length) performance.mark("strata-painted");
}

const STATES = ["free", "used", "shared", "held until its pod is gone", "out of service"];

// What the mouse is at, in words.
function wordsAt(picture: Picture, layout: Layout, x: number, y: number): string[] {
  const found = hit(layout, picture, x, y);
  if (!found) return [];
  const lines: string[] = [];
  if (found.node >= 0) {
    lines.push(shortName(picture.nodes.name[found.node]!, 60));
    const note = picture.nodes.note[found.node];
    if (note) lines.push(note);
    if (found.cell >= 0) {
      const gpu = found.cell - picture.firstCell[found.node]!;
      const holder = picture.holders[found.cell]!;
      const by = holder >= 0 ? ` by ${shortName(`${picture.jobs.namespace[holder]}/${picture.jobs.name[holder]}`, 60)}` : holder === -2 ? " by a hidden job" : "";
      lines.push(`GPU ${gpu}: ${STATES[picture.cells[found.cell]!]}${by}`);
    }
  }
  if (found.hyperNode >= 0) {
    const name = shortName(picture.hyperNodes.name[found.hyperNode]!, 60);
    const reason = picture.hyperNodes.reason[found.hyperNode];
    lines.push(`${name}, tier ${picture.hyperNodes.tier[found.hyperNode]}: ${gpusText(picture, found.hyperNode)}`);
    lines.push(reason ?? `${plural(picture.hyperNodes.fits[found.hyperNode] ?? 0, "pod")} would fit`);
  }
  return lines;
}

// A click chooses the node, or goes into the HyperNode where nodes are too small to be chosen.
function choose(picture: Picture, layout: Layout, x: number, y: number): void {
  const found = hit(layout, picture, x, y);
  if (!found) return;
  const name = found.hyperNode >= 0 ? picture.hyperNodes.name[found.hyperNode]! : "";
  if (found.node >= 0 && layout.scale.level === "named") app.go({ node: picture.nodes.name[found.node]! });
  else if (name) app.go({ at: name, node: "" });
}

interface Tip {
  x: number;
  y: number;
  lines: string[];
}

export function ClusterMap() {
  const { picture, route } = useApp();
  const box = useRef<HTMLDivElement>(null);
  const cells = useRef<HTMLCanvasElement>(null);
  const names = useRef<HTMLCanvasElement>(null);
  const layout = useRef<Layout | undefined>(undefined);
  const [size, setSize] = useState<[number, number]>([0, 0]);
  const [tip, setTip] = useState<Tip>();
  useEffect(() => {
    const watch = new ResizeObserver(() => box.current && setSize([box.current.clientWidth, box.current.clientHeight]));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const at = picture ? positionOf(picture.hyperNodes.name, route.at) : -1;
  useEffect(() => {
    if (!picture || size[0] === 0) return;
    layout.current = layoutMap(picture, at, size[0] - 24, Math.max(240, size[1] - 24), widthOfNames(picture));
    draw(cells.current!, names.current!, layout.current, picture);
  });
  const place = (event: MouseEvent): [number, number] => {
    const corner = names.current!.getBoundingClientRect();
    return [event.clientX - corner.left, event.clientY - corner.top];
  };
  const move = (event: MouseEvent) => {
    if (!picture || !layout.current) return;
    const lines = wordsAt(picture, layout.current, ...place(event));
    setTip(lines.length ? { x: event.clientX, y: event.clientY, lines } : undefined);
  };
  return (
    <div class="map" ref={box} onMouseMove={move} onMouseLeave={() => setTip(undefined)}
      onClick={(event) => picture && layout.current && choose(picture, layout.current, ...place(event))}>
      <div class="layers" aria-hidden="true">
        <canvas ref={cells} />
        <canvas ref={names} class="above" />
      </div>
      {tip && <TipBox tip={tip} />}
    </div>
  );
}

function TipBox({ tip }: { tip: Tip }) {
  const left = Math.max(8, Math.min(tip.x + 14, innerWidth - 340));
  const top = Math.min(tip.y + 14, innerHeight - 24 - 20 * tip.lines.length);
  return (
    <div class="tip" aria-hidden="true" style={{ left: `${left}px`, top: `${top}px` }}>
      {tip.lines.map((line) => <div>{line}</div>)}
    </div>
  );
}
