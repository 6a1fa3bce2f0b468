// Keeps the picture live: `cluster`, then the stream of changes; again after every failure. While the tab is hidden the
// stream is closed, because browsers give an origin six connections.
import { ApiError, get, nameNamespaces, open, type Change, type Cluster, type Hello } from "./api";
import { app } from "./app";
import { fold, openPicture } from "./fold";
import { MAX_SILENCE, readEvents, retryDelay } from "./stream";

let stop: AbortController | undefined;

function setLink(link: typeof app.link, problem = ""): void {
  app.link = link;
  app.problem = problem;
  app.changed();
}

function hearing(): void {
  app.heard = Date.now();
}

async function load(signal: AbortSignal): Promise<void> {
  nameNamespaces(app.route.namespaces);
  const [hello, cluster] = await Promise.all([get<Hello>("hello", signal), get<Cluster>("cluster", signal)]);
  app.hello = hello;
  app.live = openPicture(cluster);
  hearing();
  app.changed();
}

// Follows the stream to its end; returns whether the picture must be read again.
async function follow(signal: AbortSignal): Promise<boolean> {
  const picture = app.live!;
  const answer = await open(`events?after=${picture.revision}&epoch=${picture.epoch}`, signal);
  setLink("live");
  let again = false;
  await readEvents(answer, hearing, ({ event, data }) => {
    if (event === "epoch") {
      again = true;
      return false;
    }
    if (event === "change" && fold(picture, JSON.parse(data) as Change)) app.changed();
    return true;
  });
  return again;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function keepLive(signal: AbortSignal): Promise<void> {
  let reload = true;
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (reload || !app.live) await load(signal);
      reload = await follow(signal);
      failures = 0;
      if (!reload) throw new Error("the server ended the stream");
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof ApiError && (error.code === 401 || error.code === 403);
      setLink(refused ? "refused" : "lost", error instanceof Error ? error.message : String(error));
      reload = true;
      ++failures;
      await pause(refused ? 5000 : retryDelay(failures), signal);
    }
  }
}

// Also after a token was given.
export function connect(): void {
  stop?.abort();
  stop = new AbortController();
  void keepLive(stop.signal);
}

// Connects, and from then on whenever the tab can be seen.
export function startConnection(): void {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      if (app.link === "paused") connect();
      return;
    }
    stop?.abort();
    setLink("paused");
  });
  setInterval(() => {
    if (app.link === "live" && Date.now() - app.heard > MAX_SILENCE) connect();
  }, 5000);
  connect();
}
