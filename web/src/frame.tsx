// The frame: what is always there, the map, and the panel of the view.
import { useEffect, useRef, useState } from "preact/hooks";
import { keepToken } from "./api";
import { app, useApp, useTicks } from "./app";
import { connect } from "./connection";
import { countStates, FREE, OFF, waitingJobs } from "./fold";
import { findNames, type Found } from "./find";
import { FitPanel } from "./fit";
import { age, count, plural, shortName } from "./formats";
import { JobPanel, Jobs } from "./jobs";
import { Help, useKeys } from "./keys";
import { ClusterMap, positionOf } from "./map";
import { NodePanel } from "./node";
import { Overview } from "./overview";
import { QueuesPanel } from "./queues";
import { linkTo, VIEWS, type Route, type View } from "./router";
import { switchTheme } from "./theme";
import { TimePanel, useMoments } from "./time";
import { Twin } from "./twin";
import { Waiting } from "./waiting";

const TITLES: Record<View, string> = { map: "Map", waiting: "Waiting", jobs: "Jobs", queues: "Queues", fit: "What if", time: "Time" };

// How old the picture is, in words: an old picture is never shown as a new one.
function statusWords(): string {
  const old = app.heard ? age((Date.now() - app.heard) / 1000) : "";
  if (app.link === "live") return app.route.t ? "the past" : "live";
  if (app.link === "connecting") return app.heard ? `connecting; picture of ${old} ago` : "connecting";
  if (app.link === "paused") return `paused; picture of ${old} ago`;
  if (app.link === "refused") return "access refused";
  return app.heard ? `no connection; picture of ${old} ago` : "no connection";
}

function Status() {
  useApp();
  useTicks(1000);
  const changed = app.picture ? Math.max(0, (Date.now() - Date.parse(app.picture.time)) / 1000) : 0;
  return (
    <span class={`status ${app.route.t ? "past" : app.link}`} title={app.problem || undefined}>
      <i aria-hidden="true" /> {statusWords()}
      {app.link === "live" && !app.route.t && <span class="muted">, changed {age(changed)} ago</span>}
    </span>
  );
}

function Header({ help }: { help: () => void }) {
  const { picture, route, hello } = useApp();
  const states = picture ? countStates(picture) : [];
  const waiting = picture ? waitingJobs(picture).length : 0;
  const all = picture?.cells.length ?? 0;
  return (
    <header>
      <div class="brand"><b>Strata</b> <span class="muted" title={hello?.cluster}>{shortName(hello?.cluster ?? "", 32)}</span></div>
      <Status />
      {all > 0 && <span class="sum"><b>{count(all - states[FREE]! - states[OFF]!)}</b> of {plural(all, "GPU")} used</span>}
      <nav aria-label="Views">
        {VIEWS.map((view) => (
          <a href={linkTo(route, { view, job: "", node: "", find: "" })} aria-current={route.view === view ? "page" : undefined}>
            {TITLES[view]}{view === "waiting" && waiting > 0 && <span class="badge">{count(waiting)}</span>}
          </a>
        ))}
      </nav>
      <Search />
      <button type="button" class="icon" onClick={() => { switchTheme(); app.changed(); }} aria-label="Dark or light">◐</button>
      <button type="button" class="icon" onClick={help} aria-label="Keys">?</button>
    </header>
  );
}

function linkOf(found: Found): Partial<Route> {
  const none = { find: "", job: "", node: "" };
  if (found.kind === "HyperNode") return { ...none, at: found.name };
  if (found.kind === "node") return { ...none, node: found.name };
  if (found.kind === "job") return { ...none, view: "jobs", job: found.name };
  return { ...none, view: "queues", queue: found.name };
}

function Search() {
  const { picture, route } = useApp();
  const [active, setActive] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const found = active && picture && !route.find.includes(":") ? findNames(picture, route.find, 6) : [];
  const leave = (event: FocusEvent) => {
    if (!box.current?.contains(event.relatedTarget as Node | null)) setActive(false);
  };
  return (
    <div class="search" role="search" ref={box} onFocusIn={() => setActive(true)} onFocusOut={leave}>
      <input id="search" type="search" placeholder="/ search" aria-label="Search nodes, HyperNodes, jobs, queues" value={route.find}
        autocomplete="off" spellcheck={false} onInput={(event) => app.go({ find: event.currentTarget.value }, true)} />
      {found.length > 0 && (
        <ul class="plain found">
          {found.map((one) => (
            <li><a href={linkTo(route, linkOf(one))} onClick={() => setActive(false)}>{shortName(one.name, 44)}</a> <span class="muted">{one.kind}</span></li>
          ))}
        </ul>
      )}
    </div>
  );
}

// Where the map is in the tree, each step a link.
function Crumbs() {
  const { picture, route, asTable } = useApp();
  if (!picture) return null;
  const path: number[] = [];
  for (let h = positionOf(picture.hyperNodes.name, route.at); h >= 0; h = picture.hyperNodes.parent[h]!) path.unshift(h);
  return (
    <div class="crumbs">
      <nav aria-label="Place in the tree">
        <a href={linkTo(route, { at: "", node: "" })} aria-current={path.length ? undefined : "location"}>cluster</a>
        {path.map((h, i) => {
          const name = picture.hyperNodes.name[h]!;
          return <> / <a href={linkTo(route, { at: name, node: "" })} aria-current={i + 1 === path.length ? "location" : undefined}>{shortName(name, 30)}</a></>;
        })}
      </nav>
      <ul class="legend plain" aria-hidden="true">
        <li><i class="state free" /> free</li><li><i class="state used" /> used</li>
        <li><i class="state held" /> held</li><li><i class="state off" /> off</li>
        {(route.job || app.hover >= 0) && <li><i class="state chosen" /> chosen job</li>}
      </ul>
      <button type="button" aria-pressed={asTable} onClick={() => { app.asTable = !asTable; app.changed(); }}>Table</button>
    </div>
  );
}

function Panel({ route }: { route: Route }) {
  if (route.node) return <NodePanel />;
  const list = route.view === "waiting" ? <Waiting /> : route.view === "jobs" ? <Jobs /> : undefined;
  if (list) return route.job ? <div class="split">{list}<JobPanel /></div> : list;
  if (route.view === "queues") return <QueuesPanel />;
  if (route.view === "fit") return <FitPanel />;
  if (route.view === "time") return <TimePanel />;
  return route.job ? <JobPanel /> : <Overview />;
}

// One sentence in ten seconds at most, for those that hear the page.
function Announcer() {
  const { picture, link } = useApp();
  const [words, setWords] = useState("");
  const said = useRef(0);
  const waiting = picture ? waitingJobs(picture).length : 0;
  const now = link === "live" ? `${plural(waiting, "job")} waiting` : statusWords();
  useEffect(() => {
    const timer = setTimeout(() => {
      said.current = Date.now();
      setWords(now);
    }, Math.max(0, said.current + 10_000 - Date.now()));
    return () => clearTimeout(timer);
  }, [link, waiting]);
  return <div class="hidden" role="status" aria-live="polite">{words}</div>;
}

// A token of the API server can be pasted: `kubectl create token` makes one.
function Refused() {
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    keepToken(token, sessionStorage);
    setToken("");
    connect();
  };
  return (
    <div class="notice" role="alert">
      <p><b>The server refused access:</b> {app.problem}</p>
      <p>On your own machine, open the page by the whole URL that <code>strata page</code> or <code>strata up</code> printed. In a cluster, paste
        a token of yours, such as <code>kubectl create token NAME</code> prints. It stays in this tab.</p>
      <form class="token" onSubmit={submit}>
        <input type="password" value={token} aria-label="Token" placeholder="token" autocomplete="off" onInput={(event) => setToken(event.currentTarget.value)} />
        <button type="submit" disabled={!token.trim()}>Use it</button>
      </form>
    </div>
  );
}

// Who may not list the jobs of all namespaces says which ones are looked at.
function ScopeBar() {
  const { hello, route } = useApp();
  const [text, setText] = useState(route.namespaces);
  if (!hello || !Array.isArray(hello.scope)) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    app.go({ namespaces: text.replace(/[\s,]+/g, ",").replace(/^,|,$/g, "") }, true);
    connect();
  };
  return (
    <form class="notice scope" aria-label="Namespaces" onSubmit={submit}>
      <span>{hello.scope.length ? <>You see jobs of <b>{hello.scope.join(", ")}</b>; other jobs are hidden, their GPUs count.</>
        : <>You may not list the jobs of all namespaces. Name yours to see them; other jobs are hidden, their GPUs count.</>}</span>
      <label>namespaces <input value={text} placeholder="team-a, team-b" autocomplete="off" spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)} /></label>
      <button type="submit">Show</button>
    </form>
  );
}

// What is shown is not what is: never without saying so.
function PastBar({ problem }: { problem: string }) {
  const { route, picture } = useApp();
  if (!route.t) return null;
  return (
    <div class="notice past" role="status">
      <span><b>{new Date(route.t).toLocaleTimeString("en", { hour12: false })}</b>, not now. {problem ? `Cannot show it: ${problem}` : picture ? "" : "Reading ..."}</span>
      <button type="button" onClick={() => app.go({ t: 0 }, true)}>Back to live</button>
    </div>
  );
}

export function Frame() {
  const { picture, route, link, asTable, problem } = useApp();
  const [help, setHelp] = useState(false);
  const problemOfMoment = useMoments();
  useKeys(() => setHelp(true));
  return (
    <div class={`frame ${link}`}>
      <Header help={() => setHelp(true)} />
      {link === "refused" && <Refused />}
      <ScopeBar />
      <PastBar problem={problemOfMoment} />
      {picture || route.t ? (
        <main class={route.view === "jobs" && !route.node ? "wide-panel" : ""}>
          <div class="left">
            <Crumbs />
            {!asTable && <ClusterMap />}
            <Twin />
          </div>
          <Panel route={route} />
        </main>
      ) : link !== "refused" && <main class="start"><p>{link === "lost" ? `Cannot reach the server: ${problem}` : "Loading the cluster ..."}</p></main>}
      <Announcer />
      <Help open={help} close={() => setHelp(false)} />
    </div>
  );
}
