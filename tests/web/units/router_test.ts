import { formatRoute, linkTo, parseRoute, START, VIEWS, type Route } from "../../../web/src/router";
import { parseFind } from "../../../web/src/find";
import { random, same, test } from "./check";

test("shows the map of the whole cluster without a fragment", () => {
  for (const fragment of ["", "#", "#/", "#/nonsense?x=1"]) same(parseRoute(fragment), START);
});

test("reads back every route that it writes, whatever the names", () => {
  const draw = random(7);
  const marks = "abc-/?&=#% +.\u202e\"<>é😀:";
  const word = () => Array.from({ length: draw(12) }, () => [...marks][draw([...marks].length)]).join("");
  for (let i = 0; i < 2000; ++i) {
    const route: Route = { view: VIEWS[draw(VIEWS.length)]!, job: word(), at: word(), node: word(), queue: word(), find: word(), sort: word(), pod: word(), pods: draw(99),
      mode: word(), tier: draw(9), namespaces: word(), t: draw(1e9), than: draw(1e9) };
    same(parseRoute(formatRoute(route)), route);
  }
});

test("keeps names readable", () => {
  same(linkTo(START, { view: "waiting", job: "team-a/train", at: "rack-17" }), "#/waiting?job=team-a/train&at=rack-17");
});

test("ignores a number of pods that is not one", () => {
  for (const pods of ["x", "-1", "1e9", "2.5"]) same(parseRoute(`#/fit?pods=${pods}`).pods, 0);
});

test("reads the search box: plain words and columns", () => {
  same(parseFind(" Phase:Pending llama node:x"), [{ column: "phase", word: "pending" }, { column: "", word: "llama" }, { column: "", word: "node:x" }]);
});
