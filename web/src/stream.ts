// The stream of changes: text/event-stream, read by fetch, because EventSource cannot send a token.

export interface StreamEvent {
  event: string; // "message" when the stream names none
  id: string;
  data: string;
}

// Cuts a stream of bytes into events, wherever the bytes are cut.
export class EventReader {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private event = "";
  private id = "";
  private data: string[] = [];

  // The events that end within `bytes`. A comment is an event named "comment".
  push(bytes: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    this.rest += this.decoder.decode(bytes, { stream: true });
    for (;;) {
      const end = this.endOfLine();
      if (end < 0) return events;
      const line = this.rest.slice(0, end);
      const wide = this.rest[end] === "\r" && this.rest[end + 1] === "\n";
      this.rest = this.rest.slice(end + (wide ? 2 : 1));
      this.take(line, events);
    }
  }

  // A "\r" at the end of what has arrived may be half of "\r\n": its line waits.
  private endOfLine(): number {
    const end = this.rest.search(/[\r\n]/);
    return end >= 0 && this.rest[end] === "\r" && end + 1 === this.rest.length ? -1 : end;
  }

  private take(line: string, events: StreamEvent[]): void {
    if (line === "") {
      if (this.data.length) events.push({ event: this.event || "message", id: this.id, data: this.data.join("\n") });
      this.event = "";
      this.data = [];
      return;
    }
    const cut = line.indexOf(":");
    if (cut === 0) {
      events.push({ event: "comment", id: this.id, data: line.slice(1).trim() });
      return;
    }
    const field = cut < 0 ? line : line.slice(0, cut);
    const value = cut < 0 ? "" : line.slice(cut + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "id") this.id = value;
    else if (field === "data") this.data.push(value);
  }
}

// How long nothing may arrive, comments included, until the connection is given up.
export const MAX_SILENCE = 40_000;

// How long to wait before attempt number `failures` (from 1), in milliseconds.
export function retryDelay(failures: number): number {
  return Math.min(500 * 2 ** (failures - 1), 5000);
}

// Reads `answer` to its end; `heard` is called whenever bytes arrive, `take` with every event but comments. Ends early
// when take returns false. Throws what the connection throws.
export async function readEvents(
  answer: Response,
  heard: () => void,
  take: (event: StreamEvent) => boolean,
): Promise<void> {
  const reader = answer.body!.getReader();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    for (const event of events.push(value)) {
      if (event.event !== "comment" && !take(event)) {
        await reader.cancel();
        return;
      }
    }
  }
}
