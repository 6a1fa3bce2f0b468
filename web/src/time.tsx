// The last hour: used GPUs, waiting jobs and the largest gang per tier, with marks for what was decided. A moment can be
// looked at, and compared with another one.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Decision, type Moment, type Past, type Sample } from "./api";
import { app, useApp } from "./app";
import { fold, openPicture, type Picture } from "./fold";
import { count, plural, shortName } from "./formats";
import { linkTo } from "./router";

const AGAIN = 5000; // how often the strip follows, in milliseconds

// The picture of a moment.
async function pictureAt(time: number): Promise<Picture> {
  const moment = await get<Moment>(`history?at=${time}`);
  const picture = openPicture(moment.cluster);
  for (const change of moment.changes) fold(picture, change);
  return picture;
}

// Keeps the pictures of the moments that the view names; `problem` says why one is not there.
export function useMoments(): string {
  const { route } = useApp();
  const [problem, setProblem] = useState("");
  const load = (time: number, keep: (picture: Picture | undefined) => void) => {
    keep(undefined);
    if (!time) return undefined;
    let given = true;
    const tell = (picture: Picture | undefined, words: string) => {
      if (!given) return;
      keep(picture);
      setProblem(words);
      app.changed();
    };
    // While somebody drags, only where the pointer rests is asked for.
    const timer = setTimeout(() => {
      pictureAt(time).then((picture) => tell(picture, ""), (error: unknown) => tell(undefined, String((error as Error).message)));
    }, 60);
    return () => {
      given = false;
      clearTimeout(timer);
    };
  };
  useEffect(() => load(route.t, (picture) => { if (picture || !route.t) app.past = picture; }), [route.t]);
  useEffect(() => load(route.than, (picture) => { app.other = picture; }), [route.than]);
  return problem;
}

export const past: { known: Past | undefined } = { known: undefined };

// The decision after (1) or before (-1) what is shown.
export function stepDecision(by: number): void {
  if (!past.known) {
    get<Past>("history").then((answer) => {
      past.known = answer;
      stepDecision(by);
    }, () => app.go({ view: "time" }));
    return;
  }
  const { decisions } = past.known;
  const now = app.route.t || Date.now();
  const next = by < 0 ? [...decisions].reverse().find((one) => one.time < now) : decisions.find((one) => one.time > now);
  if (next) app.go({ view: "time", t: next.time }, true);
  else if (by > 0) app.go({ t: 0 }, true);
}

function timeWords(time: number): string {
  return new Date(time).toLocaleTimeString("en", { hour12: false });
}

const WIDTH = 1000;
const LANE = 40; // three of them, one below the other

// A value holds until the next one. `lane` counts from the top.
function line(samples: Sample[], from: number, to: number, most: number, lane: number, value: (sample: Sample) => number): string {
  let path = "";
  for (const sample of samples) {
    const x = (((sample[0] - from) / Math.max(1, to - from)) * WIDTH).toFixed(1);
    const y = ((lane + 1) * LANE - 3 - (value(sample) / Math.max(1, most)) * (LANE - 16)).toFixed(1);
    path += path ? `H${x}V${y}` : `M${x} ${y}`;
  }
  return path ? `${path}H${WIDTH}` : "";
}

function gangOf(sample: Sample, tier: number): number {
  return sample[4].find(([of]) => of === tier)?.[1] ?? 0;
}

const MARKS: Record<Decision["outcome"], string> = { placed: "placed", waits: "waits", gone: "gone", node: "node" };

// Drag, click or the arrow keys look at a moment.
function Strip({ known, to }: { known: Past; to: number }) {
  const { route } = useApp();
  const box = useRef<HTMLDivElement>(null);
  const { samples, decisions } = known;
  const from = samples[0]?.[0] ?? to - 1000;
  const all = Math.max(1, ...samples.map(([, free, used]) => free + used));
  const waiting = Math.max(0, ...samples.map((sample) => sample[3]));
  const tiers = (samples[samples.length - 1]?.[4] ?? []).slice(0, -1).map(([tier]) => tier);
  const gang = Math.max(1, ...samples.flatMap((sample) => sample[4].slice(0, -1).map(([, pods]) => pods)));
  const at = (event: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - left) / width));
    app.go({ t: part > 0.995 ? 0 : Math.round(from + part * (to - from)) }, true);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (route.t || to) + (step * (to - from)) / 100;
    app.go({ t: next >= to ? 0 : Math.max(from, Math.round(next)) }, true);
  };
  const place = (time: number) => `${(100 * (time - from)) / Math.max(1, to - from)}%`;
  const now = route.t || to;
  return (
    <div class="strip" ref={box} role="slider" tabIndex={0} aria-label="Moment that is shown" aria-valuemin={from} aria-valuemax={to}
      aria-valuenow={now} aria-valuetext={route.t ? timeWords(route.t) : "now"} onKeyDown={key}
      onPointerDown={(event) => { box.current!.setPointerCapture(event.pointerId); at(event); }}
      onPointerMove={(event) => event.buttons === 1 && at(event)}>
      <svg viewBox={`0 0 ${WIDTH} ${3 * LANE}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="area" d={`${line(samples, from, to, all, 0, (sample) => sample[2])}V${LANE}H0Z`} />
        <path class="waits" d={line(samples, from, to, waiting, 1, (sample) => sample[3])} />
        {tiers.map((tier, i) => <path class={`gang gang-${i % 3}`} d={line(samples, from, to, gang, 2, (sample) => gangOf(sample, tier))} />)}
      </svg>
      <div class="lanes" aria-hidden="true">
        <span>GPUs used, of {count(all)}</span><span>jobs waiting, at most {count(waiting)}</span>
        <span>largest gang, at most {plural(gang, "pod")}</span>
      </div>
      <div class="marks" aria-hidden="true">
        {decisions.slice(-600).map((one) => <i class={`mark-${MARKS[one.outcome]}`} style={{ left: place(one.time) }} />)}
      </div>
      {route.than > 0 && <span class="cursor other" style={{ left: place(route.than) }} />}
      <span class="cursor" style={{ left: place(now) }} />
    </div>
  );
}

function Events({ known }: { known: Past }) {
  const { route } = useApp();
  const shown = route.t || Infinity;
  const list = known.decisions.filter((one) => one.time <= shown).slice(-60).reverse();
  if (!list.length) return <p class="muted">Nothing was decided yet since the page began to watch.</p>;
  const words = { placed: "placed", waits: "waits", gone: "gone", node: "node" };
  return (
    <ol class="plain events">
      {list.map((one) => (
        <li>
          <a href={linkTo(route, { t: one.time })}>{timeWords(one.time)}</a> <i class={`mark-${MARKS[one.outcome]}`} aria-hidden="true" /> {words[one.outcome]}{" "}
          {one.job && <b title={one.job}>{shortName(one.job, 34)}</b>} <span class="muted">{one.where && (one.outcome === "placed" ? `in ${shortName(one.where, 24)}` : shortName(one.where, 48))}</span>
        </li>
      ))}
    </ol>
  );
}

export function TimePanel() {
  const { route } = useApp();
  const [known, setKnown] = useState<Past | string>();
  const [to, setTo] = useState(Date.now());
  useEffect(() => {
    const stop = new AbortController();
    const ask = () => get<Past>("history", stop.signal).then((answer) => {
      past.known = answer;
      setTo(Date.now());
      setKnown(answer);
    }, (error: unknown) => !stop.signal.aborted && setKnown(String((error as Error).message)));
    void ask();
    const timer = setInterval(() => !document.hidden && void ask(), AGAIN);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
  const sample = typeof known === "object" ? [...known.samples].reverse().find((one) => one[0] <= (route.t || Infinity)) : undefined;
  const from = typeof known === "object" ? known.samples[0]?.[0] ?? to : to;
  return (
    <section class="panel scroll" aria-labelledby="title">
      <h1 id="title">{route.t ? `At ${timeWords(route.t)}` : "The last hour"}</h1>
      {typeof known === "string" && <p class="bad">Cannot read the past: {known}</p>}
      {typeof known === "object" && (
        <>
          <Strip known={known} to={to} />
          <p class="facts ends"><span>{timeWords(from)}</span><span>now</span></p>
          <ul class="legend plain">
            {(sample?.[4] ?? []).slice(0, -1).map(([tier], i) => <li><i class={`gang-${i % 3}`} /> tier {tier}</li>)}
            <li><i class="mark-placed" /> placed</li><li><i class="mark-waits" /> waits</li><li><i class="mark-gone" /> gone</li><li><i class="mark-node" /> node</li>
          </ul>
          {sample && <p class="sentence">{count(sample[2])} of {plural(sample[1] + sample[2], "GPU")} used, {plural(sample[3], "job")} waiting;
            {" "}largest gang {sample[4].slice(0, -1).map(([tier, pods]) => `tier ${tier}: ${count(pods)}`).join(", ") || "-"}.</p>}
          <div class="buttons">
            <button type="button" onClick={() => stepDecision(-1)}>decision before</button>
            <button type="button" onClick={() => stepDecision(1)}>after</button>
            {route.t > 0 && <button type="button" onClick={() => app.go({ t: 0 }, true)}>live</button>}
            <button type="button" aria-pressed={route.than > 0} onClick={() => app.go({ than: route.than ? 0 : route.t || Date.now() }, true)}>
              {route.than ? "stop comparing" : "compare from here"}</button>
          </div>
          {route.than > 0 && <Differences />}
          <h2>Decisions</h2>
          <Events known={known} />
        </>
      )}
    </section>
  );
}

function Differences() {
  const { picture, other, route } = useApp();
  if (!picture || !other) return <p class="muted">Reading the other moment ...</p>;
  if (other.cells.length !== picture.cells.length) return <p class="muted">The tree was another one then; the cells cannot be compared.</p>;
  let changed = 0;
  for (let i = 0; i < picture.cells.length; ++i) if (isChanged(picture, other, i)) ++changed;
  return <p class="facts">{plural(changed, "GPU")} differ{changed === 1 ? "s" : ""} from {timeWords(route.than)}, hatched on the map.</p>;
}

// Whether a cell has another state or another holder. Positions of jobs are compared by name.
export function isChanged(picture: Picture, other: Picture, cell: number): boolean {
  if (picture.cells[cell] !== other.cells[cell]) return true;
  const a = picture.holders[cell]!;
  const b = other.holders[cell]!;
  if (a < 0 || b < 0) return a !== b;
  return picture.jobs.name[a] !== other.jobs.name[b] || picture.jobs.namespace[a] !== other.jobs.namespace[b];
}
