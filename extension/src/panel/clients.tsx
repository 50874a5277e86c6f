// The programs that may connect to the relay: what each may use at the most, when it was here last, and the way out.
import { inPanel } from '../capabilities/panel.ts';
import { type Client, isClients } from './answers.generated.ts';
import { inWords } from './called.ts';
import { useAct, useAnswer, useCalled, useNow } from './hooks.ts';
import { Badge, ConfirmButton, Empty, Failed, Loaded, Section } from './pieces.tsx';
import { Scope } from './scope.tsx';
import { ago, moment, visibleLine } from './words.ts';

function ClientRow({ client, now }: { client: Client; now: number }) {
  const act = useAct();
  const path = `clients/${encodeURIComponent(client.name)}`;
  const name = visibleLine(client.name);
  const seen = moment(client.lastSeen);
  const here = (client.attached ?? 0) > 0;
  const expires = moment(client.expires);
  return (
    <li class="row">
      <div class="line">
        <span class="tool">{name}</span>
        {client.registered === false && <Badge tone="plain">no token</Badge>}
        {client.remote && <Badge tone="plain">another machine</Badge>}
        {here && <Badge tone="good">connected</Badge>}
        {expires !== undefined && expires <= now && <Badge tone="bad">token expired</Badge>}
      </div>
      <div class="line">
        <span class="quiet">
          {here ? 'here now' : seen === undefined ? 'never seen' : `last seen ${ago(seen, now)}`}
          {client.via && client.via.length > 0 && ` · ${client.via.map(visibleLine).join(', ')}`}
          {client.from && client.from.length > 0 && ` · from ${client.from.map(visibleLine).join(', ')}`}
          {expires !== undefined && expires > now && ` · token until ${new Date(expires).toLocaleString()}`}
        </span>
        {client.registered !== false && (
          <ConfirmButton
            label="Revoke"
            name={`Revoke ${name}`}
            question={`Revoke the token of ${name}? It loses access at once, and its running calls are cancelled.`}
            yes="Revoke"
            disabled={act.busy}
            onYes={() => act.run('DELETE', path)}
          />
        )}
      </div>
      <Failed act={act} />
      <Scope client={client} />
    </li>
  );
}

export function Clients() {
  const answer = useAnswer('clients', isClients);
  const called = useCalled();
  const now = useNow();
  return (
    <Section title="Clients" count={answer.value?.clients.length}>
      <p class="quiet">
        Programs that may ask tabrelay for something, on this computer unless it says another machine. A token
        proves which of them it is; one without is called what it calls itself.
      </p>
      <Loaded answer={answer} name="clients">
        {({ clients }) =>
          clients.length === 0 ? (
            <Empty>None yet. {inWords(called, 'connect')} sets one up.</Empty>
          ) : (
            <ul class="rows">
              {clients.map((client) => (
                <ClientRow key={client.name} client={client} now={now} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {inPanel.map(({ BelowClients }) => BelowClients && <BelowClients key={BelowClients.name} />)}
    </Section>
  );
}
