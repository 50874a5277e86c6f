// The review of a plugin: what it asks for in sentences, the difference from the content that was accepted last, and
// its source. Only a person can accept it, here or in a terminal.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { type FileDifference, isReview, type Review, type ReviewedTool } from './answers.generated.ts';
import { useAct, useAnswer } from './hooks.ts';
import { Badge, Loaded, ProblemNotice } from './pieces.tsx';
import { moment, plural, toolTitle, visible, visibleLine } from './words.ts';

const worlds: Record<string, string> = {
  isolated: 'beside the page: it sees the page, the page does not see it',
  main: 'inside the page: a hostile page could falsify what it reads',
};

function List({ title, lines }: { title: string; lines: readonly string[] | null | undefined }) {
  if (lines == null || lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain">
        {lines.map((line) => (
          <li key={line}>{visible(line)}</li>
        ))}
      </ul>
    </>
  );
}

const kindOf = (line: string): string | undefined =>
  line.startsWith('+')
    ? 'added'
    : line.startsWith('-')
      ? 'removed'
      : line.startsWith('@')
        ? 'where'
        : undefined;

function Code({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach what is there
    <section class="code" tabIndex={0} aria-label={name}>
      <pre>{children}</pre>
    </section>
  );
}

function Diff({ text }: { text: string }) {
  return (
    <Code name="Changed lines">
      {text.split('\n').map((line, number) => {
        const kind = kindOf(line);
        const Tag = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span';
        return (
          <Tag key={number} class={kind}>
            {visible(line)}
            {'\n'}
          </Tag>
        );
      })}
    </Code>
  );
}

function Differences({ list }: { list: readonly FileDifference[] }) {
  return (
    <>
      <h3>What changed since the last review</h3>
      {list.map(({ path, change, text }) => (
        <details key={path} class="file" open={list.length === 1}>
          <summary>
            <code>{visibleLine(path)}</code> {change && <Badge tone="wait">{visibleLine(change)}</Badge>}
          </summary>
          {text ? <Diff text={text} /> : <p class="quiet">There is no text to compare.</p>}
        </details>
      ))}
    </>
  );
}

function ToolLine({ tool }: { tool: ReviewedTool }) {
  const risk =
    tool.readOnly === true
      ? 'only reads'
      : tool.destructive === true
        ? 'may delete or overwrite'
        : 'changes something';
  return (
    <li>
      <b>{toolTitle(tool.name, tool.title)}</b> <span class="quiet">({risk})</span>{' '}
      {tool.change && <Badge tone="wait">{visibleLine(tool.change)}</Badge>}
      {tool.description && <p class="quiet">{visible(tool.description)}</p>}
    </li>
  );
}

function Content({ review }: { review: Review }) {
  const { reviewed, source } = review;
  const [tools, files, diff] = [review.tools ?? [], review.files ?? [], review.diff ?? []];
  const world = worlds[review.world ?? ''];
  const at = moment(reviewed?.at);
  return (
    <>
      <p class="quiet address">
        {[review.version && `Version ${review.version}`, source && `from ${source}`]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <p class="quiet">
        {reviewed == null
          ? 'It was never reviewed before.'
          : `Its content changed since it was last reviewed${at === undefined ? '' : `, on ${new Date(at).toLocaleDateString()}`}.`}
      </p>
      <List title="What is different for you" lines={review.changes} />
      {diff.length > 0 && <Differences list={diff} />}
      <List title="What it asks for" lines={review.permissions} />
      <List title="Sites it works on" lines={review.hosts} />
      <List title="Never on" lines={review.excludes} />
      <List title="Where it runs" lines={world === undefined ? [] : [world]} />
      {tools.length > 0 && (
        <>
          <h3>{plural(tools.length, 'tool')}</h3>
          <ul class="plain">
            {tools.map((tool) => (
              <ToolLine key={tool.name} tool={tool} />
            ))}
          </ul>
        </>
      )}
      <h3>Source</h3>
      <p class="quiet">
        What runs is in <code>dist/</code>. Other files are there to help you read: nothing makes sure that{' '}
        <code>dist/</code> was built from them.
      </p>
      {review.partly === true && <p class="quiet">It has more sources than are shown here.</p>}
      {files.length === 0 && <p class="quiet">Its files are not shown.</p>}
      {files.map(({ path, text, size }) => (
        <details key={path} class="file">
          <summary>
            <code>{visibleLine(path)}</code>{' '}
            {size != null && <span class="quiet">{size.toLocaleString('en')} bytes</span>}
          </summary>
          {text == null ? (
            <p class="quiet">It is not text.</p>
          ) : (
            <Code name={`Source of ${visibleLine(path)}`}>{visible(text)}</Code>
          )}
        </details>
      ))}
      <p class="quiet address">
        Content <code>{review.hash.slice(0, 16)}</code>
      </p>
    </>
  );
}

export function ReviewPage({ plugin, onBack }: { plugin: string; onBack: () => void }) {
  const path = `reviews/${encodeURIComponent(plugin)}`;
  const answer = useAnswer(path, isReview);
  const act = useAct();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const title = visibleLine(answer.value?.title || plugin);
  const judge = async (verdict: 'accept' | 'refuse') => {
    const hash = answer.value?.hash;
    if (hash === undefined || !(await act.run('POST', path, { hash, verdict }))) return;
    announce(verdict === 'accept' ? `${title} may be used now.` : `${title} stays off.`);
    onBack();
  };
  return (
    <section class="review" aria-labelledby="review-title">
      <button type="button" class="small" onClick={onBack}>
        ← All plugins
      </button>
      <h2 id="review-title" ref={heading} tabIndex={-1}>
        Review: {title}
      </h2>
      <Loaded answer={answer} name="the plugin">
        {(review) => (
          <>
            <Content review={review} />
            <div class="verdict">
              {act.problem !== undefined && (
                <ProblemNotice
                  problem={
                    act.problem.status === 409
                      ? { ...act.problem, hint: 'Read what it is now, then decide again.' }
                      : act.problem
                  }
                />
              )}
              <div class="buttons">
                <button type="button" disabled={act.busy} onClick={() => judge('refuse')}>
                  Keep it off
                </button>
                <button type="button" class="allow" disabled={act.busy} onClick={() => judge('accept')}>
                  Accept
                </button>
              </div>
            </div>
          </>
        )}
      </Loaded>
    </section>
  );
}
