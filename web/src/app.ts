// What the page knows, in one place: the picture, the connection, the route. Components read it by useApp().
import { useEffect, useReducer } from "preact/hooks";
import type { FitAnswer, Hello } from "./api";
import type { Picture } from "./fold";
import { parseRoute, formatRoute, linkTo, START, type Route } from "./router";

export type Link = "connecting" | "live" | "lost" | "refused" | "paused";

class App {
  live: Picture | undefined; // what the stream keeps
  past: Picture | undefined; // the moment that is looked at instead
  other: Picture | undefined; // the moment that it is compared with
  ghosts: ReadonlyMap<string, number> | undefined; // pods that would go to a node, by its name
  hello: Hello | undefined;
  link: Link = "connecting";
  problem = ""; // why the link is lost or refused
  heard = 0; // when the server was last heard, in milliseconds
  route: Route = { ...START };
  fit: FitAnswer | undefined; // of the shape of the view "fit"
  hover = -1; // the job that is pointed at in a list
  freeOnly = false; // used GPUs are dim
  asTable = false; // the twin of the map is shown in its place
  painted = 0; // milliseconds that the last whole drawing of the map took
  level = "";
  focus = -1; // where the keyboard is in the twin: a HyperNode
  focusNode = -1; // or a node
  // What is shown.
  get picture(): Picture | undefined {
    return this.route.t ? this.past : this.live;
  }

  private readonly listeners = new Set<() => void>();
  private due = false;

  // Tells the components, once per frame however often it is called.
  changed(): void {
    if (this.due) return;
    this.due = true;
    const tell = () => {
      this.due = false;
      for (const listener of this.listeners) listener();
    };
    if (document.hidden) setTimeout(tell);
    else requestAnimationFrame(tell);
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // Shows another view; `replace` leaves no entry in the browser's history.
  go(to: Partial<Route>, replace = false): void {
    const next = linkTo(this.route, to);
    if (next === formatRoute(this.route)) return;
    if (replace) {
      history.replaceState(null, "", next);
      this.readRoute();
    } else {
      location.hash = next;
    }
  }

  readRoute(): void {
    this.route = parseRoute(location.hash);
    this.changed();
  }
}

export const app = new App();

export function useApp(): App {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => app.subscribe(() => redraw(undefined)), []);
  return app;
}

// Redraws a component every `milliseconds`, for ages.
export function useTicks(milliseconds: number): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => redraw(undefined), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
