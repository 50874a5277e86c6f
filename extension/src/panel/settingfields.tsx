// The form field of one setting of a plugin. Its name and description are the author's, shown with visible().

import type { Setting } from './answers.generated.ts';
import { Command } from './pieces.tsx';
import { type Draft, defaultText, formTypes, type Installation } from './settingvalues.ts';
import { clipped, visible, visibleLine } from './words.ts';

export interface FieldProps {
  plugin: string;
  setting: Setting;
  draft: Draft;
  wrong: string | undefined;
  onChange: (draft: Draft) => void;
}

const idOf = (setting: Setting): string => `setting-${encodeURIComponent(setting.name)}`;
const titleOf = ({ label, name }: Setting): string => clipped(label || name, 120);

/** The ids for aria-describedby of a field. */
const explains = (setting: Setting, wrong: string | undefined): string | undefined =>
  [setting.description && `${idOf(setting)}-about`, wrong && `${idOf(setting)}-wrong`]
    .filter(Boolean)
    .join(' ') || undefined;

function Explained({ setting, wrong }: Pick<FieldProps, 'setting' | 'wrong'>) {
  return (
    <>
      {setting.description && (
        <p class="quiet" id={`${idOf(setting)}-about`}>
          {visible(clipped(setting.description, 600))}
        </p>
      )}
      {wrong !== undefined && (
        <p class="wrong" id={`${idOf(setting)}-wrong`}>
          {visibleLine(wrong.charAt(0).toUpperCase() + wrong.slice(1))}.
        </p>
      )}
    </>
  );
}

function Title({ setting }: { setting: Setting }) {
  return (
    <span>
      {titleOf(setting)}
      {setting.required && <span class="quiet"> (required)</span>}
    </span>
  );
}

const keyboards: Record<string, 'decimal' | 'url'> = { number: 'decimal', url: 'url' };

function Text({ setting, draft, wrong, onChange }: FieldProps) {
  const { secret, type, set } = setting;
  const removed = draft.kind === 'removed';
  const usual = defaultText(setting);
  const hint =
    secret && set ? 'Set, and not shown' : usual === '' ? setting.placeholder : `Default: ${usual}`;
  const attributes = {
    id: idOf(setting),
    spellcheck: false,
    placeholder: removed ? 'Is removed when you save' : visibleLine(clipped(hint ?? '', 80)),
    value: draft.kind === 'text' ? draft.text : '',
    'aria-required': setting.required && !(secret && set),
    'aria-invalid': wrong !== undefined,
    'aria-describedby': explains(setting, wrong),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      onChange({ kind: 'text', text: currentTarget.value }),
  };
  return (
    <div class="setting-field">
      <label for={idOf(setting)}>
        <Title setting={setting} />
      </label>
      {secret ? (
        <input type="password" autocomplete="new-password" {...attributes} />
      ) : (
        <input type="text" inputMode={keyboards[type]} autocomplete="off" {...attributes} />
      )}
      {secret && set && !setting.required && (
        <label class="check">
          <input
            type="checkbox"
            checked={removed}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? { kind: 'removed' } : { kind: 'text', text: '' })
            }
          />
          Remove what is set
        </label>
      )}
      <Explained setting={setting} wrong={wrong} />
    </div>
  );
}

function Select({ setting, draft, wrong, onChange }: FieldProps) {
  const usual = defaultText(setting);
  const chosen = draft.kind === 'text' ? draft.text : '';
  const options = setting.options ?? [];
  return (
    <div class="setting-field">
      <label for={idOf(setting)}>
        <Title setting={setting} />
      </label>
      <select
        id={idOf(setting)}
        value={chosen}
        aria-invalid={wrong !== undefined}
        aria-describedby={explains(setting, wrong)}
        onChange={({ currentTarget }) => onChange({ kind: 'text', text: currentTarget.value })}
      >
        <option value="">{usual === '' ? 'Not set' : `Default: ${clipped(usual, 60)}`}</option>
        {[...options, ...(chosen === '' || options.includes(chosen) ? [] : [chosen])].map((one) => (
          <option key={one} value={one}>
            {clipped(one, 80)}
          </option>
        ))}
      </select>
      <Explained setting={setting} wrong={wrong} />
    </div>
  );
}

function Flag({ setting, draft, wrong, onChange }: FieldProps) {
  return (
    <div class="setting-field">
      <label class="check">
        <input
          id={idOf(setting)}
          type="checkbox"
          checked={draft.kind === 'flag' && draft.on}
          aria-describedby={explains(setting, wrong)}
          onChange={({ currentTarget }) => onChange({ kind: 'flag', on: currentTarget.checked })}
        />
        <Title setting={setting} />
      </label>
      <Explained setting={setting} wrong={wrong} />
    </div>
  );
}

const freshKey = (list: readonly Installation[]): number => Math.max(0, ...list.map(({ key }) => key + 1));

/** The addresses of several installations, each with the name by which agents choose it. */
function Several({ setting, draft, wrong, onChange }: FieldProps) {
  const list = draft.kind === 'several' ? draft.list : [];
  const put = (key: number, change: Partial<Installation>) =>
    onChange({ kind: 'several', list: list.map((one) => (one.key === key ? { ...one, ...change } : one)) });
  return (
    <fieldset class="setting-field" aria-describedby={explains(setting, wrong)}>
      <legend>
        <Title setting={setting} />
      </legend>
      {list.map(({ key, name, address }, index) => (
        <div key={key} class="installation">
          <input
            id={index === 0 ? idOf(setting) : undefined}
            aria-label={`Name of installation ${index + 1}`}
            placeholder="Name"
            autocomplete="off"
            value={name}
            aria-invalid={wrong !== undefined}
            onInput={({ currentTarget }) => put(key, { name: currentTarget.value })}
          />
          <input
            aria-label={`Address of installation ${index + 1}`}
            placeholder="https://…"
            inputMode="url"
            autocomplete="off"
            spellcheck={false}
            value={address}
            aria-invalid={wrong !== undefined}
            onInput={({ currentTarget }) => put(key, { address: currentTarget.value })}
          />
          <button
            type="button"
            class="small"
            aria-label={`Leave out installation ${index + 1}`}
            onClick={() => onChange({ kind: 'several', list: list.filter((one) => one.key !== key) })}
          >
            Leave out
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small"
        onClick={() =>
          onChange({ kind: 'several', list: [...list, { key: freshKey(list), name: '', address: '' }] })
        }
      >
        Add an installation
      </button>
      <Explained setting={setting} wrong={wrong} />
    </fieldset>
  );
}

/** A setting of a type that has no field: whether it is set, and the command that sets it. */
function Other({ plugin, setting }: Pick<FieldProps, 'plugin' | 'setting'>) {
  return (
    <div class="setting-field">
      <Title setting={setting} />
      <p class="quiet">
        A form cannot show a setting of the type “{clipped(setting.type, 40)}”.{' '}
        {setting.set ? 'It is set.' : 'It is not set.'} In a terminal:
      </p>
      <Command words={`plugin configure ${plugin} ${clipped(setting.name, 80)}=VALUE`} />
      <Explained setting={setting} wrong={setting.problem ?? undefined} />
    </div>
  );
}

/** Turns one address into a list of installations that begins with it. */
function asSeveral(draft: Draft): Draft {
  const address = draft.kind === 'text' ? draft.text : '';
  return {
    kind: 'several',
    list: [
      { key: 0, name: 'default', address },
      { key: 1, name: '', address: '' },
    ],
  };
}

export function Field(props: FieldProps) {
  const { setting, draft, onChange } = props;
  if (!formTypes.includes(setting.type)) return <Other plugin={props.plugin} setting={setting} />;
  if (setting.type === 'boolean') return <Flag {...props} />;
  if (setting.type === 'select') return <Select {...props} />;
  if (draft.kind === 'several') return <Several {...props} />;
  if (setting.type !== 'url' || setting.secret) return <Text {...props} />;
  return (
    <>
      <Text {...props} />
      <button type="button" class="small" onClick={() => onChange(asSeveral(draft))}>
        Several installations
      </button>
    </>
  );
}

export { idOf };
