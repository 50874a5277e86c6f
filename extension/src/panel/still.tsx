// Whether the cards that ask the person stand still. A click or key may be meant for what was there before, so buttons
// that allow rest until nothing has come, gone or changed its place among them, and above them, for a moment.
import { type ComponentChildren, createContext } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export const calmMs = 500;

/** Whether what is in the {@link Still} around a card has not moved for calmMs. */
export const StillContext = createContext(true);

export function Still({ children }: { children: ComponentChildren }) {
  const around = useRef<HTMLDivElement>(null);
  const [still, setStill] = useState(true);
  useEffect(() => {
    if (around.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Called before the page is drawn with the change.
    const observer = new MutationObserver(() => {
      setStill(false);
      clearTimeout(timer);
      timer = setTimeout(() => setStill(true), calmMs);
    });
    observer.observe(around.current, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, []);
  return (
    <StillContext.Provider value={still}>
      <div ref={around}>{children}</div>
    </StillContext.Provider>
  );
}
