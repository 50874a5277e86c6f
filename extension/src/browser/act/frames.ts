// Where a point of what a frame shows is in the document around it, also where the frame is turned, scaled or zoomed.
import { turnOf } from '../turned.ts';
import { boxOf, windowOf } from './dom.ts';

interface Point {
  x: number;
  y: number;
}

/** A point of a frame's view in the view around it; undefined where the frame is drawn in perspective. */
export function pointAround(frame: Element, { x, y }: Point): Point | undefined {
  const turned = turnOf(frame);
  if (turned === undefined) return undefined;
  const { offsetWidth, offsetHeight } = sizeOf(frame);
  const { paddingLeft, paddingTop } = windowOf(frame).getComputedStyle(frame);
  const inBox = {
    x: frame.clientLeft + Number.parseFloat(paddingLeft) + x,
    y: frame.clientTop + Number.parseFloat(paddingTop) + y,
  };
  // However a box is turned, its middle is the middle of the box around it.
  const box = boxOf(frame);
  const from = turned.transformPoint({ x: inBox.x - offsetWidth / 2, y: inBox.y - offsetHeight / 2 });
  return { x: box.left + box.width / 2 + from.x, y: box.top + box.height / 2 + from.y };
}

function sizeOf(frame: Element): { offsetWidth: number; offsetHeight: number } {
  return frame instanceof windowOf(frame).HTMLElement ? frame : { offsetWidth: 0, offsetHeight: 0 };
}
