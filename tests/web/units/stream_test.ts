import { EventReader, retryDelay, type StreamEvent } from "../../../web/src/stream";
import { same, test } from "./check";

const TEXT = ': hello\n\nevent: change\nid: 12\ndata: {"a":\ndata: "é→😀"}\n\nid: 13\r\ndata:plain\r\n\r\nevent: epoch\rdata: 4\r\rretry: 5\n\n';
const EVENTS: StreamEvent[] = [
  { event: "comment", id: "", data: "hello" }, { event: "change", id: "12", data: '{"a":\n"é→😀"}' },
  { event: "message", id: "13", data: "plain" }, { event: "epoch", id: "13", data: "4" },
];

test("reads events that arrive at once", () => {
  same(new EventReader().push(new TextEncoder().encode(TEXT)), EVENTS);
});

test("reads the same events wherever the stream is cut in two", () => {
  const bytes = new TextEncoder().encode(TEXT);
  for (let cut = 0; cut <= bytes.length; ++cut) {
    const reader = new EventReader();
    same([...reader.push(bytes.slice(0, cut)), ...reader.push(bytes.slice(cut))], EVENTS, `cut at ${cut}`);
  }
});

test("reads the same events byte by byte", () => {
  const reader = new EventReader();
  same([...new TextEncoder().encode(TEXT)].flatMap((byte) => reader.push(new Uint8Array([byte]))), EVENTS);
});

test("an event without data is none", () => {
  same(new EventReader().push(new TextEncoder().encode("event: change\nid: 1\n\n")), []);
});

test("waits longer after each failure, five seconds at most", () => {
  same([1, 2, 3, 4, 5, 50].map(retryDelay), [500, 1000, 2000, 4000, 5000, 5000]);
});
