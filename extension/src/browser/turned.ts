// How elements are turned, scaled and zoomed. https://www.w3.org/TR/css-transforms-2/#ctm

/** How an element is turned and scaled by itself and all that it stands in, without where it is moved to; undefined in
 * perspective. */
export function turnOf(element: Element): DOMMatrix | undefined {
  let turned = new DOMMatrix();
  for (let at: Element | null = element; at !== null; at = around(at)) {
    const own = ownTurn(at);
    if (own === undefined) return undefined;
    turned = own.multiply(turned);
  }
  const { a, b, c, d } = turned;
  return new DOMMatrix([a, b, c, d, 0, 0]).scale(zoomOf(element));
}

// Also in the document of another frame, whose elements are of classes of their own.
function around(element: Element): Element | null {
  const root: Node = element.getRootNode();
  const host: unknown = Reflect.get(root, 'host');
  return element.assignedSlot ?? element.parentElement ?? (isElement(host) ? host : null);
}

const isElement = (value: unknown): value is Element =>
  typeof value === 'object' && value !== null && Reflect.get(value, 'nodeType') === 1;

const none = 'none';

function ownTurn(element: Element): DOMMatrix | undefined {
  const { transform, rotate, scale, offsetPath, perspective } = getComputedStyle(element);
  if (perspective !== none || offsetPath !== none) return undefined;
  const own = new DOMMatrix();
  if (rotate !== none) {
    const parts = rotate.split(' ');
    if (parts.length > 1) return undefined; // around another axis
    own.rotateSelf(degrees(rotate));
  }
  if (scale !== none) {
    const [x = 1, y = x] = scale.split(' ').map(Number);
    own.scaleSelf(x, y);
  }
  if (transform !== none) own.multiplySelf(new DOMMatrix(transform));
  return own.is2D ? own : undefined;
}

const degrees = (angle: string): number => {
  const number = Number.parseFloat(angle);
  return angle.endsWith('rad') && !angle.endsWith('grad') ? (number * 180) / Math.PI : number;
};

/** How much larger style sheets draw what is in an element, by zoom. */
export const zoomOf = (element: Element): number => Number(Reflect.get(element, 'currentCSSZoom') ?? 1);
