// Adding a plugin: the person says where it is, the relay fetches and builds it, and what comes of it is reviewed.
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { type Addition, isAdding, isOffers, isPlugins, isTabs } from './answers.generated.ts';
import { type Act, useAct, useAnswer } from './hooks.ts';
import { Failed } from './pieces.tsx';
import { clipped, plural, visible } from './words.ts';

const path = 'addition';

function Going({ addition, act }: { addition: Addition; act: Act }) {
  return (
    <div class="adding">
      <p>{clipped(addition.step ?? '', 300)} …</p>
      <progress aria-label="Adding the plugin" />
      <button type="button" class="small" disabled={act.busy} onClick={() => void act.run('DELETE', path)}>
        Stop
      </button>
    </div>
  );
}

function Over({ addition, act, onReview }: { addition: Addition; act: Act; onReview: () => void }) {
  const { problem, hint, notes, plugin, state, from } = addition;
  return (
    <div class={problem ? 'trouble' : 'adding'} role={problem ? 'alert' : undefined}>
      {problem ? (
        <>
          <p>Nothing was added from {clipped(from, 200)}:</p>
          <pre>{visible(problem)}</pre>
          {hint && <p class="quiet">{visible(hint)}</p>}
        </>
      ) : (
        <p>
          {clipped(plugin ?? '', 80)} is added.{' '}
          {state === 'waiting' ? 'It does nothing until you have reviewed it.' : 'You reviewed it before.'}
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="quiet">
          {visible(note)}
        </p>
      ))}
      <div class="ends">
        {state === 'waiting' && (
          <button type="button" class="small" onClick={onReview}>
            Review {clipped(plugin ?? '', 80)} now
          </button>
        )}
        <button type="button" class="small" disabled={act.busy} onClick={() => void act.run('DELETE', path)}>
          Close
        </button>
      </div>
    </div>
  );
}

/** Plugins of the index for pages that are open here. Nothing of them is fetched before the person adds one. */
function Offers({ disabled, onAdd }: { disabled: boolean; onAdd: (from: string) => void }) {
  const { value: tabs } = useAnswer('tabs', isTabs);
  const { value, problem, reload } = useAnswer('offers', isOffers);
  const { value: plugins } = useAnswer('plugins', isPlugins);
  useEffect(reload, [tabs, plugins]);
  if (problem) return <p class="quiet">{visible(problem.message)}</p>;
  const offers = value?.offers ?? [];
  if (offers.length === 0) return null;
  return (
    <>
      <h3>For pages that are open</h3>
      <p class="quiet">Published by others. tabrelay lists them, and has not tried them with an account.</p>
      <ul class="rows" aria-label="For pages that are open">
        {offers.map(({ plugin, displayName, site, from, source, licence, tools }) => (
          <li key={from} class="row line">
            <span>
              <span class="tool">{clipped(displayName, 60)}</span>{' '}
              <span class="quiet">
                {[
                  tools > 0
                    ? `${plural(tools, 'tool')} for ${clipped(site, 80)}`
                    : `for ${clipped(site, 80)}`,
                  `from ${clipped(source, 80)}`,
                  clipped(licence ?? '', 20),
                ]
                  .filter((part) => part !== '')
                  .join(', ')}
              </span>
            </span>
            <button
              type="button"
              class="small"
              disabled={disabled}
              aria-label={`Add ${clipped(plugin, 40)}`}
              onClick={() => onAdd(from)}
            >
              Add
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function AddPlugin({ onReview }: { onReview: (name: string) => void }) {
  const { value } = useAnswer(path, isAdding);
  const act = useAct();
  const [open, setOpen] = useState(false);
  const [from, setFrom] = useState('');
  const begun = useRef(false); // here, and not in another panel
  const addition = value?.addition ?? undefined;
  const going = !!addition?.step;
  useEffect(() => {
    if (addition === undefined || going || !begun.current) return;
    begun.current = false;
    if (addition.problem) announce('Nothing was added.');
    else announce(`${clipped(addition.plugin ?? '', 80)} is added.`);
    if (!addition.plugin) return;
    setFrom('');
    if (addition.state !== 'waiting' || addition.notes.length > 0) return;
    void act.run('DELETE', path);
    onReview(addition.plugin);
  }, [addition, going]);
  const add = async (what: string) => {
    if (what === '' || going || act.busy) return;
    begun.current = true;
    begun.current = await act.run('POST', path, { from: what });
  };
  return (
    <>
      <details
        class="new-plugin"
        open={open || addition !== undefined}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>Add a plugin</summary>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void add(from.trim());
          }}
        >
          <label>
            Where it is
            <input
              value={from}
              autocomplete="off"
              spellcheck={false}
              maxLength={1000}
              aria-describedby="about-source"
              placeholder="~/tea-shop"
              onInput={({ currentTarget }) => setFrom(currentTarget.value)}
            />
          </label>
          <p class="quiet" id="about-source">
            A folder or a .tgz file on this computer, the name of a package on npm (with npm: before it), or{' '}
            {'github:OWNER/REPO//FOLDER'}. The relay builds it; it does nothing until you have reviewed it.
          </p>
          <button type="submit" disabled={going || act.busy || from.trim() === ''}>
            Add
          </button>
        </form>
        <Failed act={act} />
        {addition !== undefined &&
          (going ? (
            <Going addition={addition} act={act} />
          ) : (
            <Over addition={addition} act={act} onReview={() => onReview(addition.plugin ?? '')} />
          ))}
      </details>
      <Offers
        disabled={going || act.busy}
        onAdd={(what) => {
          setOpen(true); // where it is shown how it goes
          void add(what);
        }}
      />
    </>
  );
}
