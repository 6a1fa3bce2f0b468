// Where everything is on the map: arithmetic, and its inverse. Pure.
//
// A tile is a HyperNode with nodes of its own; a section holds the tiles that have the same parent. Order is that of the
// tree, and every GPU has the same size, so a tile keeps its place whatever runs in it.
import type { Picture } from "./fold";

export type Level = "named" | "rows" | "bar";

export interface Scale {
  level: Level;
  cell: [number, number]; // one GPU, with the gap to the next
  gap: [number, number]; // of which this is the gap
  head: number; // height of a tile's title
  label: number; // width of the names of nodes
  note: number; // width of what is said of a node behind its GPUs
  space: number; // between tiles
}

export interface Tile {
  hyperNode: number; // -1: nodes in no HyperNode
  first: number; // the first of its nodes
  count: number; // its nodes, which follow each other
  lines: number; // nodes below each other before the next column begins
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Section {
  hyperNode: number; // the parent of its tiles; -1: none, LOOSE: its nodes are in no HyperNode
  y: number;
  h: number;
}

export interface Layout {
  scale: Scale;
  perNode: number; // cells that a node has room for
  sections: Section[];
  tiles: Tile[];
  width: number;
  height: number;
}

export interface Hit {
  hyperNode: number;
  node: number; // -1: none here
  cell: number; // position among all GPUs, -1: none here
}

export const LOOSE = -2;
const PAD = 4;
const SECTION_HEAD = 22;
const COLUMN_GAP = 12; // between columns of nodes in one tile
export const BAR_HEIGHT = 26;
const BAR_WIDTH = 92;

function rows(w: number, h: number, head: number): Scale {
  return { level: "rows", cell: [w, h], gap: [w > 3 ? 1 : 0, h > 2 ? 1 : 0], head, label: 0, note: 0, space: head ? 6 : 2 };
}

function named(w: number, h: number, gap: [number, number], head: number, note: number): Scale {
  return { level: "named", cell: [w, h], gap, head, label: 0, note, space: 10 };
}

// From the largest to the smallest.
export const SCALES: readonly Scale[] = [
  named(40, 34, [4, 6], 30, 170), named(32, 28, [4, 5], 28, 160), named(26, 24, [3, 4], 26, 140),
  named(22, 22, [3, 4], 24, 0), named(18, 18, [2, 3], 22, 0),
  rows(28, 22, 17), rows(24, 20, 17), rows(22, 16, 16), rows(20, 13, 16), rows(17, 11, 16), rows(14, 10, 15), rows(12, 8, 15), rows(10, 8, 15), rows(8, 6, 15), rows(7, 5, 15),
  rows(6, 4, 15), rows(6, 3, 15), rows(5, 3, 0), rows(4, 2, 0),
  { level: "bar", cell: [1, 1], gap: [0, 0], head: 0, label: 0, note: 0, space: 6 },
];

// The tiles of the tree below `at` (-1: of all), without places.
export function leavesBelow(picture: Picture, at: number): Leaf[] {
  const { parent } = picture.hyperNodes;
  const inside = new Uint8Array(parent.length);
  for (let h = 0; h < parent.length; ++h) {
    if (at < 0 || h === at || (parent[h]! >= 0 && inside[parent[h]!])) inside[h] = 1;
  }
  const found: Leaf[] = [];
  const { leaf } = picture.nodes;
  for (let node = 0; node < leaf.length; ) {
    const first = node;
    while (node < leaf.length && leaf[node] === leaf[first]) ++node;
    if (leaf[first]! < 0 ? at < 0 : inside[leaf[first]!]) found.push({ hyperNode: leaf[first]!, first, count: node - first });
  }
  return found;
}

function widthOfNode(scale: Scale, perNode: number): number {
  return scale.label + perNode * scale.cell[0] + scale.note;
}

interface Leaf {
  hyperNode: number;
  first: number;
  count: number;
}

// The tiles that follow each other with the same parent.
function sectionsOf(picture: Picture, leaves: Leaf[]): { parent: number; leaves: Leaf[] }[] {
  const sections: { parent: number; leaves: Leaf[] }[] = [];
  for (const leaf of leaves) {
    const parent = leaf.hyperNode < 0 ? LOOSE : picture.hyperNodes.parent[leaf.hyperNode]!;
    const last = sections[sections.length - 1];
    if (last?.parent === parent) last.leaves.push(leaf);
    else sections.push({ parent, leaves: [leaf] });
  }
  return sections;
}

// How many tiles of width `w` stand in a line, so that the lines of a section are about as long as each other.
function tilesPerLine(tiles: number, w: number, space: number, width: number): number {
  const most = Math.max(1, Math.floor((width + space) / (w + space)));
  return Math.ceil(tiles / Math.ceil(tiles / most));
}

function place(picture: Picture, at: number, scale: Scale, perNode: number, width: number): Layout {
  const layout: Layout = { scale, perNode, sections: [], tiles: [], width, height: 0 };
  const one = widthOfNode(scale, perNode);
  let y = 0;
  for (const { parent, leaves } of sectionsOf(picture, leavesBelow(picture, at))) {
    const section = { hyperNode: parent, y, h: 0 };
    layout.sections.push(section);
    y += SECTION_HEAD;
    const sizes = leaves.map((leaf) => sizeOfTile(scale, one, leaf.count, width));
    const perLine = tilesPerLine(leaves.length, Math.max(...sizes.map((size) => size.w)), scale.space, width);
    for (let from = 0; from < leaves.length; from += perLine) {
      let x = 0;
      let high = 0;
      for (let i = from; i < Math.min(from + perLine, leaves.length); ++i) {
        layout.tiles.push({ ...leaves[i]!, ...sizes[i]!, x, y });
        x += sizes[i]!.w + scale.space;
        high = Math.max(high, sizes[i]!.h);
      }
      y += high + (from + perLine < leaves.length ? scale.space : 0);
    }
    section.h = y - section.y;
    y += 8;
  }
  layout.height = y;
  return layout;
}

// Many nodes stand in several columns, so that the tile is about as wide as it is high.
function sizeOfTile(scale: Scale, one: number, count: number, width: number): { w: number; h: number; lines: number } {
  if (scale.level === "bar") return { w: BAR_WIDTH, h: BAR_HEIGHT, lines: count };
  const most = Math.max(1, Math.floor((width - 2 * PAD + COLUMN_GAP) / (one + COLUMN_GAP)));
  const square = Math.ceil(Math.sqrt((count * scale.cell[1]) / (one + COLUMN_GAP)));
  const columns = count <= 32 && scale.level === "rows" ? 1 : Math.min(most, Math.max(1, square));
  const lines = Math.ceil(count / columns);
  const used = Math.ceil(count / lines);
  return {
    w: Math.max(40, used * one + (used - 1) * COLUMN_GAP + 2 * PAD),
    h: lines * scale.cell[1] + scale.head + 2 * PAD,
    lines,
  };
}

// The largest scale at which all of it can be seen at once; where none is small enough, the smallest that shows GPUs,
// to be scrolled, up to four heights of the view. `nameWidth` is the width of the longest name of a node.
export function layoutMap(picture: Picture, at: number, width: number, height: number, nameWidth: number): Layout {
  let perNode = 0;
  for (const gpus of picture.nodes.gpus) perNode = Math.max(perNode, gpus);
  if (perNode === 0) perNode = 8;
  let last: Layout | undefined;
  for (const scale of SCALES) {
    const labelled = scale.level === "named" ? { ...scale, label: nameWidth } : scale;
    const layout = place(picture, at, labelled, perNode, width);
    const fits = layout.tiles.every((tile) => tile.x + tile.w <= width);
    if (fits && layout.height <= height) return layout;
    // Names are worth scrolling: a HyperNode that was opened is shown with them.
    if (fits && scale.level === "named" && scale.note === 0 && at >= 0 && layout.tiles.length <= 1) return layout;
    if (scale.level === "bar" && last && last.height <= 4 * height) return last;
    last = layout;
  }
  return last!;
}

// The upper left corner of a node in its tile.
export function nodeCorner(layout: Layout, tile: Tile, node: number): [number, number] {
  const index = node - tile.first;
  const one = widthOfNode(layout.scale, layout.perNode);
  return [
    tile.x + PAD + Math.floor(index / tile.lines) * (one + COLUMN_GAP),
    tile.y + PAD + layout.scale.head + (index % tile.lines) * layout.scale.cell[1],
  ];
}

// The tile that a node is in.
export function tileOf(layout: Layout, node: number): Tile | undefined {
  return layout.tiles.find((tile) => node >= tile.first && node < tile.first + tile.count);
}

// What is at a place of the map.
export function hit(layout: Layout, picture: Picture, x: number, y: number): Hit | undefined {
  const tile = layout.tiles.find((t) => x >= t.x && x < t.x + t.w && y >= t.y && y < t.y + t.h);
  if (!tile) {
    const section = layout.sections.find((s) => y >= s.y && y < s.y + SECTION_HEAD);
    return section && section.hyperNode >= 0 ? { hyperNode: section.hyperNode, node: -1, cell: -1 } : undefined;
  }
  const found: Hit = { hyperNode: tile.hyperNode, node: -1, cell: -1 };
  if (layout.scale.level === "bar") return found;
  const { cell, head, label } = layout.scale;
  const one = widthOfNode(layout.scale, layout.perNode);
  const column = Math.floor((x - tile.x - PAD) / (one + COLUMN_GAP));
  const line = Math.floor((y - tile.y - PAD - head) / cell[1]);
  const inNode = x - tile.x - PAD - column * (one + COLUMN_GAP);
  const index = column * tile.lines + line;
  if (line < 0 || line >= tile.lines || column < 0 || inNode < 0 || inNode >= one || index >= tile.count) return found;
  found.node = tile.first + index;
  const gpu = Math.floor((inNode - label) / cell[0]);
  if (gpu >= 0 && gpu < picture.nodes.gpus[found.node]!) found.cell = picture.firstCell[found.node]! + gpu;
  return found;
}

// The rectangle around all that is in a HyperNode: its tiles, or its section with the title.
export function outline(layout: Layout, picture: Picture, hyperNode: number): [number, number, number, number] | undefined {
  const { parent } = picture.hyperNodes;
  const below = (h: number): boolean => {
    for (; h >= 0; h = parent[h]!) if (h === hyperNode) return true;
    return false;
  };
  let box: [number, number, number, number] | undefined;
  const add = (x0: number, y0: number, x1: number, y1: number) => {
    box = box ? [Math.min(box[0], x0), Math.min(box[1], y0), Math.max(box[2], x1), Math.max(box[3], y1)] : [x0, y0, x1, y1];
  };
  for (const tile of layout.tiles) if (below(tile.hyperNode)) add(tile.x, tile.y, tile.x + tile.w, tile.y + tile.h);
  for (const section of layout.sections) {
    if (below(section.hyperNode)) add(0, section.y, 0, section.y + section.h);
  }
  return box && [box[0], box[1], box[2] - box[0], box[3] - box[1]];
}
