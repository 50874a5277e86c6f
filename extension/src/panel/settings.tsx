// The settings of this browser profile: its name, Chrome permissions, and keyboard shortcuts.
import { useContext, useEffect, useState } from 'preact/hooks';
import { setupPage } from '../shared/setup-page.ts';
import { announce } from './announcer.tsx';
import { BoardContext, useLink } from './hooks.ts';
import { PairAnother } from './pairanother.tsx';
import { Paired } from './paired.tsx';
import { blockedWords, type Permission, usePermission } from './permissions.ts';
import { Empty, Section } from './pieces.tsx';
import { Profiles } from './profiles.tsx';

const longestName = 40; // characters

function ProfileName({ label }: { label: string }) {
  const board = useContext(BoardContext);
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const name = draft ?? label;
  const changed = name.trim() !== '' && name.trim() !== label;
  const save = (event: Event) => {
    event.preventDefault();
    if (!changed) return;
    board.worker.name(name.trim());
    setDraft(undefined);
    announce(`This profile is called ${name.trim()} now.`);
  };
  return (
    <form class="profile" onSubmit={save}>
      <label>
        Profile name
        <input
          value={name}
          maxLength={longestName}
          autocomplete="off"
          aria-describedby="about-name"
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={!changed}>
        Save
      </button>
      <p class="quiet" id="about-name">
        Agents see this name when several browser profiles are connected.
      </p>
    </form>
  );
}

interface SwitchProps {
  label: string;
  about: string;
  on: boolean | undefined;
  onTurn: (on: boolean) => void;
}

function Switch({ label, about, on, onTurn }: SwitchProps) {
  return (
    <label class="setting">
      <span>
        {label}
        <span class="quiet">{about}</span>
      </span>
      <input
        type="checkbox"
        role="switch"
        disabled={on === undefined}
        checked={on === true}
        aria-checked={on === true}
        onChange={({ currentTarget }) => onTurn(currentTarget.checked)}
      />
    </label>
  );
}

function PermissionSwitch({ of, ...texts }: { of: Permission; label: string; about: string }) {
  const [on, turn, blocked] = usePermission(of);
  return <Switch {...texts} {...(blocked && { about: blockedWords })} on={on} onTurn={turn} />;
}

const shortcutsPage = 'chrome://extensions/shortcuts';

/** The description of a shortcut. Chrome has none for the one that clicks the icon. */
const descriptionOf = ({ name, description }: chrome.commands.Command): string =>
  name === '_execute_action' ? 'Open or close this panel' : (description ?? '');

function Shortcuts() {
  const [commands, setCommands] = useState<readonly chrome.commands.Command[]>([]);
  useEffect(() => {
    chrome.commands.getAll().then(setCommands);
  }, []);
  return (
    <Section title="Keyboard shortcuts">
      <dl class="defaults">
        {commands.map((command) => (
          <div key={command.name}>
            <dt>{descriptionOf(command)}</dt>
            <dd>{command.shortcut ? <kbd>{command.shortcut}</kbd> : 'No key'}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        They work wherever Chrome is in front. Chrome sets them at <code>{shortcutsPage}</code>.
      </p>
      <button type="button" class="small" onClick={() => chrome.tabs.create({ url: shortcutsPage })}>
        Change shortcuts
      </button>
    </Section>
  );
}

export function Settings() {
  const board = useContext(BoardContext);
  const state = useLink();
  if (state === undefined || state.profile.id === '') return <Empty>Connecting …</Empty>;
  return (
    <>
      <Section title="This profile">
        <ProfileName label={state.profile.label} />
      </Section>
      <Section title="In Chrome">
        <PermissionSwitch
          of="notifications"
          label="Notifications"
          about="Show a question while this panel is closed."
        />
        <Switch
          label="Mark tabs"
          about="Show in a tab when an agent acts in it."
          on={state.marks}
          onTurn={(on) => board.worker.marks(on)}
        />
        <PermissionSwitch
          of="tabGroups"
          label="Group agent tabs"
          about="Put the tabs of an agent into a group with its name."
        />
        <PermissionSwitch
          of="offscreen"
          label="Start again at once"
          about="When Chrome stops the extension, it is back in 0.2 s instead of half a minute."
        />
        <PermissionSwitch
          of="cookies"
          label="Cookies"
          about="For browser__cookies, which is off until you allow it under Plugins."
        />
        <PermissionSwitch
          of="downloads"
          label="Downloads"
          about="For browser__downloads, which is off until you allow it under Plugins."
        />
      </Section>
      <Shortcuts />
      <Section title="First steps">
        <p class="quiet">The page that a new installation begins with: connection, first call, agents.</p>
        <button type="button" class="small" onClick={() => chrome.tabs.create({ url: setupPage })}>
          Set up
        </button>
      </Section>
      <Paired state={state} />
      {state.link.phase === 'connected' && <Profiles />}
      {state.link.phase === 'connected' && <PairAnother />}
    </>
  );
}
