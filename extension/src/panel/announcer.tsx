// The one live region: screen readers hear what happened, and nothing that merely ticks.
import { useEffect, useState } from 'preact/hooks';

const listeners = new Set<(text: string) => void>();

/** Has a sentence read out when whoever listens is ready for it. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
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
