// The panel's only live region: screen readers are told events, not countdowns.
import { useEffect, useState } from 'preact/hooks';

const listeners = new Set<(text: string) => void>();

/** Has screen readers read a sentence out when they are idle. */
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
