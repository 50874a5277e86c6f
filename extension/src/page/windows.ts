// Has the bridge open the window that the page asks for while a call acts in it. The page keeps its own function.

import { stringOf, toLower } from '../shared/primordials.ts';
import { ask, front, run, send } from './dialogs.ts';

export const windowEvent = 'tabrelay:window';
export const windowAnswerEvent = 'tabrelay:window-answer';

const { set } = Reflect;
const text = (value: unknown): string => (value === undefined ? '' : stringOf(value));

/** Puts a proxy in front of the function of the page that opens windows. */
export function tapWindows(): void {
  front('open', (target, self, values) => {
    const [url, name, features] = [text(values[0]), text(values[1]), text(values[2])];
    const place = toLower(name);
    if (place === '_self' || place === '_parent' || place === '_top') return run(target, self, values);
    const made = ask(windowEvent, windowAnswerEvent, `ask\0${url}\0${name}\0${features}`);
    if (made === undefined) {
      const opened = run(target, self, values);
      if (opened === null) send(windowEvent, `blocked\0${url}`);
      return opened;
    }
    if (made === '') return null;
    const opened = run(target, self, [url, made]);
    if (made !== name && typeof opened === 'object' && opened !== null) set(opened, 'name', '');
    return opened;
  });
}
