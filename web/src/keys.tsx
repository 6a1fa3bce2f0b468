// The keys of the page, and the dialog that lists them.
import { useEffect, useRef } from "preact/hooks";
import { app } from "./app";
import { jobKey, waitingJobs } from "./fold";
import { matchesJob, parseFind } from "./find";
import { VIEWS } from "./router";
import { switchTheme } from "./theme";
import { stepDecision } from "./time";
import { goOut } from "./twin";
import { sortJobs } from "./waiting";

const HELP: [string, string][] = [
  ["/", "search nodes, HyperNodes, jobs, queues"], [`1 … ${VIEWS.length}`, "views"],
  ["arrows, Enter, Esc", "in the map: next, into, out"], ["j  k", "next, previous job of the list"],
  ["t", "the map as a table"], ["[  ]  L", "decision before, after, live"], ["f", "free GPUs only"], ["d", "dark or light"], ["c", "copy the link to this view"], ["?", "these keys"],
];

// The jobs of the list that is open, in its order.
function listedJobs(): string[] {
  const { picture, route } = app;
  if (!picture) return [];
  const all = route.view === "jobs" ? picture.jobs.name.map((_, job) => job).filter((job) => picture.jobs.name[job]) : waitingJobs(picture);
  const terms = parseFind(route.find);
  const sort = route.view === "jobs" ? "name" : route.sort;
  return sortJobs(picture, all.filter((job) => matchesJob(picture, job, terms)), sort).map((job) => jobKey(picture, job));
}

function step(by: number): void {
  const keys = listedJobs();
  const next = keys[Math.max(0, Math.min(keys.length - 1, keys.indexOf(app.route.job) + by))];
  if (next) app.go({ job: next }, true);
}

function close(): void {
  const { route } = app;
  if (route.node) app.go({ node: "" });
  else if (route.job) app.go({ job: "" });
  else if (route.find) app.go({ find: "" }, true);
  else goOut();
}

const KEYS: Record<string, (help: () => void) => void> = {
  "/": () => document.getElementById("search")?.focus(),
  "?": (help) => help(),
  j: () => step(1),
  k: () => step(-1),
  t: () => { app.asTable = !app.asTable; app.changed(); },
  d: () => { switchTheme(); app.changed(); },
  c: () => void navigator.clipboard?.writeText(location.href),
  f: () => { app.freeOnly = !app.freeOnly; app.changed(); },
  "[": () => stepDecision(-1),
  "]": () => stepDecision(1),
  L: () => app.go({ t: 0 }, true),
  Escape: close,
};

export function useKeys(help: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const types = target.matches("input, select, textarea");
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (types) {
        if (event.key === "Escape") target.blur();
        return;
      }
      const view = VIEWS[Number(event.key) - 1];
      if (view) app.go({ view });
      else if (KEYS[event.key]) KEYS[event.key]!(help);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

export function Help({ open, close: shut }: { open: boolean; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current!.showModal();
    else dialog.current!.close();
  }, [open]);
  return (
    <dialog ref={dialog} onClose={shut} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="keys">{HELP.map(([key, words]) => <div><dt><kbd>{key}</kbd></dt><dd>{words}</dd></div>)}</dl>
      <p class="muted">Strata {app.hello?.strata ?? ""} · <a href="licences.txt">licences of the libraries</a></p>
      <button type="button" onClick={shut}>Close</button>
    </dialog>
  );
}
