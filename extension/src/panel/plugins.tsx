// The plugins: each with its state, the next step it needs, and the permission of each of its tools.
import { useState } from 'preact/hooks';
import { AddPlugin } from './adding.tsx';
import { isPlugins, isReviews, type Mode, type Plugin, type Tool } from './answers.generated.ts';
import { useAct, useAnswer } from './hooks.ts';
import { Badge, Empty, Failed, Loaded, Section, type Tone } from './pieces.tsx';
import { Remove } from './removal.tsx';
import { clipped, plural, toolTitle, visible, visibleLine } from './words.ts';

const states: Record<Plugin['state'], { tone: Tone; text: string; order: number }> = {
  unreviewed: { tone: 'wait', text: 'needs your review', order: 0 },
  broken: { tone: 'bad', text: 'broken', order: 1 },
  signed_out: { tone: 'wait', text: 'signed out', order: 2 },
  ready: { tone: 'good', text: 'ready', order: 3 },
  not_open: { tone: 'plain', text: 'not open', order: 4 },
  off: { tone: 'plain', text: 'off', order: 5 },
};

export const modeNames: Record<Mode, string> = { off: 'Off', ask: 'Ask me', auto: 'Allow' };
export const modes = ['off', 'ask', 'auto'] as const;
export const isMode = (text: string): text is Mode => text === 'off' || text === 'ask' || text === 'auto';

/** A choice of off, ask and auto, sent to the relay at once. */
function ModeChoice({ target, mode, label }: { target: string; mode: Mode | undefined; label: string }) {
  const act = useAct();
  return (
    <>
      <select
        aria-label={label}
        disabled={act.busy}
        value={mode ?? ''}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.value;
          if (isMode(chosen)) act.run('PUT', 'permissions', { target, mode: chosen });
          else act.run('DELETE', `permissions?target=${encodeURIComponent(target)}`);
        }}
      >
        {mode === undefined && <option value="">Mixed</option>}
        {modes.map((one) => (
          <option key={one} value={one}>
            {modeNames[one]}
          </option>
        ))}
      </select>
      <Failed act={act} />
    </>
  );
}

const riskOf = ({ readOnly, destructive }: Tool): string =>
  readOnly === true ? 'only reads' : destructive === true ? 'may delete or overwrite' : 'changes something';

function ToolRow({ tool }: { tool: Tool }) {
  const title = toolTitle(tool.name, tool.title);
  return (
    <li class="row tool-row">
      <div class="line">
        <span class="tool">{title}</span>
        <ModeChoice target={tool.name} mode={tool.mode} label={`Permission of ${title}`} />
      </div>
      <p class="quiet">
        {riskOf(tool)}
        {tool.why && ` · because ${visibleLine(tool.why)}`}
      </p>
    </li>
  );
}

const openable = (url: string | null | undefined): url is string => url != null && /^https?:\/\//.test(url);

/** A plugin's title, the author's text. */
const titleOf = ({ title, name }: Pick<Plugin, 'title' | 'name'>): string => clipped(title || name, 80);

/** Callbacks that open the pages of a plugin. */
interface Ways {
  onReview: (name: string) => void;
  onSettings: (name: string) => void;
}

function NextStep({ plugin, onReview, onSettings }: { plugin: Plugin } & Ways) {
  const { state, homepage, name } = plugin;
  const title = titleOf(plugin);
  if (state === 'unreviewed') {
    return (
      <button
        type="button"
        class="small primary"
        aria-label={`Review ${title}`}
        onClick={() => onReview(name)}
      >
        Review
      </button>
    );
  }
  if (plugin.unset === true) {
    return (
      <button type="button" class="small" aria-label={`Set up: ${title}`} onClick={() => onSettings(name)}>
        Set up
      </button>
    );
  }
  if ((state === 'not_open' || state === 'signed_out') && openable(homepage)) {
    const text = state === 'not_open' ? 'Open' : 'Sign in';
    return (
      <button
        type="button"
        class="small"
        aria-label={`${text}: ${title}`}
        onClick={() => chrome.tabs.create({ url: homepage })}
      >
        {text}
      </button>
    );
  }
  return null;
}

/** The buttons of a plugin as a whole. */
function Whole({ plugin, onSettings }: { plugin: Plugin } & Pick<Ways, 'onSettings'>) {
  if (!plugin.settings && plugin.added !== true) return null;
  return (
    <div class="whole">
      {!!plugin.settings && (
        <button
          type="button"
          class="small"
          aria-label={`Settings of ${titleOf(plugin)}`}
          onClick={() => onSettings(plugin.name)}
        >
          Settings
        </button>
      )}
      {plugin.added === true && <Remove plugin={plugin} />}
    </div>
  );
}

function PluginRow({ plugin, onReview, onSettings }: { plugin: Plugin } & Ways) {
  const { tools, description, patterns, version, shipped } = plugin;
  const title = titleOf(plugin);
  const state = states[plugin.state];
  const first = tools[0]?.mode;
  const common = tools.every(({ mode }) => mode === first) ? first : undefined;
  return (
    <li class="row plugin">
      <div class="line">
        <span class="tool">{title}</span>
        <span class="ends">
          <Badge tone={state.tone}>{state.text}</Badge>
          <NextStep plugin={plugin} onReview={onReview} onSettings={onSettings} />
        </span>
      </div>
      {plugin.reason && <p class="quiet">{visible(plugin.reason)}</p>}
      <details>
        <summary>
          {plural(tools.length, 'tool')}
          <span class="unseen"> of {title}</span>
        </summary>
        {description && <p class="quiet">{clipped(description, 600)}</p>}
        <p class="quiet address">
          {[
            version && `Version ${clipped(version, 40)}`,
            shipped === true ? 'part of tabrelay' : '',
            clipped(patterns?.join(', ') ?? '', 400),
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
        <Whole plugin={plugin} onSettings={onSettings} />
        {tools.length > 1 && (
          <div class="line all">
            <span>All tools of this plugin</span>
            <ModeChoice target={plugin.name} mode={common} label={`Permission of all tools of ${title}`} />
          </div>
        )}
        <ul class="rows">
          {tools.map((tool) => (
            <ToolRow key={tool.name} tool={tool} />
          ))}
        </ul>
      </details>
    </li>
  );
}

const found = (plugin: Plugin, words: string): boolean =>
  [plugin.name, plugin.title, ...plugin.tools.map(({ name, title }) => `${name} ${title}`)]
    .join(' ')
    .toLowerCase()
    .includes(words.trim().toLowerCase());

export function Plugins({ onReview, onSettings }: Ways) {
  const answer = useAnswer('plugins', isPlugins);
  const reviews = useAnswer('reviews', isReviews).value?.reviews ?? [];
  const [words, setWords] = useState('');
  return (
    <>
      {reviews.length > 0 && (
        <Section title="Waiting for your review" count={reviews.length}>
          <p class="quiet">A new or changed plugin does nothing until you have looked at it.</p>
          <ul class="rows">
            {reviews.map(({ plugin, title, new: fresh }) => (
              <li key={plugin} class="row line">
                <span>
                  <span class="tool">{visibleLine(title || plugin)}</span>{' '}
                  <Badge tone="wait">{fresh === false ? 'changed' : 'new'}</Badge>
                </span>
                <button
                  type="button"
                  class="small primary"
                  aria-label={`Review ${visibleLine(title || plugin)}`}
                  onClick={() => onReview(plugin)}
                >
                  Review
                </button>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Plugins">
        <AddPlugin onReview={onReview} />
        <Loaded answer={answer} name="plugins">
          {({ plugins }) => {
            if (plugins.length === 0) return <Empty>There are no plugins.</Empty>;
            const shown = plugins
              .filter((plugin) => found(plugin, words) && !reviews.some((one) => one.plugin === plugin.name))
              .sort((one, other) => states[one.state].order - states[other.state].order);
            return (
              <>
                <input
                  type="search"
                  aria-label="Find plugins and tools"
                  placeholder="Find plugins and tools"
                  value={words}
                  onInput={({ currentTarget }) => setWords(currentTarget.value)}
                />
                {shown.length === 0 && <Empty>Nothing has “{words}” in its name.</Empty>}
                <ul class="rows">
                  {shown.map((plugin) => (
                    <PluginRow
                      key={plugin.name}
                      plugin={plugin}
                      onReview={onReview}
                      onSettings={onSettings}
                    />
                  ))}
                </ul>
              </>
            );
          }}
        </Loaded>
      </Section>
    </>
  );
}
