// Saves the audit log, as the filters select, to a file, fetching it page by page; and verifies its hash chain.
import { useContext, useState } from 'preact/hooks';
import { type Guarded, isText } from '../shared/guards.ts';
import { isAudit, isVerified } from './answers.generated.ts';
import { BoardContext } from './hooks.ts';
import { ProblemNotice } from './pieces.tsx';
import { plural } from './words.ts';
import type { Problem, Reply, WorkerPort } from './workerport.ts';

const partSize = 1000; // the most entries of one answer of the relay

type Format = 'csv' | 'jsonl';
const types: Record<Format, string> = { csv: 'text/csv', jsonl: 'application/jsonl' };

function save(parts: readonly string[], format: Format): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type: types[format] }));
  link.download = `tabrelay-audit.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // Chrome reads the blob some time after the click
}

/** The text of an answer for the file. In CSV every answer begins with the header row: only the first is kept. */
function textOf({ body }: { body: unknown }, format: Format, first: boolean): string {
  if (!isText(body)) return ''; // JSON Lines without entries
  return format === 'csv' && !first ? body.slice(body.indexOf('\n') + 1) : body;
}

/** Reads all selected entries, the oldest first, up to the one that is the newest at the start. */
async function readAll(
  worker: WorkerPort,
  filters: URLSearchParams,
  format: Format,
  tell: (percent: number) => void,
): Promise<{ parts: string[] } | (Reply & { ok: false })> {
  const edge = async (more: Record<string, string>) =>
    worker.request('GET', `audit?${new URLSearchParams([...filters, ...Object.entries(more)])}`);
  const oldest = await edge({ after: '0', limit: '1' });
  const newest = await edge({ limit: '1' });
  if (!oldest.ok) return oldest;
  if (!newest.ok) return newest;
  const numberOf = ({ body }: { body: unknown }) => (isAudit(body) ? (body.entries[0]?.n ?? 0) : 0);
  const begin = numberOf(oldest);
  const end = numberOf(newest);
  const parts: string[] = [];
  for (let from = Math.max(begin, 1); from <= Math.max(end, 1); from += partSize) {
    const before = Math.min(from + partSize, end + 1);
    const reply = await edge({ format, after: String(from - 1), before: String(before) });
    if (!reply.ok) return reply;
    parts.push(textOf(reply, format, parts.length === 0));
    tell(Math.min(100, Math.round((100 * (before - begin)) / Math.max(1, end - begin + 1))));
  }
  return { parts };
}

function verdictOf({ whole, rows, problems }: Guarded<typeof isVerified>): string {
  if (whole) return `Nothing was changed: all ${plural(rows, 'entry', 'entries')} are as they were written.`;
  return `The log is not as it was written. ${(problems ?? []).map(({ message }) => message).join('. ')}`;
}

export function Export({ filters }: { filters: URLSearchParams }) {
  const { worker } = useContext(BoardContext);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [said, say] = useState('Files have everything that the filters above select.');
  const [busy, setBusy] = useState(false);
  const take = async (format: Format) => {
    setBusy(true);
    const log = await readAll(worker, filters, format, (percent) => say(`Reading the log: ${percent} %`));
    setBusy(false);
    setProblem('parts' in log ? undefined : log.problem);
    say('parts' in log ? 'The file is complete.' : 'Nothing was saved.');
    if ('parts' in log) save(log.parts, format);
  };
  const verify = async () => {
    setBusy(true);
    const reply = await worker.request('GET', 'audit/verify');
    setBusy(false);
    setProblem(reply.ok ? undefined : reply.problem);
    say(reply.ok && isVerified(reply.body) ? verdictOf(reply.body) : 'The log was not checked.');
  };
  return (
    <>
      <div class="buttons lasting">
        <button type="button" class="small" disabled={busy} onClick={() => take('csv')}>
          Save as CSV
        </button>
        <button type="button" class="small" disabled={busy} onClick={() => take('jsonl')}>
          Save as JSON Lines
        </button>
        <button type="button" class="small" disabled={busy} onClick={verify}>
          Check the log
        </button>
      </div>
      <p class="quiet" aria-live="polite">
        {said}
      </p>
      {problem !== undefined && <ProblemNotice problem={problem} />}
    </>
  );
}
