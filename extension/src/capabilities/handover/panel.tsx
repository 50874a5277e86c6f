// What agents have asked the person to do by hand: what for, in which tab, and how it ends.
import { useEffect } from 'preact/hooks';
import { announce } from '../../panel/announcer.tsx';
import type { Capability } from '../../panel/capability.ts';
import { useAct, useAnswer, useLink, useNow } from '../../panel/hooks.ts';
import { Failed } from '../../panel/pieces.tsx';
import { GoToTab, Place } from '../../panel/place.tsx';
import { actor, claim, moment, span, visibleLine } from '../../panel/words.ts';
import { type Handover, isHandovers } from './answers.generated.ts';

function Handovers() {
  const link = useLink()?.link;
  const now = useNow();
  const listed = useAnswer('handovers', isHandovers).value?.handovers ?? [];
  const list = link?.phase === 'connected' ? listed : [];
  const newest = list.at(-1);
  // Said once for each, and not again when another one ends.
  useEffect(() => {
    if (newest !== undefined) announce(`${actor(newest)} needs your hand: ${visibleLine(newest.why)}`);
  }, [newest?.id]);
  if (list.length === 0) return null;
  return (
    <section class="questions" aria-labelledby="handovers-title">
      <h2 id="handovers-title">
        {list.length === 1 ? 'Something for you to do' : `${list.length} things for you to do`}
      </h2>
      {list.map((one) => (
        <Card key={one.id} of={one} now={now} />
      ))}
    </section>
  );
}

function Card({ of, now }: { of: Handover; now: number }) {
  const act = useAct();
  const left = Math.max(0, (moment(of.deadline) ?? now) - now);
  const answer = (how: 'done' | 'cannot') => () =>
    act.run('POST', `handovers/${encodeURIComponent(of.id)}`, { answer: how });
  return (
    <article class="question reads" aria-labelledby={`handover-${of.id}`} aria-busy={act.busy}>
      <h3 id={`handover-${of.id}`}>{actor(of)} needs your hand</h3>
      <p class="reason">The agent says: “{visibleLine(of.why)}”</p>
      {of.called && <p class="quiet">{claim({ called: of.called, doubt: undefined })}</p>}
      <Place origin={of.origin ?? ''} />
      {of.title && (
        <p class="quiet">
          Tab <q>{visibleLine(of.title)}</q>
        </p>
      )}
      <p class="quiet">
        The agent waits {left === 0 ? 'no longer' : `for ${span(left)}`}
        {of.until ? `, or until ${visibleLine(of.until)}` : ''}. Nothing here allows it anything.
      </p>
      <div class="answers">
        <div class="buttons">
          <button type="button" disabled={act.busy} onClick={answer('cannot')}>
            Cannot
          </button>
          {of.tabId ? <GoToTab tabId={of.tabId} name="this request" /> : null}
          <button type="button" class="allow" disabled={act.busy} onClick={answer('done')}>
            Done
          </button>
        </div>
      </div>
      <Failed act={act} />
    </article>
  );
}

export const handover: Capability = { Asking: Handovers };
