// What sends a form, and where to.
import { closest, has, tag } from './dom.ts';
import { known } from './moment.ts';

/** Whether a click on it sends its form. A button whose type is none that there is does, too. */
export function isSubmitter(element: Element): boolean {
  const name = tag(element);
  const type: unknown = name === 'button' || name === 'input' ? Reflect.get(element, 'type') : undefined;
  return type === 'submit' || type === 'image';
}

const ownForm = (element: Element): HTMLFormElement | undefined => {
  const form: unknown = Reflect.get(element, 'form') ?? undefined;
  return form instanceof HTMLFormElement ? form : undefined;
};

/** What a click on an element sends a form with: itself, the button it stands in, or the one it is a label of. */
export function submitterAt(element: Element): Element | undefined {
  if (isSubmitter(element)) return element;
  if (ownForm(element) !== undefined) return undefined;
  const around = closest(element, 'button, label');
  const pressed = around instanceof HTMLLabelElement ? around.control : around;
  return pressed !== null && isSubmitter(pressed) ? pressed : undefined;
}

const mayBeSubmitter = 'button, input[type="submit" i], input[type="image" i]';

/** The button that Enter in a field of a form presses. */
export function defaultButton(form: HTMLFormElement): Element | undefined {
  const about = known(form);
  about.defaultButton ??= readDefaultButton(form) ?? null;
  return about.defaultButton ?? undefined;
}

function readDefaultButton(form: HTMLFormElement): Element | undefined {
  const root = Node.prototype.getRootNode.call(form);
  const scope = root instanceof Document || root instanceof DocumentFragment ? root : document;
  for (const one of scope.querySelectorAll(mayBeSubmitter))
    if (isSubmitter(one) && Reflect.get(one, 'form') === form) return one;
  return undefined;
}

// A field of a form can be called like a member of it: what is asked is the prototype's.
const read = (form: HTMLFormElement, name: 'action' | 'method'): unknown =>
  Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, name)?.get?.call(form);

/** The form that a click on an element, or Enter in it, sends. */
export const formAt = (element: Element): HTMLFormElement | undefined =>
  ownForm(submitterAt(element) ?? element);

/** Its fields and buttons. */
export function partsOf(form: HTMLFormElement): Element[] {
  const all: unknown = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'elements')?.get?.call(
    form,
  );
  return all instanceof HTMLCollection ? Array.from(all) : [];
}

/** How and where the form is sent that an element belongs to; the button that sends it may say so for itself. */
export function destinationOf(element: Element): { method: string; address: string } | undefined {
  const at = submitterAt(element) ?? element;
  const form = ownForm(at);
  if (form === undefined) return undefined;
  const sender = isSubmitter(at) ? at : defaultButton(form);
  const of = (own: 'formMethod' | 'formAction', general: 'method' | 'action') =>
    String(
      sender !== undefined && has(sender, own.toLowerCase()) ? Reflect.get(sender, own) : read(form, general),
    );
  return { method: of('formMethod', 'method').toUpperCase(), address: of('formAction', 'action') };
}
