// The panel's only live region: screen readers are told events, not countdowns.
import { useEffect, useState } from 'preact/hooks';

const listeners = new Set<(text: string) => void>();

const soonMs = 1000;
let saidAt = 0;

/** Has screen readers read a sentence out when they are idle. */
export function announce(text: string): void {
  saidAt = Date.now();
  for (const listener of listeners) listener(text);
}

/** The same, unless something was announced within the last second, which would never be heard then. */
export function announceAfter(text: string): void {
  if (Date.now() - saidAt > soonMs) announce(text);
}

export function Announcer() {
  const [text, setText] = useState('');
  useEffect(() => {
    listeners.add(setText);
    return () => {
      listeners.delete(setText);
    };
  }, []);
  return (
    <p class="unseen" role="status">
      {text}
    </p>
  );
}
