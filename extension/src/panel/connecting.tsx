// The clients that are found on this computer: which file connecting one writes, and one click that does it.
import { useEffect, useRef } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { type InstalledClient, isInstalled } from './answers.generated.ts';
import { lineOf } from './called.ts';
import { useAct, useAnswer, useCalled } from './hooks.ts';
import { Badge, ConfirmButton, Empty, Failed, Loaded } from './pieces.tsx';
import { sentence, visibleLine } from './words.ts';

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What the person does next in a client. */
export const nextIn = ({ restart }: InstalledClient): string => sentence(capital(visibleLine(restart)));

const File = ({ path }: { path: string }) => <code class="path">{visibleLine(path)}</code>;

/** What connecting changes, before it does. */
function Changes({ of: { file, copy, replaces, elsewhere, renews } }: { of: InstalledClient }) {
  return (
    <>
      <p>
        {copy ? 'Writes tabrelay into ' : replaces ? 'Writes its entry anew in ' : 'Makes '}
        <File path={file} />
        {copy ? (
          <>
            . Everything else in it stays, and the file as it is now is kept as <File path={copy} />.
          </>
        ) : (
          '.'
        )}
      </p>
      {elsewhere ? (
        <p>
          It is connected to another relay, of <File path={elsewhere} />. That entry is replaced.
        </p>
      ) : (
        replaces && <p>The entry of tabrelay that is there does not reach this relay, and is replaced.</p>
      )}
      {renews && <p>It gets a new token. Whatever uses the one that it has loses access.</p>}
    </>
  );
}

function Found({ client, onConnect }: { client: InstalledClient; onConnect: (name: string) => void }) {
  const act = useAct();
  const button = useRef<HTMLButtonElement>(null);
  const before = useRef(client.connected);
  useEffect(() => {
    // The button that disconnected it had focus, and is gone.
    if (before.current && !client.connected && document.activeElement === document.body)
      button.current?.focus();
    before.current = client.connected;
  }, [client.connected]);
  const path = `installed-clients/${encodeURIComponent(client.name)}`;
  const title = visibleLine(client.title);
  const connect = async () => {
    if (!(await act.run('POST', path, { file: client.file }))) return;
    announce(`${title} is connected.`);
    onConnect(client.name);
  };
  const disconnect = async () => {
    if (await act.run('DELETE', path)) announce(`${title} is disconnected.`);
  };
  return (
    <li class="row" aria-label={title}>
      <div class="line">
        <strong>{title}</strong>
        {client.connected && <Badge tone="good">connected</Badge>}
        {client.problem ? null : client.connected ? (
          <ConfirmButton
            label="Disconnect"
            name={`Disconnect ${title}`}
            question={`Disconnect ${title}? Its entry is taken out of its file again, and its token is revoked.`}
            yes="Disconnect"
            disabled={act.busy}
            onYes={() => void disconnect()}
          />
        ) : (
          <button
            type="button"
            ref={button}
            class="small primary"
            aria-label={`Connect ${title}`}
            aria-disabled={act.busy}
            onClick={() => act.busy || void connect()}
          >
            {act.busy ? 'Connecting …' : 'Connect'}
          </button>
        )}
      </div>
      {client.problem ? (
        <div class="trouble">
          <p>{sentence(capital(visibleLine(client.problem)))}</p>
          {client.hint && <p class="quiet">{sentence(capital(visibleLine(client.hint)))}</p>}
        </div>
      ) : client.connected ? (
        <p>
          Its entry is in <File path={client.file} />
          {client.copy ? (
            <>
              ; the file as it was before is <File path={client.copy} />
            </>
          ) : null}
          .
        </p>
      ) : (
        <Changes of={client} />
      )}
      <Failed act={act} />
    </li>
  );
}

/** How clients are connected that are not found here, one line for each. */
function Others({ clients, open }: { clients: readonly InstalledClient[]; open: boolean }) {
  const called = useCalled();
  const line = (words: string) => visibleLine(lineOf(called, words));
  return (
    <details open={open}>
      <summary>Another client</summary>
      <p>Install it and start it once, and it is found here; or run its line in a terminal:</p>
      <ul>
        {clients.map(({ name, title }) => (
          <li key={name}>
            {visibleLine(title)}: <code>{line(`connect ${name}`)}</code>
          </li>
        ))}
        <li>
          Any other, over HTTP: <code>{line('clients add NAME')}</code>
        </li>
      </ul>
    </details>
  );
}

/** The clients of this computer as the relay finds them. */
export const useInstalled = () => useAnswer('installed-clients', isInstalled);

export function Connecting({ onConnect }: { onConnect: (name: string) => void }) {
  const answer = useInstalled();
  return (
    <Loaded answer={answer} name="clients">
      {({ clients }) => {
        const found = clients.filter((one) => one.found || one.connected);
        return (
          <>
            {found.length === 0 ? (
              <Empty>No client was found on this computer.</Empty>
            ) : (
              <ul class="rows" aria-label="Clients on this computer">
                {found.map((client) => (
                  <Found key={client.name} client={client} onConnect={onConnect} />
                ))}
              </ul>
            )}
            <button type="button" class="small" onClick={answer.reload}>
              Look again
            </button>
            <Others clients={clients.filter((one) => !found.includes(one))} open={found.length === 0} />
          </>
        );
      }}
    </Loaded>
  );
}
