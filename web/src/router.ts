// All that is shown is in the fragment of the URL, so that a view can be sent to somebody:
// #/waiting?job=team-a/train&at=rack-17
export const VIEWS = ["map", "waiting", "jobs", "queues", "fit", "time"] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  job: string; // "namespace/name": chosen
  at: string; // the HyperNode whose inside the map shows, "" the whole cluster
  node: string; // chosen
  queue: string; // chosen
  find: string; // the words of the search box
  sort: string; // of the waiting jobs
  pod: string; // the shape of "fit", as of `strata topology --pod`
  pods: number; // how many of them, 0: not said
  mode: string; // of the network topology that is asked for: "", "hard", "soft"
  tier: number; // the highest that is allowed, 0: not said
  namespaces: string; // whose jobs are asked for, where not all may be listed: "a,b"
  t: number; // the moment that is shown, in milliseconds; 0: now
  than: number; // the moment that it is compared with, 0: none
}

export const START: Route = { view: "map", job: "", at: "", node: "", queue: "", find: "", sort: "", pod: "", pods: 0,
  mode: "", tier: 0, namespaces: "", t: 0, than: 0 };
const WORDS = ["job", "at", "node", "queue", "find", "sort", "pod", "mode", "namespaces"] as const;
const NUMBERS = { pods: 1e6, tier: 1000, t: 1e14, than: 1e14 };

export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
  const route: Route = { ...START };
  if ((VIEWS as readonly string[]).includes(path)) route.view = path as View;
  for (const word of WORDS) route[word] = query.get(word) ?? "";
  for (const [word, most] of Object.entries(NUMBERS) as [keyof typeof NUMBERS, number][]) {
    const number = Number(query.get(word));
    route[word] = Number.isInteger(number) && number > 0 && number <= most ? number : 0;
  }
  return route;
}

export function formatRoute(route: Route): string {
  const words: string[] = [];
  for (const word of WORDS) {
    if (route[word]) words.push(`${word}=${encodeURIComponent(route[word]).replace(/%2F/g, "/").replace(/%2C/g, ",")}`);
  }
  for (const word of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    if (route[word]) words.push(`${word}=${route[word]}`);
  }
  return `#/${route.view}${words.length ? `?${words.join("&")}` : ""}`;
}

// The link from here to a view that differs by `to`.
export function linkTo(from: Route, to: Partial<Route>): string {
  return formatRoute({ ...from, ...to });
}
