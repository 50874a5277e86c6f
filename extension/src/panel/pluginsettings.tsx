// The settings of one plugin. The relay checks them; an error is shown at its field. When an address would let agents
// act on more pages, these are shown for confirmation before anything is saved.
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { type Change, isSettings, isUnconfirmed, isUnusable, type Setting } from './answers.generated.ts';
import { Differences } from './changes.tsx';
import { BoardContext, useAnswer } from './hooks.ts';
import { Empty, Loaded, ProblemNotice } from './pieces.tsx';
import { Field, idOf } from './settingfields.tsx';
import { type Draft, draftOf, jsonOf, nameProblem } from './settingvalues.ts';
import { clipped, plural } from './words.ts';
import type { Problem } from './workerport.ts';

/** Values by name of the setting. A Map, because an author may name one “constructor”. */
type By<T> = ReadonlyMap<string, T>;

interface Wider {
  digest: string;
  change: Pick<Change, 'differences'>;
}

/** Asks for confirmation before agents may act on more pages. Focus is on the button that declines. */
function Widening({
  wider,
  busy,
  onAllow,
  onCancel,
}: {
  wider: Wider;
  busy: boolean;
  onAllow: () => void;
  onCancel: () => void;
}) {
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a form where there is none
    <div
      class="sure change"
      role="group"
      aria-labelledby="wider"
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <div>
        <p id="wider">With this, agents can use the plugin on more pages. Nothing is saved yet.</p>
        <Differences of={wider.change} />
      </div>
      <button type="button" ref={cancel} onClick={onCancel}>
        Cancel
      </button>
      <button
        type="button"
        class="allow"
        disabled={busy}
        onKeyDown={(event) => event.repeat && event.preventDefault()}
        onClick={({ detail }) => detail < 2 && onAllow()}
      >
        Allow and save
      </button>
    </div>
  );
}

const summary = (wrong: number): Problem => ({
  status: 422,
  message: `Nothing was saved: ${plural(wrong, 'setting')} cannot be used`,
  hint: undefined,
});

function Form({ plugin, settings }: { plugin: string; settings: readonly Setting[] }) {
  const board = useContext(BoardContext);
  const [drafts, setDrafts] = useState<By<Draft>>(new Map());
  const [wrong, setWrong] = useState<By<string>>(new Map());
  const [wider, setWider] = useState<Wider | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const save = useRef<HTMLButtonElement>(null);

  const refuse = (fields: By<string>) => {
    setWrong(fields);
    const first = settings.find(({ name }) => fields.has(name));
    setProblem(summary(fields.size));
    if (first !== undefined) setTimeout(() => document.getElementById(idOf(first))?.focus());
  };
  const change = (name: string, draft: Draft) => {
    setDrafts(new Map(drafts).set(name, draft));
    setSaved(false);
    setWider(undefined);
    setWrong(new Map([...wrong].filter(([other]) => other !== name)));
  };
  const submit = async (digest: string) => {
    const names = new Map<string, string>();
    const values: [string, unknown][] = [];
    for (const setting of settings) {
      const draft = drafts.get(setting.name);
      if (draft === undefined) continue;
      const why = nameProblem(draft);
      if (why !== undefined) names.set(setting.name, why);
      // A secret is not sent to the panel, so its empty field means unchanged.
      const untouched = setting.secret && setting.set && draft.kind === 'text' && draft.text === '';
      if (!untouched) values.push([setting.name, jsonOf(setting, draft)]);
    }
    setProblem(undefined);
    setWider(undefined);
    if (names.size > 0) return refuse(names);
    setBusy(true);
    const path = `plugins/${encodeURIComponent(plugin)}/settings`;
    const reply = await board.act('PUT', path, { settings: Object.fromEntries(values), digest });
    setBusy(false);
    if (reply.ok) {
      setDrafts(new Map());
      setWrong(new Map());
      setSaved(true);
      announce('The settings are saved and in effect.');
      return;
    }
    const { said } = reply.problem;
    if (isUnconfirmed(said) && said.change) setWider({ digest: said.digest, change: said.change });
    else if (isUnusable(said)) refuse(new Map(Object.entries(said.fields)));
    else setProblem(reply.problem);
  };
  const cancel = () => {
    setWider(undefined);
    setTimeout(() => save.current?.focus());
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (wider === undefined && !busy) void submit('');
      }}
    >
      {settings.map((setting) => (
        <Field
          key={setting.name}
          plugin={plugin}
          setting={setting}
          draft={drafts.get(setting.name) ?? draftOf(setting)}
          wrong={
            wrong.get(setting.name) ?? (drafts.has(setting.name) ? undefined : setting.problem || undefined)
          }
          onChange={(draft) => change(setting.name, draft)}
        />
      ))}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {wider !== undefined ? (
        <Widening
          key={wider.digest}
          wider={wider}
          busy={busy}
          onAllow={() => void submit(wider.digest)}
          onCancel={cancel}
        />
      ) : (
        <button type="submit" class="primary" ref={save} disabled={busy}>
          {busy ? 'Saving …' : 'Save'}
        </button>
      )}
      {saved && <p class="quiet">Saved, and in effect.</p>}
    </form>
  );
}

export function PluginSettings({ plugin, onBack }: { plugin: string; onBack: () => void }) {
  const answer = useAnswer(`plugins/${encodeURIComponent(plugin)}/settings`, isSettings);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section aria-labelledby="settings-title">
      <button type="button" class="small" onClick={onBack}>
        ← All plugins
      </button>
      <h2 id="settings-title" ref={heading} tabIndex={-1}>
        Settings of {clipped(plugin, 80)}
      </h2>
      <Loaded answer={answer} name="the settings">
        {({ settings, problem, patterns }) => {
          if (problem) return <Empty>{problem}.</Empty>;
          if (settings.length === 0) return <Empty>This plugin has no settings.</Empty>;
          return (
            <>
              <p class="quiet">
                The names and explanations are those of the plugin’s author. Give it only what it needs.
              </p>
              <p class="quiet address">
                It works on{' '}
                {patterns?.length ? patterns.map((one) => clipped(one, 200)).join(', ') : 'no pages yet'}.
              </p>
              <Form plugin={plugin} settings={settings} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
