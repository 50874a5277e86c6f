// The arguments of a call as lines that the relay formats, for panel and terminal alike. Long arguments are cut; a
// button fetches all of them.
import { useContext, useState } from 'preact/hooks';
import { isPart, type Line, type Question } from './answers.generated.ts';
import { BoardContext } from './hooks.ts';
import { ProblemNotice } from './pieces.tsx';
import { visible } from './words.ts';
import type { Problem } from './workerport.ts';

const deepest = 12; // lines that are nested deeper are not indented further, but say their level

// Pixels of indentation for each level, and for the continuation of a wrapped line, so that a wrapped value cannot be
// taken for a name.
const step = 12;
const hang = 18;

function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <ul class="arguments">
      {lines.map(({ depth, pieces }, index) => (
        <li
          key={index}
          style={{ paddingLeft: `${Math.min(depth, deepest) * step + hang}px`, textIndent: `-${hang}px` }}
        >
          {depth > deepest && <span class="said">⟨level {depth}⟩ </span>}
          {pieces.map(({ kind, text }, at) =>
            kind === 'note' ? (
              <span key={at} class="said">
                {text}
              </span>
            ) : (
              <bdi key={at} class={kind === 'name' ? 'name' : 'value'}>
                {visible(text)}
              </bdi>
            ),
          )}
        </li>
      ))}
    </ul>
  );
}

/** Joins two parts; the first may end in the middle of a line. */
function joined(lines: readonly Line[], more: readonly Line[]): readonly Line[] {
  const [first, ...rest] = more;
  const last = lines.at(-1);
  if (first?.continues !== true || last === undefined) return [...lines, ...more];
  return [...lines.slice(0, -1), { ...last, pieces: [...last.pieces, ...first.pieces] }, ...rest];
}

interface Opened {
  lines: readonly Line[];
  next: number; // where the next part begins; 0: there is none
  secrets: boolean; // with the values of secret fields
}

/** Fetches the arguments part by part; starts over when the values of secret fields are asked for. */
export function useOpened({ id, shown }: Question) {
  const { worker } = useContext(BoardContext);
  const [opened, setOpened] = useState<Opened>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  const open = async (secrets: boolean) => {
    setBusy(true);
    const before = opened?.secrets === secrets ? opened : undefined;
    const query = `from=${before?.next ?? 0}${secrets ? '&secrets=true' : ''}`;
    const reply = await worker.request('GET', `approvals/${encodeURIComponent(id)}/arguments?${query}`);
    setBusy(false);
    setProblem(reply.ok ? undefined : reply.problem);
    if (!reply.ok || !isPart(reply.body)) return;
    const { lines, next } = reply.body;
    setOpened({ lines: joined(before?.lines ?? [], lines), next: next ?? 0, secrets });
  };
  const more = opened === undefined ? shown.hidden > 0 : opened.next > 0;
  return { opened, more, busy, problem, open };
}

/** The arguments of a call. */
export function Arguments({
  question: { shown },
  opening: { opened, more, busy, problem, open },
}: {
  question: Question;
  opening: ReturnType<typeof useOpened>;
}) {
  if (shown.lines.length === 0) return <p class="quiet with">It is called without arguments.</p>;
  const secret = shown.secret > 0 && opened?.secrets !== true;
  return (
    <div class="with">
      <p class="quiet">Arguments: {opened?.next === 0 ? shown.summary.replace(/;.*/, '') : shown.summary}</p>
      {opened === undefined ? (
        <Lines lines={shown.lines} />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
        <div class="opened" role="group" aria-label="All arguments">
          <Lines lines={opened.lines} />
        </div>
      )}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      {(more || secret) && (
        <p class="quiet hiding">
          {more && (
            <button
              type="button"
              class="small"
              disabled={busy}
              onClick={() => open(opened?.secrets === true)}
            >
              {opened === undefined ? 'Show all' : 'Show more'}
            </button>
          )}{' '}
          {secret && (
            <button type="button" class="small" disabled={busy} onClick={() => open(true)}>
              Show secret fields
            </button>
          )}{' '}
          Until all of it is shown, this can only be allowed once.
        </p>
      )}
    </div>
  );
}
