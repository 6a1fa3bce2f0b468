import { render } from "preact";
import { takeToken } from "./api";
import { app } from "./app";
import { startConnection } from "./connection";
import { countStates, waitingJobs } from "./fold";
import { Frame } from "./frame";
import { applyTheme } from "./theme";

// What the canvas shows, for tests and for curious people.
function strataView() {
  const { picture, route, link, painted, level, fit } = app;
  const [free, used, shared, held, off] = picture ? countStates(picture) : [];
  return {
    link, level, painted, route, revision: picture?.revision, epoch: picture?.epoch,
    gpus: { free, used, shared, held, off }, nodes: picture?.nodes.name.length, hyperNodes: picture?.hyperNodes.name.length,
    jobs: picture?.jobs.name.filter((name) => name).length, waiting: picture ? waitingJobs(picture).length : undefined,
    fits: picture?.fit.tiers, asked: fit?.tiers, ghosts: app.ghosts ? [...app.ghosts].sort() : undefined, moment: route.t, scope: app.hello?.scope,
  };
}

declare global {
  interface Window {
    strataView: typeof strataView;
  }
}

window.strataView = strataView;
takeToken(location, sessionStorage);
applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  applyTheme();
  app.changed();
});
window.addEventListener("hashchange", () => {
  takeToken(location, sessionStorage);
  app.readRoute();
});
app.readRoute();
startConnection();
const root = document.getElementById("page")!;
root.replaceChildren();
render(<Frame />, root);
