// Who acts, at a glance: two letters in the client's colour, which its tab groups have too. The name is always beside.
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

/** The letters beside a name. */
export function Avatar({ of: { agent, client }, color }: { of: Actor; color: string }) {
  const name = [...visibleLine(agent || client)]; // in characters, not in halves of them
  return (
    <span class={`avatar ${/^[a-z]+$/.test(color) ? color : ''}`} aria-hidden="true">
      {name.slice(0, 2).join('')}
    </span>
  );
}
