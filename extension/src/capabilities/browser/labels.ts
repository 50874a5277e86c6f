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

// The smaller letters are for what stands so close that the first would lie over something.
const letters = [
  { font: 'bold 12px Arial, Helvetica, sans-serif', height: 15, aside: 3 },
  { font: 'bold 9px Arial, Helvetica, sans-serif', height: 11, aside: 2 },
  { font: 'bold 8px Arial, Helvetica, sans-serif', height: 10, aside: 1 },
];
type Letters = (typeof letters)[number];

const off = 3; // of a tag from its box, around which a line is drawn
// White letters have a contrast of 5 and more on each; neighbours have different ones.
const colours = ['#c4001d', '#0b57d0', '#0f6b2f', '#7b1fa2', '#8a4b00', '#00606b'];

// Shares of a tag that may lie over something: a reference over another thing is taken for that one's.
const mostOverThing = 0.02;
const mostBesideOwn = 0.15; // of one that is drawn over its own thing
const mostOverTag = 0.1; // and still be read

/** Draws references beside their things, else over them, and none over another. Returns how many it has drawn. */
export function drawLabels(pen: Pen, size: Size, things: readonly Labelled[]): number {
  const boxes = things.map(({ box }) => box);
  const tags: Tag[] = [];
  things.forEach(({ ref, box }, i) => {
    const tag = placeFor(pen, ref, box, size, boxes, tags);
    if (tag !== undefined)
      tags.push({ ref, own: box, colour: colours[i % colours.length] ?? '#000', ...tag });
  });
  for (const tag of tags) drawBox(pen, tag);
  for (const tag of tags) drawTag(pen, tag);
  return tags.length;
}

interface Tag {
  ref: string;
  own: Box; // of its thing
  place: Box;
  letters: Letters;
  colour: string;
}

function drawBox(pen: Pen, { own, place, colour }: Tag): void {
  const around = (by: number) => [own.x - by, own.y - by, own.width + 2 * by, own.height + 2 * by] as const;
  pen.lineWidth = 1;
  pen.strokeStyle = '#fff';
  pen.strokeRect(...around(1.5));
  pen.strokeStyle = colour;
  pen.strokeRect(...around(0.5));
  if (gap(own, place) <= off) return;
  const [x, y] = [place.x + place.width / 2, place.y + place.height / 2];
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(nearest(x, own.x, own.width), nearest(y, own.y, own.height));
  pen.stroke();
}

function drawTag(pen: Pen, { ref, place, colour, letters: { font, aside } }: Tag): void {
  pen.fillStyle = '#fff';
  pen.fillRect(place.x - 1, place.y - 1, place.width + 2, place.height + 2);
  pen.fillStyle = colour;
  pen.fillRect(place.x, place.y, place.width, place.height);
  pen.fillStyle = '#fff';
  pen.font = font;
  pen.textBaseline = 'middle';
  pen.fillText(ref, place.x + aside, place.y + place.height / 2 + 0.5);
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

// Where a reference is drawn; undefined: there is no room.
function placeFor(
  pen: Pen,
  ref: string,
  own: Box,
  size: Size,
  boxes: readonly Box[],
  tags: readonly Tag[],
): Pick<Tag, 'place' | 'letters'> | undefined {
  const others = boxes.filter((box) => box !== own && !isInside(own, box));
  for (const [placesOf, isOver] of [
    [beside, false],
    [within, true],
    [furtherOff, false],
  ] as const)
    for (const one of isOver ? letters.slice(1) : letters) {
      pen.font = one.font;
      const tag = { width: Math.ceil(pen.measureText(ref).width) + 2 * one.aside, height: one.height };
      for (const [x, y] of placesOf(own, tag)) {
        const place = { x: Math.round(x), y: Math.round(y), ...tag };
        if (place.x < 1 || place.y < 1) continue;
        if (place.x + tag.width >= size.width || place.y + tag.height >= size.height) continue;
        if (tags.some((other) => covered(place, other.place) > mostOverTag)) continue;
        if (isOver ? covered(place, own) < 1 - mostBesideOwn : covered(place, own) > mostOverThing) continue;
        const over = others.reduce((sum, other) => sum + covered(place, other), 0);
        if (over <= (isOver ? mostBesideOwn : mostOverThing)) return { place, letters: one };
      }
    }
  return undefined;
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

type Places = Generator<readonly [x: number, y: number]>;

const endsOf = (box: Box, tag: Size) => [
  box.x,
  box.x + box.width - tag.width,
  box.x + (box.width - tag.width) / 2,
];
const sidesOf = (box: Box, tag: Size) => [
  box.y + (box.height - tag.height) / 2,
  box.y,
  box.y + box.height - tag.height,
];

function* beside(box: Box, tag: Size, by = 0): Places {
  for (const x of endsOf(box, tag)) yield [x, box.y - tag.height - off - by];
  for (const y of sidesOf(box, tag)) yield [box.x + box.width + off + by, y];
  for (const y of sidesOf(box, tag)) yield [box.x - tag.width - off - by, y];
  for (const x of endsOf(box, tag)) yield [x, box.y + box.height + off + by];
}

function* furtherOff(box: Box, tag: Size): Places {
  yield* beside(box, tag, tag.height + 2);
  yield* beside(box, tag, 2 * tag.height + 4);
}

function* within(box: Box, tag: Size): Places {
  for (const y of [box.y + 1, box.y + box.height - tag.height - 1])
    for (const x of [box.x + 1, box.x + box.width - tag.width - 1, box.x + (box.width - tag.width) / 2])
      yield [x, y];
}
