// Numbers, amounts and times as people read them.

const NUMBER = new Intl.NumberFormat("en");

export function count(value: number): string {
  return NUMBER.format(value);
}

// "1 job", "2 jobs".
export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

// As kubectl shows ages: two units at most, and one where the second says little.
export function age(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 120) return `${s}s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 10 && s % 60) return `${minutes}m${s % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8 && minutes % 60) return `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8 && hours % 24) return `${days}d${hours % 24}h`;
  return `${days}d`;
}

export function ageSince(timestamp: string, now: number): string {
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "-" : age((now - then) / 1000);
}

const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

// An amount of a resource: bytes with a unit, all else as a number with at most two decimals.
export function amount(resource: string, value: number): string {
  if (resource === "memory" || resource.endsWith("storage")) {
    let unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      ++unit;
    }
    return `${Number(value.toFixed(value < 10 && unit ? 1 : 0))}${UNITS[unit]}`;
  }
  return NUMBER.format(Number(value.toFixed(2)));
}

// "GPU" for nvidia.com/gpu.
export function resourceTitle(resource: string): string {
  const last = resource.slice(resource.lastIndexOf("/") + 1);
  return last === "gpu" ? "GPUs" : last === "cpu" ? "CPUs" : last;
}

// Names may be 253 characters long, and hold marks that turn the direction of the text around them.
export function shortName(name: string, most: number): string {
  const plain = name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  if (plain.length <= most) return plain;
  const tail = Math.floor((most - 1) / 3);
  return `${plain.slice(0, most - 1 - tail)}…${plain.slice(plain.length - tail)}`;
}

// By name, with numbers in it as numbers.
export const byName = new Intl.Collator("en", { numeric: true }).compare;

// A change that helps, in words, and the command that makes it ("" when it says none).
export function splitHelp(help: string): [string, string] {
  const cut = help.search(/: (kubectl|strata) /);
  return cut < 0 ? [help, ""] : [help.slice(0, cut), help.slice(cut + 2)];
}
