// The first page: from an extension that was just installed to the first call, step by step. It goes on by itself
// wherever nothing has to be decided.
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { PanelState } from '../shared/panel-state.ts';
import type { InstalledClient } from './answers.generated.ts';
import { Connecting, nextIn, useInstalled } from './connecting.tsx';
import { FirstCall } from './firstcall.tsx';
import { BoardContext, useLink } from './hooks.ts';
import { Pairing } from './pairing.tsx';
import { Command, Copyable, Empty } from './pieces.tsx';
import { Startable, Unpaired } from './unconnected.tsx';
import { Ways } from './ways.tsx';
import { sentence, visibleLine } from './words.ts';

type Link = PanelState['link'];

const lookMs = 1000; // for a relay that a person is just getting or starting

/**
 * Looks for the relay while nothing but its absence is in the way. One that has refused this extension is left alone:
 * the worker asks it again in its own time.
 */
function useLooking({ link: { phase, address }, paired: { ended } }: PanelState): void {
  const board = useContext(BoardContext);
  const absent = !ended && (phase === 'waiting' || (phase === 'unpaired' && address === ''));
  useEffect(() => {
    if (!absent) return;
    const timer = setInterval(() => board.worker.retry(), lookMs);
    return () => clearInterval(timer);
  }, [absent, board]);
}

/** The last state of the link that was not an attempt: these follow each other, and what is shown is not to flicker. */
function useSettled(link: Link): Link {
  const settled = useRef(link);
  if (link.phase !== 'connecting') settled.current = link;
  return settled.current;
}

/** What is in the way of a connection, and what the person does about it. */
function Finding({ state, link: { phase, message } }: { state: PanelState; link: Link }) {
  const { paired, pairing, program } = state;
  if (paired.ended) return <Unpaired state={state} />;
  if (phase === 'connecting') return <p class="quiet">Looking for tabrelay on this computer …</p>;
  if (phase !== 'stopped' && (program.phase === 'found' || program.phase === 'starting'))
    return <Startable program={program} />;
  if (phase === 'stopped')
    return (
      <>
        <p>{sentence(visibleLine(message))} This command finds the cause, and says what to change:</p>
        <Command words="doctor" copied="The command" />
      </>
    );
  if (phase === 'waiting')
    return (
      <>
        <p>tabrelay is known here, and does not run. Run this in a terminal; this page goes on by itself:</p>
        <Command words="up" copied="The command" />
      </>
    );
  return (
    <>
      <p>
        tabrelay is a program on this computer: agents talk to it, and it acts in the browser through this
        extension.{' '}
        {program.message
          ? sentence(visibleLine(program.message))
          : 'The program was not found on this computer.'}
      </p>
      <Ways />
      <p class="quiet" role="status">
        Looking for it … This page goes on by itself as soon as it runs.
      </p>
      <details open={pairing.phase !== 'none'}>
        <summary>It runs already</summary>
        <Pairing pairing={pairing} />
      </details>
    </>
  );
}

type Turn = 'done' | 'now' | 'later';

interface StepProps {
  title: string;
  turn: Turn;
  /** When it changes, what had focus may be gone: the heading gets it. */
  reached?: string;
  children: ComponentChildren;
}

function Step({ title, turn, reached = turn, children }: StepProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef(reached);
  useEffect(() => {
    if (before.current === reached) return;
    before.current = reached;
    if (turn === 'now' && reached && document.activeElement === document.body) heading.current?.focus();
  }, [reached, turn]);
  return (
    <li class="step" data-turn={turn} aria-current={turn === 'now' ? 'step' : undefined}>
      <h3 ref={heading} tabIndex={-1}>
        {title}
        {turn === 'done' && <span class="unseen"> (done)</span>}
      </h3>
      {turn !== 'later' && children}
    </li>
  );
}

const errand = 'Say hello on the tabrelay demo site, then raise its counter by three.';

function TryIt({ client }: { client: InstalledClient | undefined }) {
  return (
    <>
      {client !== undefined && (
        <p>
          So that {visibleLine(client.title)} knows of it: {nextIn(client)}
        </p>
      )}
      <p>Leave the demo site open, and ask {client ? visibleLine(client.title) : 'your agent'}:</p>
      <Copyable text={errand} name="The sentence" />
      <p class="quiet">
        A click on tabrelay’s icon in the toolbar opens its side panel: there you see what agents do, answer
        their questions, and stop them.
      </p>
    </>
  );
}

function Steps({ state }: { state: PanelState }) {
  const [called, setCalled] = useState(false);
  const [chosen, choose] = useState('');
  const clients = useInstalled().value?.clients.filter((one) => one.connected) ?? [];
  const tried = clients.find(({ name }) => name === chosen);
  const link = useSettled(state.link);
  useLooking(state);
  const connected = link.phase === 'connected';
  const turn = (done: boolean, ready: boolean): Turn => (!ready ? 'later' : done ? 'done' : 'now');
  return (
    <ol class="steps">
      <Step title="Connect this browser" turn={turn(connected, true)}>
        {connected ? (
          <p>
            Connected with tabrelay {visibleLine(link.message)} at {visibleLine(link.address)}, as the profile
            “{visibleLine(state.profile.label)}”.
          </p>
        ) : (
          <Finding state={state} link={link} />
        )}
      </Step>
      <Step title="Make a first call" turn={turn(called, connected)}>
        <FirstCall onDone={() => setCalled(true)} />
      </Step>
      <Step title="Connect your agent" turn={turn(clients.length > 0, connected && called)}>
        <Connecting onConnect={choose} />
      </Step>
      <Step title="Try it" turn={turn(false, connected && called)} reached={tried?.name ?? ''}>
        <TryIt client={tried ?? clients[0]} />
      </Step>
    </ol>
  );
}

export function SetUp() {
  const state = useLink();
  return (
    <section id="page" class="setup" aria-labelledby="part-set-up">
      <h2 id="part-set-up">Set up tabrelay</h2>
      <p class="quiet">
        Agents that you choose can use the web applications you are signed in to. You are asked before they
        read or change anything.
      </p>
      {state === undefined ? <Empty>Connecting …</Empty> : <Steps state={state} />}
    </section>
  );
}
