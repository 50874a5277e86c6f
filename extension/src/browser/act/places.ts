// Places in a picture of the page: what lies there, and whether that is still what the picture shows.
import { Time } from '../lines.ts';
import { changedSince, isAsPictured, type Picture } from '../pictured.ts';
import { calledLast, reference } from '../references.ts';
import { lines } from '../tree.ts';
import { referencesIn } from '../words.ts';
import type { Given } from './arguments.ts';
import { page } from './document.ts';
import { boxOf, elementAt, fits, isObject, nearest, roleOf, tagOf, upwards } from './dom.ts';
import { NotDone } from './failure.ts';
import type { Place } from './target.ts';

/** A place in this document's window, as the worker reads it off a picture. */
interface Pointed extends Picture, Place {}

const lookMs = 4000;

const pictureAgain = 'Take a new picture, and say where it is in that one.';

/** The arguments with the element in place of the place that they name, if they name one. */
export function placed(viewer: string, tool: string, given: Given): Given {
  const pointed = pointedOf(given);
  if (pointed === undefined) {
    if (tool === 'click' && Reflect.get(given, 'ref') === undefined)
      throw new NotDone('VALIDATION_ERROR', 'click takes ref, or x and y: a place in the last picture');
    return given;
  }
  const { x, y } = pointed;
  stillPictured(viewer, pointed);
  const hit = elementAt(document, x, y);
  if (hit === null) throw new NotDone('VALIDATION_ERROR', 'The page has nothing at that place');
  refuseReferences(hit);
  if (!isAsPictured(viewer, hit)) {
    const message = `${page.describe(hit)} was not there, or not in that size, when the picture was taken`;
    throw new NotDone('TARGET_CHANGED', message, { hint: pictureAgain });
  }
  const box = boxOf(hit);
  return { ...given, ref: reference(hit), place: { x: x - box.left, y: y - box.top } };
}

/** Where in its target the pointer has to be; undefined: anywhere. */
export function placeIn(given: Given): Place | undefined {
  const place: unknown = Reflect.get(given, 'place');
  return isPlace(place) ? { x: place.x, y: place.y } : undefined;
}

function pointedOf(given: Given): Pointed | undefined {
  const pointed: unknown = Reflect.get(given, 'pointed');
  if (!isPlace(pointed)) return undefined;
  const number: unknown = Reflect.get(pointed, 'number');
  const whole = Reflect.get(pointed, 'whole') === true;
  if (typeof number !== 'number') return undefined;
  const { x, y } = pointed;
  return whole ? { number, whole, x: x - scrollX, y: y - scrollY } : { number, whole, x, y };
}

const isPlace = (value: unknown): value is Place =>
  isObject(value) &&
  typeof Reflect.get(value, 'x') === 'number' &&
  typeof Reflect.get(value, 'y') === 'number';

function stillPictured(viewer: string, picture: Picture): void {
  const changed = changedSince(viewer, picture);
  if (changed === 'document')
    throw new NotDone('DOCUMENT_CHANGED', 'The picture shows an earlier page than there is now', {
      hint: pictureAgain,
    });
  if (changed === 'view')
    throw new NotDone('TARGET_CHANGED', 'The page was scrolled, zoomed or resized since the picture', {
      hint: pictureAgain,
    });
}

// What has one meaning, whatever the place in it.
const controls =
  'a[href],button,input,select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=switch],' +
  '[role=radio],[role=menuitem],[role=tab],[role=option]';

// What can be acted on by a reference is not met by a place, which may be another thing by now. In what is drawn as a
// whole, such as a canvas, only the place says what is meant.
function refuseReferences(hit: Element): void {
  const thing = thingAt(hit);
  if (thing === undefined) return;
  const ref = reference(thing);
  const message = `${page.describe(thing)} is there: x and y are for what has no reference`;
  throw new NotDone('VALIDATION_ERROR', message, { hint: `Pass ref: "${ref}" instead.`, data: { ref } });
}

function thingAt(hit: Element): Element | undefined {
  const known = actable();
  let isDrawn = false;
  for (const at of upwards(hit)) {
    isDrawn ||= isDrawing(at);
    if (known.has(at) && (!isDrawn || fits(at, controls))) return at;
  }
  const label = nearest(hit, 'label');
  const control = label instanceof HTMLLabelElement ? label.control : null;
  return control !== null && known.has(control) ? control : undefined;
}

const isDrawing = (element: Element): boolean =>
  /^(?:canvas|embedded)$/.test(roleOf(element)) ||
  tagOf(element) === 'canvas' ||
  (roleOf(element) === 'img' && element.querySelector('canvas') !== null);

function actable(): Set<Element> {
  const all = lines(document, { interactive: true, everything: true, time: new Time(lookMs) });
  const refs = all.flatMap(({ text }) => referencesIn(text));
  return new Set(refs.flatMap((ref) => calledLast(ref)?.element ?? []));
}
