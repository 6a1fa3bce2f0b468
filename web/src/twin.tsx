// The table twin of the map: an ARIA treegrid of the level that is open. The keyboard moves in it, the map follows.
import { useEffect, useRef, useState } from "preact/hooks";
import { app, useApp } from "./app";
import { countStates, FREE, totals, type Picture } from "./fold";
import { count, shortName } from "./formats";
import { marksOf, positionOf } from "./map";

interface Line {
  hyperNode: number; // -1: a node
  node: number;
  name: string;
  tier: string;
  used: string;
  free: string;
  fits: string;
  note: string;
}

function lineOfHyperNode(picture: Picture, h: number, fits: readonly number[]): Line {
  const free = totals(picture).free[h]!;
  const all = totals(picture).all[h]!;
  const { name, tier, reason } = picture.hyperNodes;
  return {
    hyperNode: h, node: -1, name: name[h]!, tier: String(tier[h]), used: count(all - free), free: count(free),
    fits: count(fits[h] ?? 0), note: reason[h] ?? "",
  };
}

function lineOfNode(picture: Picture, node: number): Line {
  const states = countStates(picture, picture.firstCell[node], picture.firstCell[node + 1]);
  const gpus = picture.nodes.gpus[node]!;
  const cpus = picture.nodes.used["cpu"]?.[node] ?? 0;
  const also = picture.nodes.also[node]?.map((h) => picture.hyperNodes.name[h]).join(", ");
  const notes = [picture.nodes.note[node] ?? "", also ? `also in ${also}` : ""];
  return {
    hyperNode: -1, node, name: picture.nodes.name[node]!, tier: "node",
    used: gpus ? count(gpus - states[FREE]!) : `${count(Math.round(cpus * 10) / 10)} CPUs`, free: gpus ? count(states[FREE]!) : "-",
    fits: "-", note: notes.filter((note) => note).join("; "),
  };
}

// What is directly in `at` (-1: in the cluster): HyperNodes first, then nodes.
export function linesOf(picture: Picture, at: number): Line[] {
  const { fits } = marksOf(picture);
  const lines: Line[] = [];
  picture.hyperNodes.parent.forEach((parent, h) => parent === at && lines.push(lineOfHyperNode(picture, h, fits)));
  picture.nodes.leaf.forEach((leaf, node) => leaf === at && lines.push(lineOfNode(picture, node)));
  return lines;
}

const WINDOW = 60; // rows in the document
const ROW = 28; // their height

function enter(line: Line): void {
  if (line.hyperNode >= 0) app.go({ at: line.name, node: "" });
  else app.go({ node: line.name });
}

// Out of the HyperNode that is open.
export function goOut(): void {
  const { picture, route } = app;
  if (!picture || route.at === "") return;
  const parent = picture.hyperNodes.parent[positionOf(picture.hyperNodes.name, route.at)] ?? -1;
  app.go({ at: parent >= 0 ? picture.hyperNodes.name[parent]! : "", node: "" });
}

function setFocus(line: Line | undefined): void {
  app.focus = line?.hyperNode ?? -1;
  app.focusNode = line?.node ?? -1;
  app.changed();
}

// What the keyboard has asked for and the next drawings fulfil.
interface Wish {
  focus: boolean; // the row that is chosen gets the focus
  from: string; // once this level is left; "-": at once
  back: string; // the name of the row to be at then, "" the first
}

export function Twin() {
  const { picture, route, asTable } = useApp();
  const [state, setState] = useState({ at: route.at, row: 0 });
  const body = useRef<HTMLDivElement>(null);
  const wish = useRef<Wish>({ focus: false, from: "-", back: "" });
  const at = picture ? positionOf(picture.hyperNodes.name, route.at) : -1;
  const lines = picture ? linesOf(picture, at) : [];
  const came = () => Math.max(0, lines.findIndex((line) => line.name === wish.current.back));
  const now = Math.min(state.at === route.at ? state.row : came(), Math.max(0, lines.length - 1));
  const setRow = (row: number) => setState({ at: route.at, row });
  useEffect(() => {
    if (!wish.current.focus || wish.current.from === route.at) return;
    setRow(now);
    wish.current = { focus: false, from: "-", back: "" };
    setFocus(lines[now]);
    body.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  });
  const move = (to: number) => {
    wish.current = { focus: true, from: "-", back: "" };
    setRow(Math.max(0, Math.min(lines.length - 1, to)));
  };
  const into = () => {
    if (!lines[now]) return;
    if (lines[now].hyperNode >= 0) wish.current = { focus: true, from: route.at, back: "" };
    enter(lines[now]);
  };
  const out = () => {
    if (route.at) wish.current = { focus: true, from: route.at, back: route.at };
    goOut();
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(now + 1), ArrowUp: () => move(now - 1), Home: () => move(0), End: () => move(lines.length - 1),
    PageDown: () => move(now + 20), PageUp: () => move(now - 20),
    Enter: into, ArrowRight: into, ArrowLeft: out, Escape: out,
  };
  const key = (event: KeyboardEvent) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const from = Math.max(0, Math.min(now - WINDOW / 2, lines.length - WINDOW));
  const shown = lines.slice(from, from + WINDOW);
  return (
    <div class={asTable ? "twin shown" : "twin"} ref={body} role="treegrid" aria-label={`Inside ${route.at || "the cluster"}`}
      aria-rowcount={lines.length + 1} onKeyDown={key} onFocusOut={() => setFocus(undefined)}>
      <div role="row" class="line head" aria-rowindex={1}>
        {["name", "tier", "GPUs used", "free", "pods fit", "note"].map((title) => <span role="columnheader">{title}</span>)}
      </div>
      <div role="presentation" style={{ height: `${from * ROW}px` }} />
      {shown.map((line, i) => (
        <div role="row" class="line" key={line.name} aria-rowindex={from + i + 2} aria-level={1}
          tabIndex={from + i === now ? 0 : -1} aria-expanded={line.hyperNode >= 0 ? false : undefined}
          onFocus={() => { setRow(from + i); setFocus(line); }} onClick={() => enter(line)}>
          <span role="gridcell" title={line.name}>{shortName(line.name, 60)}</span>
          <span role="gridcell">{line.tier}</span>
          <span role="gridcell" class="number">{line.used}</span>
          <span role="gridcell" class="number">{line.free}</span>
          <span role="gridcell" class="number">{line.fits}</span>
          <span role="gridcell" class="bad">{line.note}</span>
        </div>
      ))}
      <div role="presentation" style={{ height: `${(lines.length - from - shown.length) * ROW}px` }} />
    </div>
  );
}
