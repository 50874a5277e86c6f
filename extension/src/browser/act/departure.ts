// Whether a page is about to be left, and what it says of that.
import type { Dialog, DialogAnswer } from './page.ts';

export interface Departure {
  to(): string | undefined;
  asked(): Dialog | undefined;
  download(): string | undefined;
  stays(): void;
  end(): void;
}

interface Navigate extends Event {
  destination: { url: string; sameDocument: boolean };
  downloadRequest: string | null;
  hashChange: boolean;
}

const isNavigate = (event: Event): event is Navigate => 'destination' in event && 'hashChange' in event;

// A page that leaves is waited for. One that asks whether it may be left is asked here, before Chrome asks the person.
export function watchDeparture(dialogs: DialogAnswer): Departure {
  let to: string | undefined;
  let asked: Dialog | undefined;
  let download: string | undefined;
  const stays = () => {
    to = undefined;
  };
  const onNavigate = (event: Event) => {
    if (!isNavigate(event) || event.destination.sameDocument) return;
    if (event.downloadRequest !== null) {
      download = event.destination.url;
      return;
    }
    if (event.defaultPrevented) return;
    if (
      !mayLeave(dialogs, (dialog) => {
        asked = dialog;
      }) &&
      event.cancelable
    ) {
      event.preventDefault();
      return;
    }
    const { url } = event.destination;
    if (!/^(?:https?|file|blob):/i.test(url)) return; // a program of the person's, such as for mail
    queueMicrotask(() => {
      if (!event.defaultPrevented) to = url;
    });
  };
  // The page has said already what it had to say.
  const onUnload = (event: Event) => {
    if (to !== undefined && event.isTrusted) event.stopImmediatePropagation();
  };
  const navigation: unknown = Reflect.get(window, 'navigation');
  const target = navigation instanceof EventTarget ? navigation : undefined;
  target?.addEventListener('navigate', onNavigate);
  target?.addEventListener('navigatesuccess', stays);
  target?.addEventListener('navigateerror', stays);
  addEventListener('beforeunload', onUnload, true);
  // An application of one page may answer the navigation itself, and stay.
  const isAnswered = () => target !== undefined && Reflect.get(target, 'transition') !== null;
  return {
    to: () => (isAnswered() ? undefined : to),
    stays,
    asked: () => asked,
    download: () => download,
    end() {
      target?.removeEventListener('navigate', onNavigate);
      target?.removeEventListener('navigatesuccess', stays);
      target?.removeEventListener('navigateerror', stays);
      removeEventListener('beforeunload', onUnload, true);
    },
  };
}

/** Asks the page whether it may be left, and answers as the call said. */
function mayLeave(dialogs: DialogAnswer, tell: (dialog: Dialog) => void): boolean {
  const event = document.createEvent('BeforeUnloadEvent');
  event.initEvent('beforeunload', false, true);
  dispatchEvent(event);
  const returned: unknown = Reflect.get(event, 'returnValue');
  if (!event.defaultPrevented && (typeof returned !== 'string' || returned === '')) return true;
  const leave = dialogs === 'accept';
  const text = 'The page asks whether to leave: changes that were made may not be saved';
  tell({ kind: 'beforeunload', text, answered: leave ? 'left' : 'stayed' });
  return leave;
}
