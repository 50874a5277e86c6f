// The scope of a client, which limits what rules can allow it; with a form to change it.
import { useRef, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { type Client, isPlugins } from './answers.generated.ts';
import { useAct, useAnswer } from './hooks.ts';
import { Failed } from './pieces.tsx';
import { visibleLine } from './words.ts';

const nothing = 'none'; // no plugin has this name; an empty list would mean all plugins

const namesIn = (plugins: string | null | undefined): string[] =>
  (plugins ?? '').split(/[ ,]+/).filter((name) => name !== '' && name !== nothing);

function scopeOf({ scope }: Client): string {
  const parts = [
    scope?.readOnly === true && 'reads only',
    scope?.plugins && `plugins: ${visibleLine(scope.plugins)}`,
    scope?.toolset && `tools: ${visibleLine(scope.toolset)}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'everything your rules allow' : parts.join(' · ');
}

function Check({ text, on, onTurn }: { text: string; on: boolean; onTurn: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={({ currentTarget }) => onTurn(currentTarget.checked)} />
      {text}
    </label>
  );
}

/** The labels of names in a scope that are not names of plugins. */
const groups: Record<string, string> = {
  browser: 'The browser’s own tools and open tabs',
  agents: 'Other agents',
};

function ScopeForm({ client, onDone }: { client: Client; onDone: () => void }) {
  const act = useAct();
  const plugins = useAnswer('plugins', isPlugins).value?.plugins ?? [];
  const [readOnly, setReadOnly] = useState(client.scope?.readOnly === true);
  const [every, setEvery] = useState(!client.scope?.plugins);
  const [chosen, setChosen] = useState<readonly string[]>(namesIn(client.scope?.plugins));
  const titles = new Map(plugins.map(({ name, title }) => [name, title || name]));
  const names = [...new Set([...Object.keys(groups), ...titles.keys(), ...namesIn(client.scope?.plugins)])];
  const save = async (event: Event) => {
    event.preventDefault();
    const scope = {
      ...(client.scope?.toolset && { toolset: client.scope.toolset }),
      ...(!every && { plugins: chosen.join(',') || nothing }),
      readOnly,
    };
    if (!(await act.run('PUT', `clients/${encodeURIComponent(client.name)}`, { scope }))) return;
    announce(`What ${visibleLine(client.name)} may use was changed.`);
    onDone();
  };
  return (
    <form onSubmit={save}>
      <Check text="Only tools that change nothing" on={readOnly} onTurn={setReadOnly} />
      <fieldset>
        <legend>Plugins</legend>
        <Check text="All, also those that are added later" on={every} onTurn={setEvery} />
        {!every &&
          names.map((name) => (
            <Check
              key={name}
              text={groups[name] ?? visibleLine(titles.get(name) ?? name)}
              on={chosen.includes(name)}
              onTurn={(on) => setChosen(on ? [...chosen, name] : chosen.filter((one) => one !== name))}
            />
          ))}
      </fieldset>
      <button type="submit" aria-label={`Save what ${visibleLine(client.name)} may use`} disabled={act.busy}>
        Save
      </button>
      <Failed act={act} />
    </form>
  );
}

/** The scope of a client; for one with a token, with a button to change it. */
export function Scope({ client }: { client: Client }) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLElement>(null);
  const done = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <>
      <p class="quiet">May use {scopeOf(client)}</p>
      {client.registered !== false && (
        <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary ref={opener} aria-label={`Change what ${visibleLine(client.name)} may use`}>
            Change
          </summary>
          {open && <ScopeForm key={JSON.stringify(client.scope)} client={client} onDone={done} />}
        </details>
      )}
    </>
  );
}
