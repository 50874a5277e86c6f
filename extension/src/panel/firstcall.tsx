// The first call: a tool on the demo site, on the road of every agent's call, with what came of it.
import { useContext, useState } from 'preact/hooks';
import { isText, optional, shape } from '../shared/guards.ts';
import { announce } from './announcer.tsx';
import { type CallAnswer, isCallAnswer, isOpenedTab, isTabs } from './answers.generated.ts';
import type { Board } from './board.ts';
import { inWords } from './called.ts';
import { BoardContext, useAnswer, useCalled } from './hooks.ts';
import { Loaded, ProblemNotice } from './pieces.tsx';
import { GoToTab } from './place.tsx';
import { duration, visibleLine } from './words.ts';
import type { Problem } from './workerport.ts';

const tool = 'demo__hello';

type Outcome = { done: CallAnswer; tabId: number } | { problem: Problem };

const misunderstood = ({ state }: Board): { problem: Problem } => ({
  problem: {
    status: 0,
    message: 'This page does not understand what the relay answered',
    hint: `They may be of different versions: run ${inWords(state?.paired.command, 'up')}, then reload this page.`,
  },
});

/** The tab of this profile that shows the demo site; one is opened behind this page when there is none. */
async function demoTab(board: Board, site: string): Promise<{ tabId: number } | { problem: Problem }> {
  const own = board.state?.profile.id ?? '';
  const listed = await board.worker.request('GET', 'tabs');
  if (!listed.ok) return listed;
  if (!isTabs(listed.body)) return misunderstood(board);
  const there = listed.body.tabs.find(({ profileId, url }) => profileId === own && url.startsWith(site));
  if (there !== undefined) return there;
  const opened = await board.act('POST', 'tabs', { url: site, profile: own });
  if (!opened.ok) return opened;
  return isOpenedTab(opened.body) ? opened.body : misunderstood(board);
}

async function callDemo(board: Board, site: string): Promise<Outcome> {
  const tab = await demoTab(board, site);
  if ('problem' in tab) return tab;
  const { tabId } = tab;
  const profile = board.state?.profile.id;
  const reply = await board.worker.request('POST', `tools/${tool}/call`, { arguments: { tabId, profile } });
  if (!reply.ok) return reply;
  if (!isCallAnswer(reply.body)) return misunderstood(board);
  const { error } = reply.body;
  if (!error) return { done: reply.body, tabId };
  return {
    problem: { status: 200, message: `${error.message} (${error.code})`, hint: error.hint ?? undefined },
  };
}

const isGreeting = shape({ greeting: isText });

function Result({ done, tabId }: { done: CallAnswer; tabId: number }) {
  const { output, meta } = done;
  return (
    <>
      <blockquote>
        {isGreeting(output) ? visibleLine(output.greeting) : visibleLine(JSON.stringify(output))}
      </blockquote>
      <p class="quiet">
        That is what {tool} answered, from a tab of this browser
        {meta && `, ${duration(meta.durationMs)} after it was called`}. An agent’s calls take the same road.
      </p>
      <GoToTab tabId={tabId} name="the demo site" />
    </>
  );
}

function Call({ site, onDone }: { site: string; onDone: () => void }) {
  const board = useContext(BoardContext);
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const run = async () => {
    setBusy(true);
    const came = await callDemo(board, site);
    setBusy(false);
    setOutcome(came);
    if ('problem' in came) return;
    announce('The first call has worked.');
    onDone();
  };
  return (
    <>
      <p>
        tabrelay opens its demo site in a tab behind this one, and calls a tool there, as an agent would. The
        site is on this computer.
      </p>
      <button
        type="button"
        class={outcome ? '' : 'primary'}
        aria-disabled={busy}
        onClick={() => busy || void run()}
      >
        {busy ? 'Calling …' : outcome ? 'Call again' : 'Make the first call'}
      </button>
      {outcome !== undefined && 'problem' in outcome && !busy && <ProblemNotice problem={outcome.problem} />}
      {outcome !== undefined && 'done' in outcome && <Result {...outcome} />}
    </>
  );
}

// Of the answer of `status`, where the demo site is; it is not there when the site is off.
const isWhere = shape({ demo: optional(isText) });

export function FirstCall({ onDone }: { onDone: () => void }) {
  const answer = useAnswer('status', isWhere);
  const called = useCalled();
  return (
    <Loaded answer={answer} name="the demo site">
      {({ demo }) =>
        demo ? (
          <Call site={demo} onDone={onDone} />
        ) : (
          <p>
            The demo site is off, so there is nothing to call. {inWords(called, 'doctor')} says why, and how
            to have it back.
          </p>
        )
      }
    </Loaded>
  );
}
