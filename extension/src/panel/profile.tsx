// This browser profile: the name agents and the person call it by, and whether tabs show that an agent acts in them.
import { useContext, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { BoardContext, useLink } from './hooks.ts';
import { Part } from './pieces.tsx';
import { visibleLine } from './words.ts';

const longestName = 40; // characters

export function Profile() {
  const board = useContext(BoardContext);
  const state = useLink();
  const [draft, setDraft] = useState<string | undefined>(undefined);
  if (state === undefined || state.profile.id === '') return null;
  const { label } = state.profile;
  const name = draft ?? label;
  const changed = name.trim() !== '' && name.trim() !== label;
  const save = (event: Event) => {
    event.preventDefault();
    if (!changed) return;
    board.line.name(name.trim());
    setDraft(undefined);
    announce(`This profile is called ${name.trim()} now.`);
  };
  return (
    <Part title="This profile">
      <form class="profile" onSubmit={save}>
        <label>
          Profile name
          <input
            value={name}
            maxLength={longestName}
            autocomplete="off"
            onInput={({ currentTarget }) => setDraft(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={!changed}>
          Save
        </button>
      </form>
      <label class="check">
        <input
          type="checkbox"
          checked={state.marks}
          onChange={({ currentTarget }) => board.line.marks(currentTarget.checked)}
        />
        Show in a tab when an agent acts in it
      </label>
      {state.link.phase === 'connected' && (
        <p class="quiet about">
          tabrelay {visibleLine(state.link.message)}, listening at {visibleLine(state.link.address)}
        </p>
      )}
    </Part>
  );
}
