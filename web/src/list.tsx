// A list of any length with at most 60 rows in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  label: string;
  count: number;
  height: number; // of a row, in pixels
  role: "list" | "rowgroup";
  chosen: number; // the row that is kept in sight, -1 none
  row: (index: number) => ComponentChildren;
}

const MOST = 60;

export function Windowed({ label, count, height, role, chosen, row }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  useEffect(() => {
    const watch = new ResizeObserver(() => box.current && setRoom(box.current.clientHeight));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current!;
    if (chosen < 0) return;
    if (chosen * height < element.scrollTop) element.scrollTop = chosen * height;
    else if ((chosen + 1) * height > element.scrollTop + element.clientHeight) {
      element.scrollTop = (chosen + 1) * height - element.clientHeight;
    }
  }, [chosen, height]);
  const shown = Math.min(MOST, Math.ceil(room / height) + 8);
  const from = Math.max(0, Math.min(Math.floor(top / height) - 4, count - shown));
  const rows: ComponentChildren[] = [];
  for (let i = from; i < Math.min(count, from + shown); ++i) rows.push(row(i));
  return (
    <div class="list" ref={box} role={role} aria-label={label} tabIndex={count ? 0 : -1}
      onScroll={() => setTop(box.current!.scrollTop)}>
      <div role="presentation" style={{ height: `${from * height}px` }} />
      {rows}
      <div role="presentation" style={{ height: `${Math.max(0, count - from - rows.length) * height}px` }} />
    </div>
  );
}
