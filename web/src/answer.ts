// One answer of the server, asked for again when what it depends on has changed.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "./api";

const TYPING = 150; // another path: somebody may still be typing it
const AT_MOST_EVERY = 1000; // the same path again, in milliseconds

// The answer for `path` ("": none), asked again after `when` has changed; undefined until it is there, a text when it
// failed. The last answer stays until the next one is there.
export function useAnswer<T>(path: string, when: unknown): T | string | undefined {
  const [answer, setAnswer] = useState<{ path: string; value: T | string }>();
  const asked = useRef({ path: "", at: 0 });
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    const again = asked.current.path === path;
    const first = asked.current.path === "";
    const delay = again ? Math.max(0, asked.current.at + AT_MOST_EVERY - Date.now()) : first ? 0 : TYPING;
    const timer = setTimeout(() => {
      asked.current = { path, at: Date.now() };
      get<T>(path, stop.signal).then(
        (value) => setAnswer({ path, value }),
        (error: unknown) => !stop.signal.aborted && setAnswer({ path, value: String((error as Error).message) }),
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, when]);
  const same = answer && (answer.path === path || (typeof answer.value === "object" && samePlace(answer.path, path)));
  return same ? answer.value : undefined;
}

// Whether two paths differ in their questions only: then the old answer may stand until the new one is there.
function samePlace(a: string, b: string): boolean {
  return a.includes("?") && a.split("?")[0] === b.split("?")[0];
}
