// The notice that agents are paused, with Resume.
import { announce } from './announcer.tsx';
import { useAct } from './hooks.ts';
import { Failed } from './pieces.tsx';

export const PauseSign = () => (
  <svg class="sign" viewBox="0 0 12 12" aria-hidden="true">
    <rect x="1.5" y="1" width="3" height="10" rx="1" />
    <rect x="7.5" y="1" width="3" height="10" rx="1" />
  </svg>
);

export function Paused() {
  const act = useAct();
  return (
    <section class="paused" aria-label="Paused">
      <p>
        <b>Agents can do nothing until you resume</b>, also after a restart. Calls that ran were cancelled;
        what they had done by then stays done. Open questions were refused: the agent has to ask again.
      </p>
      <button
        type="button"
        class="resume"
        disabled={act.busy}
        onClick={async () => {
          if (!(await act.run('PUT', 'paused', { paused: false }))) return;
          announce('Resumed. Agents can work again.');
        }}
      >
        Resume
      </button>
      <Failed act={act} />
    </section>
  );
}
