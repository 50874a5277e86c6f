// What a person would call what has no name: by its title, a word of its class or id, its picture, shape or colour.
import { colourWord } from './colours.ts';
import { attribute, content, holder, line, tag, textOf } from './dom.ts';
import { isKeyTaker, styleOf } from './drawn.ts';

const mostOfHint = 60; // characters
const mostBeside = 40; // others that are looked at
const mostParts = 8; // of a thing that are asked for a word
const titles = [
  'title',
  'data-tooltip',
  'data-title',
  'data-icon',
  'data-testid',
  'data-action',
  'alt',
  'name',
];

/** A word for what has no name. What stands in other things in it says nothing of it. */
export function hintOf(element: Element, others: readonly Element[] = []): string {
  const parts = [element, ...innerParts(element, others)];
  return cutOff(
    first(parts, titleIn) ||
      first(parts, fileIn) ||
      (isKeyTaker(element) ? line(textOf(holder(element) ?? element)) : '') ||
      edgeOf(element) ||
      withColour(element, first(parts, wordsIn)) ||
      first(parts, pictureIn) ||
      (attribute(element, 'href') ?? '') ||
      (isField(element) ? hintAround(element) : lookOf(element)),
  );
}

const cutOff = (hint: string): string => line(hint).slice(0, mostOfHint);

function first(parts: readonly Element[], hint: (part: Element) => string): string {
  for (const part of parts) {
    const said = hint(part);
    if (said !== '') return said;
  }
  return '';
}

function innerParts(element: Element, others: readonly Element[]): Element[] {
  const all = Array.from(element.querySelectorAll('*')).slice(0, mostParts);
  return others.length === 0 ? all : all.filter((part) => !others.some((other) => other.contains(part)));
}

function titleIn(part: Element): string {
  for (const name of titles) {
    const said = line(attribute(part, name) ?? '');
    if (said !== '') return said;
  }
  if (part instanceof SVGElement)
    for (const one of content(part))
      if (typeof one !== 'string' && tag(one) === 'title') return line(textOf(one));
  const href = attribute(part, 'href') ?? attribute(part, 'xlink:href') ?? '';
  return href.startsWith('#') && tag(part) === 'use' ? words(href) : '';
}

const fileName = /([^/?#]+?)(?:\.\w+)?(?:[?#].*)?$/;

function fileIn(part: Element): string {
  const source = attribute(part, 'src');
  return source === null ? '' : wordsOfFile(source);
}

const wordsOfFile = (address: string): string =>
  address.startsWith('data:') ? '' : words(fileName.exec(address)?.[1] ?? '');

const wordsIn = (part: Element): string =>
  words(attribute(part, 'class') ?? '') || words(attribute(part, 'id') ?? '');

/** The side or corner that a handle moves. */
const edgeOf = (element: Element): string => /^([a-z]+)-resize$/.exec(styleOf(element).cursor)?.[1] ?? '';

const drawn = ['', '::before', '::after'] as const;

// The name of the picture that style sheets draw.
function pictureIn(part: Element): string {
  for (const pseudo of drawn) {
    const style = pseudo === '' ? styleOf(part) : getComputedStyle(part, pseudo);
    if (pseudo !== '' && style.content === 'none') continue;
    for (const said of [style.content, style.backgroundImage, style.maskImage]) {
      const address = /url\("([^"]+)"\)/.exec(said)?.[1];
      const word = address === undefined ? '' : wordsOfFile(address);
      if (word !== '') return word;
    }
  }
  return '';
}

// Where others beside it have the same word and another colour, that tells it from them.
function withColour(element: Element, word: string): string {
  if (word === '') return '';
  const classes = attribute(element, 'class');
  const colour = classes === null ? '' : colourOf(element);
  if (colour === '') return word;
  const others = Array.from(holder(element)?.children ?? []).slice(0, mostBeside);
  const differs = others.some((one) => attribute(one, 'class') === classes && colourOf(one) !== colour);
  return differs ? `${word} ${colour}` : word;
}

function lookOf(element: Element): string {
  const shape = shapes.has(tag(element)) ? tag(element) : '';
  const look = [colourOf(element), shape].filter(Boolean).join(' ');
  if (look === '') return plainWords(attribute(element, 'class') ?? '');
  return shape === '' ? look : withSize(element, look);
}

const apart = 1.4; // times as large

// Of shapes alike beside it that differ in size, whether it is one of the large ones.
function withSize(shape: Element, look: string): string {
  const alike = Array.from(holder(shape)?.children ?? [])
    .slice(0, mostBeside)
    .filter((one) => tag(one) === tag(shape) && colourOf(one) === colourOf(shape));
  const sizes = alike.map(sizeOf);
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  if (smallest * apart > largest) return look;
  return `${sizeOf(shape) ** 2 < smallest * largest ? 'small' : 'large'} ${look}`;
}

function sizeOf(element: Element): number {
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  return Math.max(width, height);
}

const shapes = new Set('circle ellipse rect line path polygon polyline'.split(' '));

function colourOf(element: Element): string {
  const style = styleOf(element);
  const isShape = element instanceof SVGElement && tag(element) !== 'svg';
  const hasPicture = style.maskImage !== 'none' && style.maskImage !== '';
  if (hasPicture) return '';
  return isShape ? colourWord(style.fill) || colourWord(style.stroke) : colourWord(style.backgroundColor);
}

const isField = (element: Element): boolean => /^(?:input|textarea|select)$/.test(tag(element));

// A field is of no colour that would help: what it stands in may be called something.
function hintAround(field: Element): string {
  let around = holder(field);
  for (let up = 0; up < 3 && around !== undefined; up++, around = holder(around)) {
    const said = words(attribute(around, 'class') ?? '');
    if (said !== '') return said;
  }
  return '';
}

const meaningless = new Set(
  (
    'active block box btn button col col container content css fab far fas flex focus focused ' +
    'grid hidden hover icon icons inner item jsx last large link mui odd open outer row sel selected small svg ' +
    'visible wrap wrapper'
  ).split(' '),
);

const plainWords = (name: string): string => listed(name, () => true);
const words = (name: string): string => listed(name, (word) => !meaningless.has(word));

function listed(name: string, says: (word: string) => boolean): string {
  const found = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 2 && /[aeiouy]/.test(word) && says(word));
  return Array.from(new Set(found)).slice(0, 3).join(' ');
}
