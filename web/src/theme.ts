// The colours of the states (design: the smallest distance of two states is 28 in Lab, for every colour vision).

export interface Theme {
  dark: boolean;
  free: string;
  used: string;
  held: string;
  off: string;
  chosen: string;
  dimUsed: string;
  dimFree: string;
  text: string;
  muted: string;
  background: string;
  tile: string;
  line: string;
  bad: string;
}

export const LIGHT: Theme = {
  dark: false, free: "#D3EAF8", used: "#65788A", held: "#C97A00", off: "#9A2C00", chosen: "#00589C",
  dimUsed: "#CBD3DA", dimFree: "#EEF6FB", text: "#1A2129", muted: "#56626E", background: "#FFFFFF",
  tile: "#F7F9FB", line: "#D5DCE3", bad: "#9A2C00",
};

export const DARK: Theme = {
  dark: true, free: "#1E4258", used: "#8C9CAB", held: "#E8A317", off: "#D4472A", chosen: "#6FC3FF",
  dimUsed: "#3A444E", dimFree: "#1A2B37", text: "#E8EDF2", muted: "#A3B0BC", background: "#12171D",
  tile: "#181F27", line: "#303A45", bad: "#FF8A6B",
};

const KEY = "strata-theme"; // what was chosen by hand: "light" or "dark"

export function currentTheme(): Theme {
  const chosen = sessionStorage.getItem(KEY);
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? DARK : LIGHT;
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = currentTheme().dark ? "dark" : "light";
}

export function switchTheme(): void {
  sessionStorage.setItem(KEY, currentTheme().dark ? "light" : "dark");
  applyTheme();
}

// A colour as a pixel of ImageData, on a little-endian machine (all that browsers run on).
export function pixel(colour: string): number {
  const rgb = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}
