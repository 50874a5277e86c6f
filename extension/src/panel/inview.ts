// Whether a question has been in view: what nobody can have read cannot be allowed.
import { useEffect, useState } from 'preact/hooks';

/** Whether end has been in view since the text before it last grew; undefined until the browser has reported it. */
export function useReadToEnd(end: { current: HTMLElement | null }, shown: boolean): boolean | undefined {
  const [read, setRead] = useState<boolean>();
  useEffect(() => {
    if (!shown) return;
    const mark = end.current;
    const text = mark?.parentElement ?? null;
    if (mark === null || text === null || typeof IntersectionObserver === 'undefined') {
      setRead(true);
      return;
    }
    let length = text.textContent?.length ?? 0;
    const seen = new IntersectionObserver((entries) => {
      const isSeen = entries.at(-1)?.isIntersecting === true;
      setRead((before) => before === true || isSeen);
    });
    seen.observe(mark);
    const grown = new MutationObserver(() => {
      const now = text.textContent?.length ?? 0;
      if (now > length) {
        setRead(undefined);
        seen.unobserve(mark); // observing it again has the browser report it again
        seen.observe(mark);
      }
      length = now;
    });
    grown.observe(text, { childList: true, characterData: true, subtree: true });
    return () => {
      seen.disconnect();
      grown.disconnect();
    };
  }, [end, shown]);
  return read;
}

/** Whether an element is in view, at least nine tenths of it. */
export function useInView(element: { current: HTMLElement | null }): boolean {
  const [inView, setInView] = useState(true);
  useEffect(() => {
    if (element.current === null || typeof IntersectionObserver === 'undefined') return;
    const observer = new IntersectionObserver(
      (entries) => setInView((entries.at(-1)?.intersectionRatio ?? 0) > 0.9), // the last entry is the current state
      { threshold: [0.9, 1] },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return inView;
}
