// Draws the map: cells into one buffer of pixels, names and outlines onto a second canvas above it.
import { FREE, HELD, OFF, SHARED, totals, USED, type Picture } from "./fold";
import { count, plural, shortName } from "./formats";
import { BAR_HEIGHT, LOOSE, nodeCorner, outline, tileOf, type Layout, type Tile } from "./layout";
import { pixel, type Theme } from "./theme";
import { isChanged } from "./time";

export interface Marks {
  job: number; // chosen: its cells are strong, all others dim; -1 none
  node: number; // chosen, -1 none
  focus: number; // the HyperNode that the keyboard is at, -1 none
  focusNode: number;
  misses: number[]; // HyperNodes that came nearest for the job that is looked at
  holds: ReadonlySet<number>; // the lowest HyperNodes that hold a whole gang
  fits: readonly number[]; // how many pods fit, by HyperNode
  ghosts?: ReadonlyMap<string, number> | undefined; // pods that would go to a node, by its name
  other?: Picture | undefined; // what differs from it is hatched
  freeOnly?: boolean | undefined; // what is used is dim
}

type Fill = (x: number, y: number, w: number, h: number, colour: number) => void;

interface Colours {
  free: number;
  used: number;
  held: number;
  off: number;
  chosen: number;
  tile: number;
}

function coloursOf(theme: Theme, dim: boolean): Colours {
  return {
    free: pixel(dim ? theme.dimFree : theme.free),
    used: pixel(dim ? theme.dimUsed : theme.used),
    held: pixel(theme.held),
    off: pixel(theme.off),
    chosen: pixel(theme.chosen),
    tile: pixel(theme.tile),
  };
}

function filler(pixels: Uint32Array, width: number, ratio: number): Fill {
  const height = pixels.length / width;
  return (x, y, w, h, colour) => {
    const left = Math.max(0, Math.round(x * ratio));
    const right = Math.min(width, Math.round((x + w) * ratio));
    const bottom = Math.min(height, Math.round((y + h) * ratio));
    for (let row = Math.max(0, Math.round(y * ratio)); row < bottom; ++row) {
      pixels.fill(colour, row * width + left, row * width + right);
    }
  };
}

// Lines of one direction through a cell; both directions make crosses. No meaning is by colour alone.
function hatch(fill: Fill, x: number, y: number, w: number, h: number, colour: number, crossed: boolean): void {
  for (let dy = 0; dy < h; ++dy) {
    for (let dx = 0; dx < w; ++dx) {
      if ((dx + dy) % 4 < 2 || (crossed && (dx - dy + 400) % 4 < 2)) fill(x + dx, y + dy, 1, 1, colour);
    }
  }
}

// The cells of all nodes, into `pixels`, which is `width` pixels wide at `ratio` pixels to the unit of the layout.
export function paintCells(
  pixels: Uint32Array, width: number, ratio: number, layout: Layout, picture: Picture, theme: Theme, marks: Marks,
): void {
  const fill = filler(pixels, width, ratio);
  pixels.fill(pixel(theme.background));
  const colours = coloursOf(theme, marks.job >= 0 || marks.ghosts !== undefined);
  if (marks.freeOnly) Object.assign(colours, { free: pixel(theme.free), used: pixel(theme.dimUsed) });
  for (const tile of layout.tiles) {
    fill(tile.x, tile.y, tile.w, tile.h, colours.tile);
    if (layout.scale.level === "bar") paintBar(fill, tile, picture, colours);
    else paintTile(fill, layout, tile, picture, colours, marks);
  }
}

function paintTile(fill: Fill, layout: Layout, tile: Tile, picture: Picture, colours: Colours, marks: Marks): void {
  const { job, other, ghosts } = marks;
  const { cell, gap, label } = layout.scale;
  const w = cell[0] - gap[0];
  const h = cell[1] - gap[1];
  for (let node = tile.first; node < tile.first + tile.count; ++node) {
    const [x, y] = nodeCorner(layout, tile, node);
    const end = picture.firstCell[node + 1]!;
    let at = x + label;
    for (let i = picture.firstCell[node]!; i < end; ++i, at += cell[0]) {
      const mine = job >= 0 && holds(picture, i, job);
      paintCell(fill, at, y, w, h, picture, i, mine, colours);
      if (other && isChanged(picture, other, i)) hatch(fill, at, y, w, h, colours.chosen, false);
    }
    const pods = ghosts?.get(picture.nodes.name[node]!);
    if (pods) hatch(fill, x + label, y, layout.perNode * cell[0] - gap[0], h, colours.chosen, false);
    if (picture.nodes.gpus[node] === 0) paintCpus(fill, x + label, y, layout.perNode * cell[0] - gap[0], h, picture, node, colours);
  }
}

function holds(picture: Picture, cell: number, job: number): boolean {
  if (picture.holders[cell] === job) return true;
  return picture.cells[cell] === SHARED && (picture.shared[cell] ?? []).some(([holder]) => holder === job);
}

function paintCell(
  fill: Fill, x: number, y: number, w: number, h: number, picture: Picture, cell: number, mine: boolean, colours: Colours,
): void {
  const state = picture.cells[cell]!;
  if (mine && state !== OFF) fill(x, y, w, h, colours.chosen);
  else if (state === FREE) fill(x, y, w, h, colours.free);
  else if (state === USED) fill(x, y, w, h, colours.used);
  else if (state === SHARED) {
    const part = (picture.shared[cell] ?? []).reduce((sum, [, share]) => sum + share, 0);
    const high = Math.max(1, Math.round(h * Math.min(1, part)));
    fill(x, y, w, h, colours.free);
    fill(x, y + h - high, w, high, colours.used);
  } else {
    fill(x, y, w, h, state === HELD ? colours.free : colours.tile);
    hatch(fill, x, y, w, h, state === HELD ? colours.held : colours.off, state === OFF);
  }
}

// A node without GPUs: a bar of its processors.
function paintCpus(fill: Fill, x: number, y: number, w: number, h: number, picture: Picture, node: number, colours: Colours): void {
  const all = picture.nodes.allocatable["cpu"]?.[node] ?? 0;
  const used = picture.nodes.used["cpu"]?.[node] ?? 0;
  const part = all > 0 ? Math.min(1, used / all) : 0;
  fill(x, y, w, h, colours.free);
  fill(x, y, part > 0 ? Math.max(1, Math.round(w * part)) : 0, h, colours.used);
}

function paintBar(fill: Fill, tile: Tile, picture: Picture, colours: Colours): void {
  const from = picture.firstCell[tile.first]!;
  const to = picture.firstCell[tile.first + tile.count]!;
  const counts = [0, 0, 0, 0, 0];
  for (let i = from; i < to; ++i) counts[picture.cells[i]!]!++;
  const order: [number, number][] = [[counts[USED]! + counts[SHARED]!, colours.used], [counts[HELD]!, colours.held],
    [counts[FREE]!, colours.free], [counts[OFF]!, colours.off]];
  let x = tile.x + 4;
  for (const [amount, colour] of order) {
    const w = to > from ? ((tile.w - 8) * amount) / (to - from) : 0;
    fill(x, tile.y + BAR_HEIGHT - 9, w, 5, colour);
    x += w;
  }
}

// ---- names and outlines

const FONT = "system-ui, sans-serif";

function text(context: CanvasRenderingContext2D, words: string, x: number, y: number, room: number): number {
  let shown = words;
  while (shown.length > 2 && context.measureText(shown).width > room) {
    shown = shortName(words, Math.min(shown.length - 1, Math.floor((shown.length * room) / context.measureText(shown).width)));
  }
  if (shown.length > 2 || shown === words) context.fillText(shown, x, y);
  return context.measureText(shown).width;
}

export function gpusText(picture: Picture, hyperNode: number): string {
  const { free, all } = totals(picture);
  const total = all[hyperNode]!;
  return total ? `${count(total - free[hyperNode]!)} of ${plural(total, "GPU")} used` : "";
}

function pathOf(picture: Picture, hyperNode: number): string {
  const names: string[] = [];
  for (let h = hyperNode; h >= 0; h = picture.hyperNodes.parent[h]!) names.unshift(picture.hyperNodes.name[h]!);
  return names.join(" / ");
}

function drawSections(context: CanvasRenderingContext2D, layout: Layout, picture: Picture, theme: Theme, marks: Marks): void {
  for (const section of layout.sections) {
    const named = section.hyperNode >= 0;
    context.font = `600 13px ${FONT}`;
    context.fillStyle = theme.text;
    const title = named ? pathOf(picture, section.hyperNode) : section.hyperNode === LOOSE ? "In no HyperNode" : "Cluster";
    const end = 4 + text(context, title, 4, section.y + 15, layout.width * 0.6);
    context.font = `12px ${FONT}`;
    context.fillStyle = theme.muted;
    const facts: string[] = [];
    if (named) {
      facts.push(gpusText(picture, section.hyperNode), `${plural(marks.fits[section.hyperNode] ?? 0, "pod")} would fit`);
      const reason = picture.hyperNodes.reason[section.hyperNode];
      if (reason) facts.push(reason);
    }
    text(context, facts.filter((fact) => fact).join("  ·  "), end + 12, section.y + 15, layout.width - end - 16);
  }
}

function drawTile(context: CanvasRenderingContext2D, layout: Layout, tile: Tile, picture: Picture, theme: Theme, marks: Marks): void {
  const reason = picture.hyperNodes.reason[tile.hyperNode];
  context.strokeStyle = reason ? theme.bad : theme.line;
  context.setLineDash(reason ? [3, 3] : []);
  context.lineWidth = 1;
  context.strokeRect(tile.x + 0.5, tile.y + 0.5, tile.w - 1, tile.h - 1);
  context.setLineDash([]);
  const bar = layout.scale.level === "bar";
  if (layout.scale.head === 0 && !bar) return;
  const large = layout.scale.level === "named";
  const title = tile.hyperNode < 0 ? "no HyperNode" : picture.hyperNodes.name[tile.hyperNode]!;
  const fits = tile.hyperNode < 0 ? "" : `${marks.fits[tile.hyperNode] ?? 0}`;
  const size = large ? 13 : 10;
  const base = tile.y + (large ? 18 : 13);
  context.font = `${size}px ${FONT}`;
  context.fillStyle = marks.holds.has(tile.hyperNode) ? theme.chosen : theme.muted;
  const right = large ? `fits ${fits}` : fits;
  const wide = fits && tile.w > 60 ? context.measureText(right).width : 0;
  if (wide) context.fillText(right, tile.x + tile.w - 4 - wide, base);
  context.fillStyle = reason ? theme.bad : theme.text;
  context.font = `${large ? 600 : 500} ${size}px ${FONT}`;
  const room = tile.w - 8 - (wide ? wide + 6 : 0);
  const end = text(context, title, tile.x + 4, base, room);
  if (reason && large) text(context, reason, tile.x + 12 + end, base, room - end - 8);
}

// The jobs on a node, in the order of its GPUs.
function jobsOn(picture: Picture, node: number): string {
  const jobs: number[] = [];
  for (let i = picture.firstCell[node]!; i < picture.firstCell[node + 1]!; ++i) {
    const held = picture.cells[i] === SHARED ? (picture.shared[i] ?? []).map(([job]) => job) : [picture.holders[i]!];
    for (const job of held) if (job >= 0 && !jobs.includes(job)) jobs.push(job);
  }
  return jobs.map((job) => picture.jobs.name[job]).join(", ");
}

// Names of nodes, the numbers of their GPUs, and what is on them.
function drawNodes(context: CanvasRenderingContext2D, layout: Layout, tile: Tile, picture: Picture, theme: Theme, marks: Marks): void {
  const { cell, gap, label, note } = layout.scale;
  const middle = (cell[1] - gap[1]) / 2 + 4;
  for (let node = tile.first; node < tile.first + tile.count; ++node) {
    const [x, y] = nodeCorner(layout, tile, node);
    context.font = `${cell[1] > 24 ? 13 : 12}px ${FONT}`;
    const trouble = picture.nodes.note[node];
    context.fillStyle = trouble ? theme.bad : theme.text;
    text(context, picture.nodes.name[node]!, x, y + middle, label - 8);
    if (note) {
      context.fillStyle = trouble ? theme.bad : theme.muted;
      text(context, trouble ?? jobsOn(picture, node), x + label + layout.perNode * cell[0] + 8, y + middle, note - 12);
    }
    context.font = `${cell[0] > 24 ? 12 : 10}px ${FONT}`;
    context.textAlign = "center";
    for (let i = picture.firstCell[node]!, gpu = 0; i < picture.firstCell[node + 1]!; ++i, ++gpu) {
      const state = picture.cells[i]!;
      if (state !== FREE && state !== USED) continue;
      const dim = marks.job >= 0;
      const mine = dim && holds(picture, i, marks.job);
      context.fillStyle = mine || (state === USED && !dim) ? theme.background : theme.muted;
      context.fillText(String(gpu), x + label + gpu * cell[0] + (cell[0] - gap[0]) / 2, y + middle);
    }
    context.textAlign = "left";
  }
}

function frame(context: CanvasRenderingContext2D, box: readonly number[] | undefined, colour: string, dash: number[], line: number): void {
  if (!box) return;
  context.strokeStyle = colour;
  context.lineWidth = line;
  context.setLineDash(dash);
  context.strokeRect(box[0]! + line / 2, box[1]! + line / 2, box[2]! - line, box[3]! - line);
  context.setLineDash([]);
}

function nodeBox(layout: Layout, node: number): readonly number[] | undefined {
  const tile = node >= 0 && layout.scale.level !== "bar" ? tileOf(layout, node) : undefined;
  if (!tile) return undefined;
  const [x, y] = nodeCorner(layout, tile, node);
  const { cell, gap, label } = layout.scale;
  return [x - 3, y - 2, label + layout.perNode * cell[0] - gap[0] + 6, cell[1] - gap[1] + 4];
}

export function paintNames(context: CanvasRenderingContext2D, layout: Layout, picture: Picture, theme: Theme, marks: Marks): void {
  context.textBaseline = "alphabetic";
  drawSections(context, layout, picture, theme, marks);
  for (const tile of layout.tiles) {
    drawTile(context, layout, tile, picture, theme, marks);
    if (layout.scale.level === "named") drawNodes(context, layout, tile, picture, theme, marks);
  }
  for (const hyperNode of marks.holds) frame(context, outline(layout, picture, hyperNode), theme.chosen, [], 2);
  for (const miss of marks.misses) frame(context, outline(layout, picture, miss), theme.held, [6, 3], 2);
  if (marks.node >= 0) frame(context, nodeBox(layout, marks.node), theme.chosen, [], 2);
  if (marks.focus >= 0) frame(context, outline(layout, picture, marks.focus), theme.text, [], 2);
  if (marks.focusNode >= 0) frame(context, nodeBox(layout, marks.focusNode), theme.text, [], 2);
}
