// When a document changes, told to the relay's subscribers. Runs in the isolated world, where no page sees it.

/**
 * Answers with a mark of the document's state: at once when it is another than seen, else at the next change. It
 * looks as long as it is asked, and a minute longer. Chrome takes the source of this function alone, so it uses
 * nothing from outside.
 */
export function awaitChange(kind: 'text' | 'html', seen: string): unknown {
  const name = `tabrelay.changes.${kind}`;
  const known: unknown = Reflect.get(globalThis, name);
  if (typeof known === 'function') return known(seen);

  const idleMs = 60_000;
  const begun = Date.now(); // a mark is never that of another document, or of an earlier watch
  let changes = 0;
  let tell: ((mark: string) => void) | undefined;
  let end: ReturnType<typeof setTimeout> | undefined;
  const answer = () => {
    tell?.(`${begun}.${changes}`);
    tell = undefined;
  };
  // The extension's own mark comes and goes without a change of the page (bridge/mark.ts).
  const ours = ({ addedNodes, removedNodes }: MutationRecord): boolean => {
    const mark: unknown = Reflect.get(globalThis, 'tabrelayMark');
    const nodes = [...addedNodes, ...removedNodes];
    return mark !== undefined && nodes.length > 0 && nodes.every((node) => node === mark);
  };
  const observer = new MutationObserver((records) => {
    if (records.every(ours)) return;
    changes++;
    answer();
  });
  const what = { subtree: true, childList: true, characterData: true, attributes: kind === 'html' };
  observer.observe(document, what);
  const stop = () => {
    observer.disconnect();
    Reflect.deleteProperty(globalThis, name);
    answer();
  };
  const ask = (last: string) => {
    clearTimeout(end);
    end = setTimeout(stop, idleMs);
    answer(); // whoever asked before has given up
    return new Promise<string>((resolve) => {
      tell = resolve;
      if (last !== `${begun}.${changes}`) answer();
    });
  };
  Reflect.set(globalThis, name, ask);
  return ask(seen);
}
