// The few words that the units are written in. units_test.py runs a file in a browser and reads what test() recorded.
declare global {
  interface Window {
    results: { name: string; failure: string }[];
  }
}

window.results = [];

export function test(name: string, body: () => void): void {
  let failure = "";
  try {
    body();
  } catch (error) {
    failure = error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error);
  }
  window.results.push({ name, failure });
}

export function same(actual: unknown, expected: unknown, what = ""): void {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Error(`${what ? `${what}: ` : ""}got ${a}, want ${e}`);
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not true: ${what}`);
}

// Numbers from 0 to below `end`, the same in every run.
export function random(seed: number): (end: number) => number {
  let state = seed >>> 0 || 1;
  return (end) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % end;
  };
}
