// The words of the search box: plain ones are parts of names, `phase:`, `queue:`, `ns:`, `reason:`, `hn:`, `user:` are columns.
import { jobKey, type Picture } from "./fold";

export interface Term {
  column: string; // "": any name
  word: string;
}

const COLUMNS = ["phase", "queue", "ns", "reason", "hn", "user"];

export function parseFind(text: string): Term[] {
  return text.toLowerCase().split(/\s+/).filter((word) => word).map((word) => {
    const cut = word.indexOf(":");
    const column = cut > 0 ? word.slice(0, cut) : "";
    return COLUMNS.includes(column) ? { column, word: word.slice(cut + 1) } : { column: "", word };
  });
}

// Whether all terms are part of what their column says of the job.
export function matchesJob(picture: Picture, job: number, terms: Term[]): boolean {
  const { jobs, hyperNodes } = picture;
  return terms.every(({ column, word }) => {
    const texts: Record<string, string | undefined> = {
      phase: jobs.phase[job], queue: jobs.queue[job], ns: jobs.namespace[job], reason: jobs.reason[job],
      hn: hyperNodes.name[jobs.hyperNode[job]!], user: jobs.user?.[job],
    };
    const text = column ? texts[column] ?? "" : jobKey(picture, job);
    return text.toLowerCase().includes(word);
  });
}

export interface Found {
  kind: "HyperNode" | "node" | "job" | "queue";
  name: string;
}

// The first names of each kind that have `word` in them.
export function findNames(picture: Picture, word: string, most: number): Found[] {
  const wanted = word.trim().toLowerCase();
  if (!wanted) return [];
  const found: Found[] = [];
  const take = (kind: Found["kind"], names: Iterable<string>) => {
    let left = most;
    for (const name of names) {
      if (name && name.toLowerCase().includes(wanted)) {
        found.push({ kind, name });
        if (--left === 0) return;
      }
    }
  };
  take("HyperNode", picture.hyperNodes.name);
  take("node", picture.nodes.name);
  take("job", picture.jobs.name.map((name, job) => (name ? jobKey(picture, job) : "")));
  take("queue", new Set(picture.jobs.queue));
  return found;
}
