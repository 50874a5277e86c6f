// The avatar of a client: two letters in its colour, which is that of its tab groups. Its name is always beside it.
import { isClients } from './answers.generated.ts';
import { useAnswer } from './hooks.ts';
import { visibleLine } from './words.ts';

interface Actor {
  client: string;
  agent?: string | null | undefined;
}

/** The colours of clients, as the relay gives them. */
export function useColors(): (client: string) => string {
  const clients = useAnswer('clients', isClients).value?.clients ?? [];
  return (client) => clients.find(({ name }) => name === client)?.color ?? '';
}

/** The avatar beside a name. */
export function Avatar({ of: { agent, client }, color }: { of: Actor; color: string }) {
  const name = [...visibleLine(agent || client)]; // by code point: a slice of the string could cut a surrogate pair
  return (
    <span class={`avatar ${/^[a-z]+$/.test(color) ? color : ''}`} aria-hidden="true">
      {name.slice(0, 2).join('')}
    </span>
  );
}
