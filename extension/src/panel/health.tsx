// The findings of `tabrelay doctor`. A next step that tabrelay can do itself is a button.
import { announce } from './announcer.tsx';
import { type Finding, isDiagnosis } from './answers.generated.ts';
import { useAct, useAnswer } from './hooks.ts';
import { Failed } from './pieces.tsx';
import { sentence, visibleLine } from './words.ts';

/** Findings that other parts of the panel show. */
const elsewhere = new Set([
  'config-unconfirmed',
  'config-widened',
  'paused',
  'profile-away',
  'rules-narrowed',
  'user-scripts-off',
]);

/** The place in the panel where the next step of a finding is done. */
const places: Record<string, { label: string; at: string }> = {
  'review-waits': { label: 'Go to the review', at: '#plugins' },
  'plugin-broken': { label: 'Show plugins', at: '#plugins' },
  'rules-lost': { label: 'Show your rules', at: '#rules' },
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Remedy({ of: { id, what, next, fix } }: { of: Finding }) {
  const act = useAct();
  const place = places[id];
  if (fix)
    return (
      <>
        <button
          type="button"
          class="small"
          aria-label={`Fix: ${visibleLine(what)}`}
          disabled={act.busy}
          onClick={async () => {
            if (await act.run('POST', `doctor/${encodeURIComponent(id)}`))
              announce(`Fixed: ${visibleLine(what)}`);
          }}
        >
          {act.busy ? 'Fixing …' : 'Fix it'}
        </button>
        <span class="quiet"> {sentence(capital(visibleLine(fix)))}</span>
        <Failed act={act} />
      </>
    );
  if (place !== undefined)
    return (
      <button
        type="button"
        class="small"
        onClick={() => {
          location.hash = place.at;
        }}
      >
        {place.label}
      </button>
    );
  return next ? <p class="quiet">{sentence(capital(visibleLine(next)))}</p> : null;
}

export function Health() {
  const { value } = useAnswer('doctor', isDiagnosis);
  const findings = (value?.findings ?? []).filter(
    ({ id, severity }) => severity !== 'ok' && !elsewhere.has(id),
  );
  if (findings.length === 0) return null;
  return (
    <details class="health">
      <summary>
        {findings.length === 1 ? 'One thing needs' : `${findings.length} things need`} attention
      </summary>
      <ul>
        {findings.map((finding) => (
          <li key={`${finding.id} ${finding.what}`}>
            <p>
              {sentence(visibleLine(finding.what))} {finding.why && sentence(visibleLine(finding.why))}
            </p>
            <Remedy of={finding} />
          </li>
        ))}
      </ul>
    </details>
  );
}
