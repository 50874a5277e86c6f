// References drawn into a picture, each beside the box of its thing.

/** A thing in a picture, with its box in pixels of the picture. */
export interface Labelled {
  ref: string;
  box: Box;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Size {
  width: number;
  height: number;
}

type Pen = OffscreenCanvasRenderingContext2D;

const font = 'bold 12px Arial, Helvetica, sans-serif';
const tagHeight = 15;
const aside = 3; // of the words in their tag
const off = 3; // of a tag from its box, around which a line is drawn
// White letters have a contrast of 5 and more on each; neighbours have different ones.
const colours = ['#c4001d', '#0b57d0', '#0f6b2f', '#7b1fa2', '#8a4b00', '#00606b'];

const overTag = 100; // how bad it is to lie over what, by its share of the tag
const overBox = 10;
const overOwn = 30;
const away = 2; // to stand further off, with a line between

/** Draws the references of things, none over its thing as far as there is room. */
export function drawLabels(pen: Pen, size: Size, things: readonly Labelled[]): void {
  pen.font = font;
  const boxes = things.map(({ box }) => box);
  const tags: Box[] = [];
  things.forEach(({ ref, box }, i) => {
    const width = Math.ceil(pen.measureText(ref).width) + 2 * aside;
    const tag = placeFor(box, { width, height: tagHeight }, size, boxes, tags);
    tags.push(tag);
    draw(pen, ref, box, tag, colours[i % colours.length] ?? '#000');
  });
}

function draw(pen: Pen, ref: string, box: Box, tag: Box, colour: string): void {
  const around = (by: number) => [box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by] as const;
  pen.lineWidth = 1;
  pen.strokeStyle = '#fff';
  pen.strokeRect(...around(1.5));
  pen.strokeStyle = colour;
  pen.strokeRect(...around(0.5));
  if (gap(box, tag) > off) {
    pen.beginPath();
    pen.moveTo(tag.x + tag.width / 2, tag.y + tag.height / 2);
    pen.lineTo(
      nearest(tag.x + tag.width / 2, box.x, box.width),
      nearest(tag.y + tag.height / 2, box.y, box.height),
    );
    pen.stroke();
  }
  pen.fillStyle = '#fff';
  pen.fillRect(tag.x - 1, tag.y - 1, tag.width + 2, tag.height + 2);
  pen.fillStyle = colour;
  pen.fillRect(tag.x, tag.y, tag.width, tag.height);
  pen.fillStyle = '#fff';
  pen.textBaseline = 'middle';
  pen.fillText(ref, tag.x + aside, tag.y + tag.height / 2 + 0.5);
}

const nearest = (to: number, from: number, length: number): number =>
  Math.min(Math.max(to, from), from + length);

const gap = (one: Box, other: Box): number =>
  Math.max(
    one.x - other.x - other.width,
    other.x - one.x - one.width,
    one.y - other.y - other.height,
    other.y - one.y - one.height,
  );

// The best of the places around a box: beside it before over it, where nothing else lies before anywhere else.
function placeFor(box: Box, tag: Size, size: Size, boxes: readonly Box[], tags: readonly Box[]): Box {
  let best: { place: Box; cost: number } | undefined;
  let rank = 0;
  for (const [x, y, far] of placesAround(box, tag)) {
    const place = { x: Math.round(x), y: Math.round(y), ...tag };
    rank += 0.1;
    if (
      place.x < 1 ||
      place.y < 1 ||
      place.x + tag.width >= size.width ||
      place.y + tag.height >= size.height
    )
      continue;
    const cost = rank + (far ? away : 0) + costOf(place, box, boxes, tags);
    if (best === undefined || cost < best.cost) best = { place, cost };
    if (best.cost < 1) break;
  }
  const [x, y] = [
    nearest(box.x, 1, size.width - tag.width - 2),
    nearest(box.y, 1, size.height - tag.height - 2),
  ];
  return best?.place ?? { x: Math.round(x), y: Math.round(y), ...tag };
}

function costOf(place: Box, own: Box, boxes: readonly Box[], tags: readonly Box[]): number {
  let cost = overOwn * covered(place, own);
  for (const box of boxes) if (box !== own && !isInside(own, box)) cost += overBox * covered(place, box);
  for (const tag of tags) cost += overTag * covered(place, tag);
  return cost;
}

function covered(tag: Box, by: Box): number {
  const width = Math.min(tag.x + tag.width, by.x + by.width) - Math.max(tag.x, by.x);
  const height = Math.min(tag.y + tag.height, by.y + by.height) - Math.max(tag.y, by.y);
  return width <= 0 || height <= 0 ? 0 : (width * height) / (tag.width * tag.height);
}

const isInside = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

// Beside the corners and edges, then further off, then within.
function* placesAround(box: Box, tag: Size): Generator<readonly [x: number, y: number, far?: true]> {
  const [left, right] = [box.x - tag.width - off, box.x + box.width + off];
  const [above, below] = [box.y - tag.height - off, box.y + box.height + off];
  const ends = [box.x, box.x + box.width - tag.width, box.x + (box.width - tag.width) / 2];
  const sides = [box.y + (box.height - tag.height) / 2, box.y, box.y + box.height - tag.height];
  for (const x of ends) yield [x, above];
  for (const y of sides) yield [right, y];
  for (const y of sides) yield [left, y];
  for (const x of ends) yield [x, below];
  for (const by of [tag.height + 2, 2 * tag.height + 4]) {
    for (const x of ends) {
      yield [x, above - by, true];
      yield [x, below + by, true];
    }
    for (const y of sides) {
      yield [right + by, y, true];
      yield [left - by, y, true];
    }
  }
  for (const y of [box.y + 1, box.y + box.height - tag.height - 1])
    for (const x of [box.x + 1, box.x + box.width - tag.width - 1]) yield [x, y];
}
