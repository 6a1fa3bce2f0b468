import { openPicture, type Picture } from "../../../web/src/fold";
import { hit, layoutMap, nodeCorner, outline, type Layout } from "../../../web/src/layout";
import { lowestThatHold } from "../../../web/src/map";
import type { Cluster } from "../../../web/src/api";
import { holds, same, test } from "./check";
import { exampleCluster } from "./example";

// `spines` spines of `racks` racks of `nodes` nodes of 8 GPUs.
function tree(spines: number, racks: number, nodes: number): Cluster {
  const cluster = exampleCluster();
  const h: Cluster["hyperNodes"] = { name: [], tier: [], parent: [], nodes: [], fits: [], reason: {} };
  const leaf: number[] = [];
  for (let s = 0; s < spines; ++s) {
    const spine = h.name.push(`spine-${s}`) - 1;
    h.parent.push(-1);
    for (let r = 0; r < racks; ++r) {
      const rack = h.name.push(`rack-${s * racks + r}`) - 1;
      h.parent.push(spine);
      for (let n = 0; n < nodes; ++n) leaf.push(rack);
    }
  }
  const nodeCount = leaf.length;
  cluster.hyperNodes = h;
  cluster.nodes = { ...cluster.nodes, name: leaf.map((_, i) => `node-${i}`), leaf, note: {}, gpus: leaf.map(() => 8), links: leaf.map(() => -1) };
  cluster.gpus = { state: "f".repeat(nodeCount * 8), holder: [-1, nodeCount * 8], shared: {} };
  return cluster;
}

const PICTURES: [string, Picture][] = [
  ["example", openPicture(exampleCluster())], ["8 nodes", openPicture(tree(2, 2, 2))], ["960 GPUs", openPicture(tree(3, 5, 8))],
  ["40,000 GPUs", openPicture(tree(10, 20, 25))], ["one rack of 700", openPicture(tree(1, 1, 700))], ["empty", openPicture(tree(0, 0, 0))],
];
const SIZES: [number, number][] = [[848, 680], [1040, 780], [300, 400], [1900, 1000]];

function each(body: (layout: Layout, picture: Picture, what: string) => void): void {
  for (const [name, picture] of PICTURES) {
    for (const [width, height] of SIZES) body(layoutMap(picture, -1, width, height, 70), picture, `${name} in ${width}x${height}`);
  }
}

test("shows every node once, in the order of the tree", () => {
  each((layout, picture, what) => {
    same(layout.tiles.flatMap((tile) => Array.from({ length: tile.count }, (_, i) => tile.first + i)), picture.nodes.name.map((_, i) => i), what);
  });
});

test("lets no two tiles overlap", () => {
  each((layout, _, what) => {
    for (const [i, a] of layout.tiles.entries()) {
      for (const b of layout.tiles.slice(i + 1)) {
        holds(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, `${what}: ${JSON.stringify([a, b])} are apart`);
      }
    }
  });
});

test("finds every GPU at the place where it is drawn", () => {
  each((layout, picture, what) => {
    if (layout.scale.level === "bar") return;
    const { cell, gap, label } = layout.scale;
    for (const tile of layout.tiles) {
      for (let node = tile.first; node < tile.first + tile.count; ++node) {
        const [x, y] = nodeCorner(layout, tile, node);
        for (let gpu = 0; gpu < picture.nodes.gpus[node]!; ++gpu) {
          const found = hit(layout, picture, x + label + gpu * cell[0] + (cell[0] - gap[0]) / 2, y + (cell[1] - gap[1]) / 2);
          same(found, { hyperNode: tile.hyperNode, node, cell: picture.firstCell[node]! + gpu }, what);
        }
      }
    }
  });
});

test("finds nothing beside the tiles", () => {
  const picture = openPicture(exampleCluster());
  const layout = layoutMap(picture, -1, 848, 680, 70);
  same(hit(layout, picture, 847, layout.height + 5), undefined);
  same(hit(layout, picture, 5, 5)?.hyperNode, 0, "the title of a section is its HyperNode");
});

test("keeps every place when what runs changes", () => {
  const idle = tree(3, 5, 8);
  const busy = tree(3, 5, 8);
  busy.gpus = { state: "u".repeat(960), holder: [0, 960], shared: {} };
  same(layoutMap(openPicture(idle), -1, 848, 680, 70), layoutMap(openPicture(busy), -1, 848, 680, 70));
});

test("shows names where there is room for them, GPUs at 40,000, and the open rack alone", () => {
  same(layoutMap(PICTURES[1]![1], -1, 848, 680, 70).scale.level, "named");
  same(layoutMap(PICTURES[3]![1], -1, 848, 680, 70).scale.level, "rows");
  const open = layoutMap(PICTURES[3]![1], 5, 848, 680, 70);
  same([open.scale.level, open.tiles.length, open.tiles[0]!.count], ["named", 1, 25]);
});

test("outlines a HyperNode around all of its tiles", () => {
  const picture = openPicture(exampleCluster());
  const layout = layoutMap(picture, -1, 848, 680, 70);
  const box = outline(layout, picture, 0)!;
  for (const tile of layout.tiles.slice(0, 2)) {
    holds(tile.x >= box[0] && tile.y >= box[1] && tile.x + tile.w <= box[0] + box[2] && tile.y + tile.h <= box[1] + box[3], "inside");
  }
});

test("a gang is held by the lowest HyperNodes with room for it", () => {
  const picture = openPicture(exampleCluster());
  same([...lowestThatHold(picture, [3, 2, 1, 2, 1, 1], 2)].sort(), [1, 3]);
  same([...lowestThatHold(picture, [3, 2, 1, 2, 1, 1], 3)], [0]);
});
