// The header: connection, name of the profile, and the button that stops all agents.
import { useContext, useEffect, useRef } from 'preact/hooks';
import type { PanelState } from '../shared/panel-state.ts';
import { announce, announceAfter } from './announcer.tsx';
import { isPaused } from './answers.generated.ts';
import { Health } from './health.tsx';
import { type Act, BoardContext, useAct, useAnswer, useLink } from './hooks.ts';
import { Pairing } from './pairing.tsx';
import { Paused, PauseSign } from './paused.tsx';
import { Command, Failed } from './pieces.tsx';
import { Startable, Unpaired } from './unconnected.tsx';
import { sentence, visibleLine } from './words.ts';

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
  waiting: 'up',
  unpaired: 'up',
  stopped: 'doctor',
};

/** Pauses all agents. While they are paused, Resume is shown below instead. */
function StopButton({ connected, act, onPress }: { connected: boolean; act: Act; onPress: () => void }) {
  return (
    <>
      <button
        type="button"
        class="stop"
        aria-describedby={connected ? undefined : 'no-stop'}
        disabled={!connected || act.busy}
        onClick={async () => {
          onPress();
          if (await act.run('PUT', 'paused', { paused: true }))
            announce('Everything is stopped. Agents are paused.');
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

/** Moves focus from Stop to Resume or back, only if the person pressed one: agents may be paused from elsewhere. */
function useTurns(paused: boolean): () => void {
  const pressed = useRef(false);
  const before = useRef(paused);
  useEffect(() => {
    const changed = before.current !== paused;
    before.current = paused;
    if (!changed || document.activeElement !== document.body) return;
    if (!paused) document.querySelector<HTMLElement>('.stop')?.focus();
    else if (pressed.current) document.querySelector<HTMLElement>('.resume')?.focus();
    pressed.current = false;
  }, [paused]);
  return () => {
    pressed.current = true;
  };
}

function SettingsButton({ open, onGo }: { open: boolean; onGo: () => void }) {
  return (
    <button
      type="button"
      class="icon"
      id="open-settings"
      aria-label="Settings"
      title="Settings"
      aria-current={open ? 'page' : undefined}
      onClick={onGo}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M3 5h9m4 0h1M3 10h2m4 0h8M3 15h7m4 0h3" />
        <circle cx="14" cy="5" r="2" />
        <circle cx="7" cy="10" r="2" />
        <circle cx="12" cy="15" r="2" />
      </svg>
    </button>
  );
}

const getIt =
  'This gets and starts it, in a terminal, with Node 18 or newer; its documentation has other ways:';

function Disconnected({ state }: { state: PanelState }) {
  const board = useContext(BoardContext);
  const { link, paired, pairing, program } = state;
  const { phase } = link;
  if (phase === 'connected' || phase === 'connecting') return null;
  if (paired.ended) return <Unpaired state={state} />;
  if (phase !== 'stopped' && (program.phase === 'found' || program.phase === 'starting'))
    return <Startable program={program} />;
  const absent = program.phase === 'absent' && phase === 'unpaired';
  const failed = program.phase === 'failed' && phase === 'unpaired';
  const missing = program.message || 'tabrelay’s program was not found on this computer';
  return (
    <div class="trouble connection">
      <p>{sentence(visibleLine(absent ? missing : failed ? program.message : link.message))}</p>
      {advice[phase] !== undefined && <p>{absent ? getIt : advice[phase]}</p>}
      {absent ? (
        <pre class="command">npx tabrelay up</pre>
      ) : (
        commands[phase] !== undefined && <Command words={commands[phase]} />
      )}
      <button type="button" onClick={() => board.worker.retry()}>
        Connect now
      </button>
      {phase === 'unpaired' && <Pairing pairing={pairing} />}
    </div>
  );
}

export function Header({ settings, onSettings }: { settings: boolean; onSettings: () => void }) {
  const state = useLink();
  const phase = state?.link.phase ?? 'connecting';
  const connected = phase === 'connected';
  const paused = useAnswer('paused', isPaused).value?.paused === true && connected;
  const act = useAct();
  const onPress = useTurns(paused);
  const told = useRef<Phase | undefined>(undefined);
  useEffect(() => {
    // Repeated attempts to connect are not announced.
    if (phase === 'connecting' || told.current === phase) return;
    // That the panel is connected says less than the first question, which it may have by now.
    const say = told.current === undefined ? announceAfter : announce;
    told.current = phase;
    say(phases[phase]);
  }, [phase]);
  return (
    <>
      <header class="top" data-phase={paused ? 'paused' : phase}>
        <div class="who">
          <h1>
            {paused ? <PauseSign /> : <span class="dot" aria-hidden="true" />}
            {paused ? 'Paused' : phases[phase]}
          </h1>
          <p class="quiet">
            {state?.profile.label ? `Profile ${visibleLine(state.profile.label)}` : 'tabrelay'}
          </p>
        </div>
        {!paused && <StopButton connected={connected} act={act} onPress={onPress} />}
        <SettingsButton open={settings} onGo={onSettings} />
      </header>
      <Failed act={act} />
    </>
  );
}

/** Shown while the person has stopped all agents. */
export function PausedNotice() {
  const connected = useLink()?.link.phase === 'connected';
  const paused = useAnswer('paused', isPaused).value?.paused;
  return connected && paused === true ? <Paused /> : null;
}

/** What prevents agents from working, with the next step. */
export function Notices() {
  const state = useLink();
  const connected = state?.link.phase === 'connected';
  return (
    <>
      <PausedNotice />
      {state !== undefined && <Disconnected state={state} />}
      {connected && <Health />}
    </>
  );
}
