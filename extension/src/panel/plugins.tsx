// What agents can use: each plugin with its state and the step it needs, and the permission of each of its tools.
import { useState } from 'preact/hooks';
import { isPlugins, isReviews, type Mode, type Plugin, type Tool } from './answers.ts';
import { useAct, useAnswer } from './hooks.ts';
import { Badge, Empty, Failed, Loaded, Part, type Tone } from './pieces.tsx';
import { plural, toolTitle, visible, visibleLine } from './words.ts';

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

/** A choice of off, ask and auto that is made at the relay at once. */
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

function NextStep({ plugin, onReview }: { plugin: Plugin; onReview: (name: string) => void }) {
  const { state, homepage, name } = plugin;
  const title = visibleLine(plugin.title || name);
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

function PluginRow({ plugin, onReview }: { plugin: Plugin; onReview: (name: string) => void }) {
  const { tools, description, patterns, version, shipped } = plugin;
  const title = visibleLine(plugin.title || plugin.name);
  const state = states[plugin.state];
  const first = tools[0]?.mode;
  const common = tools.every(({ mode }) => mode === first) ? first : undefined;
  return (
    <li class="row plugin">
      <div class="line">
        <span class="tool">{title}</span>
        <span class="ends">
          <Badge tone={state.tone}>{state.text}</Badge>
          <NextStep plugin={plugin} onReview={onReview} />
        </span>
      </div>
      {plugin.reason && <p class="quiet">{visible(plugin.reason)}</p>}
      <details>
        <summary>
          {plural(tools.length, 'tool')}
          <span class="unseen"> of {title}</span>
        </summary>
        {description && <p class="quiet">{visible(description)}</p>}
        <p class="quiet address">
          {[version && `Version ${version}`, shipped === true ? 'part of tabrelay' : '', patterns?.join(', ')]
            .filter(Boolean)
            .join(' · ')}
        </p>
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

export function Plugins({ onReview }: { onReview: (name: string) => void }) {
  const answer = useAnswer('plugins', isPlugins);
  const reviews = useAnswer('reviews', isReviews).value?.reviews ?? [];
  const [words, setWords] = useState('');
  return (
    <>
      {reviews.length > 0 && (
        <Part title="Waiting for your review" count={reviews.length}>
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
        </Part>
      )}
      <Part title="Plugins">
        <Loaded answer={answer} name="plugins">
          {({ plugins }) => {
            if (plugins.length === 0)
              return <Empty>There are no plugins. Add one with “tabrelay plugin add”.</Empty>;
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
                    <PluginRow key={plugin.name} plugin={plugin} onReview={onReview} />
                  ))}
                </ul>
              </>
            );
          }}
        </Loaded>
      </Part>
    </>
  );
}
