// What is always in view: whether there is a connection, whose profile this is, and the switch that stops everything.
import { useContext, useEffect, useRef } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { isDiagnosis, isPaused } from './answers.ts';
import { type Act, BoardContext, useAct, useAnswer, useLink } from './hooks.ts';
import { Pairing } from './pairing.tsx';
import { Failed } from './pieces.tsx';
import type { PanelState } from './state.ts';
import { visibleLine } from './words.ts';

type Phase = PanelState['link']['phase'];

const phases: Record<Phase, string> = {
  connected: 'Connected',
  connecting: 'Connecting',
  waiting: 'Not connected',
  unpaired: 'Not paired',
  stopped: 'Refused',
};

const advice: Partial<Record<Phase, string>> = {
  waiting:
    'The relay does not answer. Retrying… If it is not running on this computer, start it in a terminal:',
  unpaired: 'This extension does not know a relay yet. Run this in a terminal; it prepares everything:',
  stopped: 'Retrying every minute. This command finds the cause and says what to change:',
};
const commands: Partial<Record<Phase, string>> = {
  waiting: 'tabrelay up',
  unpaired: 'tabrelay up',
  stopped: 'tabrelay doctor',
};

const sentence = (text: string): string => (text === '' || /[.!?…]$/.test(text) ? text : `${text}.`);

function StopSwitch({
  connected,
  paused,
  act,
}: {
  connected: boolean;
  paused: boolean | undefined;
  act: Act;
}) {
  const stopped = paused === true;
  return (
    <>
      <button
        type="button"
        class={stopped ? 'stop on' : 'stop'}
        role="switch"
        aria-checked={stopped}
        aria-describedby={connected ? undefined : 'no-stop'}
        disabled={!connected || act.busy}
        onClick={async () => {
          if (await act.run('PUT', 'paused', { paused: !stopped }))
            announce(stopped ? 'Agents may work again.' : 'Everything is stopped.');
        }}
      >
        <span class="stop-mark" aria-hidden="true" />
        Stop everything
      </button>
      {!connected && (
        <span id="no-stop" class="unseen">
          Without a connection no agent can do anything in this browser.
        </span>
      )}
    </>
  );
}

function Disconnected({ state: { link, pairing } }: { state: PanelState }) {
  const board = useContext(BoardContext);
  const { phase } = link;
  if (phase === 'connected' || phase === 'connecting') return null;
  return (
    <div class="trouble connection">
      <p>{sentence(visibleLine(link.message))}</p>
      {advice[phase] !== undefined && <p>{advice[phase]}</p>}
      {commands[phase] !== undefined && <pre class="command">{commands[phase]}</pre>}
      <button type="button" onClick={() => board.line.retry()}>
        Connect now
      </button>
      {phase === 'unpaired' && <Pairing pairing={pairing} />}
    </div>
  );
}

/** What the relay finds wrong with itself and around it: the same as `tabrelay doctor`. */
function Health() {
  const { value } = useAnswer('doctor', isDiagnosis);
  const findings = (value?.findings ?? []).filter(({ severity }) => severity !== 'ok');
  if (findings.length === 0) return null;
  return (
    <details class="health">
      <summary>
        {findings.length === 1 ? 'One thing needs' : `${findings.length} things need`} attention
      </summary>
      <ul>
        {findings.map(({ id, what, why, next }) => (
          <li key={`${id} ${what}`}>
            {sentence(visibleLine(what))} {why && sentence(visibleLine(why))}
            {next && <p class="quiet">Next: {sentence(visibleLine(next))}</p>}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function Header() {
  const state = useLink();
  const paused = useAnswer('paused', isPaused).value?.paused;
  const phase = state?.link.phase ?? 'connecting';
  const connected = phase === 'connected';
  const act = useAct();
  const told = useRef<Phase | undefined>(undefined);
  useEffect(() => {
    // Dialling again and again is not news.
    if (phase === 'connecting' || told.current === phase) return;
    told.current = phase;
    announce(phases[phase]);
  }, [phase]);
  return (
    <>
      <header class="top" data-phase={phase}>
        <div class="who">
          <h1>
            <span class="dot" aria-hidden="true" />
            {phases[phase]}
          </h1>
          <p class="quiet">
            {state?.profile.label ? `Profile ${visibleLine(state.profile.label)}` : 'tabrelay'}
          </p>
        </div>
        <StopSwitch connected={connected} paused={paused} act={act} />
      </header>
      <Failed act={act} />
    </>
  );
}

/** What stands in the way, and the next step. */
export function Notices() {
  const state = useLink();
  const paused = useAnswer('paused', isPaused).value?.paused;
  const connected = state?.link.phase === 'connected';
  return (
    <>
      {connected && paused === true && (
        <p class="paused" role="note">
          Everything is stopped: calls that ran were cancelled, and new ones are refused until you switch this
          off.
        </p>
      )}
      {state !== undefined && <Disconnected state={state} />}
      {connected && <Health />}
    </>
  );
}
