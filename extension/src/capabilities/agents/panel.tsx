// The agents that clients can delegate errands to: what their sessions do and have spent, what the day has cost, and
// whether each agent can work.
import { announce } from '../../panel/announcer.tsx';
import { isRunning, isTabs, type RunningCall, type Tab } from '../../panel/answers.generated.ts';
import type { Capability } from '../../panel/capability.ts';
import { useAct, useAnswer, useNow } from '../../panel/hooks.ts';
import { Badge, Empty, Failed, Loaded, Section, type Tone } from '../../panel/pieces.tsx';
import { actor, ago, dollars, moment, plural, toolTitle, visibleLine } from '../../panel/words.ts';
import {
  type Agent,
  type AgentSession,
  type Agents,
  isAgentSessions,
  isAgents,
  type Spent,
} from './answers.generated.ts';

type Mark = { tone: Tone; text: string };

const states: Record<AgentSession['state'], Mark> = {
  active: { tone: 'plain', text: 'no errand yet' },
  busy: { tone: 'good', text: 'works' },
  idle: { tone: 'plain', text: 'waits' },
  failed: { tone: 'bad', text: 'last turn failed' },
};

const statuses: Record<Agent['status'], Mark> = {
  ready: { tone: 'good', text: 'ready' },
  busy: { tone: 'wait', text: 'busy' },
  unavailable: { tone: 'bad', text: 'unavailable' },
};

const stages: Record<RunningCall['state'], string> = { asking: 'asks you', queued: 'waits', running: 'runs' };

const tokens = ({ inputTokens, outputTokens }: Spent): string =>
  `${plural(inputTokens, 'token')} in, ${outputTokens.toLocaleString('en')} out`;

/** What requests cost, as far as it is known. */
function cost({ usd, unpriced, requests }: Spent): string {
  if (!unpriced) return dollars(usd);
  if (unpriced === requests) return 'its price is not configured';
  return `${dollars(usd)}, and ${plural(unpriced, 'request')} without a configured price`;
}

/** Where a call is: the title of its tab, which the page chooses, and its site, which it does not. */
function placeOf(call: RunningCall, tabs: readonly Tab[]): string {
  const tab = tabs.find(({ tabId, profileId }) => tabId === call.tabId && profileId === call.profileId);
  const title = tab?.title ? `“${visibleLine(tab.title)}”` : undefined;
  return [title, call.origin, call.profile]
    .map((part) => visibleLine(part ?? ''))
    .filter(Boolean)
    .join(' · ');
}

function Call({ call, tabs }: { call: RunningCall; tabs: readonly Tab[] }) {
  const place = placeOf(call, tabs);
  return (
    <li>
      <b>{toolTitle(call.tool, call.title)}</b> {stages[call.state]}
      {place !== '' && <span class="quiet address"> · {place}</span>}
    </li>
  );
}

/** What a session does now. */
function Doing({
  session,
  program,
  calls,
}: {
  session: AgentSession;
  program: boolean;
  calls: RunningCall[];
}) {
  const tabs = useAnswer('tabs', isTabs).value?.tabs ?? [];
  if (calls.length > 0)
    return (
      <ul class="doing">
        {calls.map((call) => (
          <Call key={call.id} call={call} tabs={tabs} />
        ))}
      </ul>
    );
  if (session.state !== 'busy') return null;
  return <p class="doing quiet">{program ? 'Its program works.' : 'It waits for its model.'}</p>;
}

function factsOf({ doing, created, state }: AgentSession, now: number): string {
  const began = moment(created);
  const calls = doing.most ? `${doing.calls} of ${plural(doing.most, 'call')}` : plural(doing.calls, 'call');
  return [
    doing.turn > 0 && `turn ${doing.turn}`,
    state === 'busy' && calls,
    began !== undefined && `started ${ago(began, now)}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

function SessionRow({
  session,
  program,
  calls,
}: {
  session: AgentSession;
  program: boolean;
  calls: RunningCall[];
}) {
  const act = useAct();
  const now = useNow();
  const name = actor(session);
  const asks = calls.some(({ state }) => state === 'asking');
  const mark: Mark = asks ? { tone: 'wait', text: 'asks you' } : states[session.state];
  const stop = async ({ currentTarget: button }: { currentTarget: HTMLButtonElement }) => {
    if (!(await act.run('POST', `agents/sessions/${encodeURIComponent(session.id)}/stop`))) return;
    announce(`Stopped ${name}.`);
    // The button goes with its session; the tab of the page is where a person goes on.
    const { activeElement } = document;
    if (activeElement === button || activeElement === document.body)
      document.getElementById('tab-agents')?.focus();
  };
  return (
    <li class={`row agent-session ${session.color ?? ''}`}>
      <div class="line">
        <span class="tool">{name}</span>
        <Badge tone={mark.tone}>{mark.text}</Badge>
      </div>
      <Doing session={session} program={program} calls={calls} />
      <div class="line">
        <span class="quiet">
          {factsOf(session, now)}
          <br />
          {program
            ? 'What its program spends is not known here.'
            : `${tokens(session.spent)} · ${cost(session.spent)}`}
        </span>
        <button
          type="button"
          class="small danger"
          aria-label={`Stop ${name}`}
          aria-describedby="what-stop-does"
          disabled={act.busy}
          onClick={stop}
        >
          Stop
        </button>
      </div>
      <Failed act={act} />
    </li>
  );
}

function OpenSessions({ agents }: { agents: readonly Agent[] }) {
  const answer = useAnswer('agents/sessions', isAgentSessions);
  const running = useAnswer('running', isRunning).value?.calls ?? [];
  const programs = new Set(agents.filter(({ program }) => program).map(({ id }) => id));
  return (
    <Section title="Open sessions" count={answer.value?.sessions.length}>
      <Loaded answer={answer} name="sessions">
        {({ sessions }) =>
          sessions.length === 0 ? (
            <Empty>No client has delegated anything right now.</Empty>
          ) : (
            <>
              <ul class="rows agent-sessions">
                {sessions.map((session) => (
                  <SessionRow
                    key={session.id}
                    session={session}
                    program={programs.has(session.agent)}
                    calls={running.filter(({ agentSession }) => agentSession === session.id)}
                  />
                ))}
              </ul>
              <p class="quiet" id="what-stop-does">
                Stop ends a session: its model or program is told to stop, its calls are cancelled, and it can
                make no more. What it did stays done; a change under way may still happen, and the log says
                what is known of it.
              </p>
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

/** What the day has cost. Programs pay for their models themselves, which nobody here knows of. */
function Today({ answer: { spentUsd, mostUsd, agents, spent } }: { answer: Agents }) {
  if (agents.every(({ program }) => program)) return null;
  const unpriced = Object.values(spent).reduce((sum, one) => sum + (one.unpriced ?? 0), 0);
  const bounded = mostUsd > 0;
  return (
    <Section title="Spent today">
      <p>
        <b>{dollars(spentUsd)}</b>
        {bounded ? ` of ${dollars(mostUsd)}` : ', without a limit'}
      </p>
      {bounded && (
        <progress
          class="spent"
          aria-label="Spent of the budget of the day"
          max={mostUsd}
          value={Math.min(spentUsd, mostUsd)}
        />
      )}
      {bounded && spentUsd >= mostUsd && (
        <p class="note">The limit of the day is reached: models answer no agent until tomorrow.</p>
      )}
      {unpriced > 0 && (
        <p class="quiet">
          {plural(unpriced, 'request')} since tabrelay started {unpriced === 1 ? 'is' : 'are'} not counted
          here: no price is configured for the model.
        </p>
      )}
      <p class="quiet">
        <code>delegation.costPerDayUsd</code> in config.json {bounded ? 'is' : 'sets'} the ceiling.
      </p>
    </Section>
  );
}

const modelsOf = ({ providers }: Agent): string =>
  (providers ?? [])
    .map(({ id, models }) => (models && models.length > 0 ? `${id} (${models.join(', ')})` : id))
    .map(visibleLine)
    .join(' · ');

function AgentRow({ agent, spent }: { agent: Agent; spent: Spent | undefined }) {
  const status = statuses[agent.status];
  const models = modelsOf(agent);
  return (
    <li class="row">
      <div class="line">
        <span class="tool">
          {visibleLine(agent.id)}
          {agent.default === true && <span class="quiet"> · takes errands that name no agent</span>}
        </span>
        <Badge tone={status.tone}>{status.text}</Badge>
      </div>
      {agent.program && (
        <p class="quiet address">
          Program: <code>{visibleLine(agent.program)}</code>
        </p>
      )}
      {models !== '' && <p class="quiet address">Models: {models}</p>}
      {agent.capabilities && agent.capabilities.length > 0 && (
        <p class="quiet">Good for: {agent.capabilities.map(visibleLine).join(', ')}</p>
      )}
      {agent.status === 'busy' && (
        <p class="quiet">No further session can be opened (delegation.maxSessions).</p>
      )}
      {agent.trouble && <p class="note">{visibleLine(agent.trouble)}</p>}
      {spent !== undefined && (
        <p class="quiet">
          Since tabrelay started: {plural(spent.requests, 'request')}, {tokens(spent)} · {cost(spent)}
        </p>
      )}
    </li>
  );
}

export function AgentsPage() {
  const answer = useAnswer('agents', isAgents);
  return (
    <Loaded answer={answer} name="agents">
      {(value) =>
        value.agents.length === 0 ? (
          <Empty>
            No agent is set up that clients can hand errands to. docs/delegation.md says how to add one.
          </Empty>
        ) : (
          <>
            <OpenSessions agents={value.agents} />
            <Today answer={value} />
            <Section title="Agents" count={value.agents.length}>
              <p class="quiet">
                Clients can hand them whole errands. Each may do what its client may, and no more.
              </p>
              <ul class="rows">
                {value.agents.map((agent) => (
                  <AgentRow key={agent.id} agent={agent} spent={value.spent[agent.id]} />
                ))}
              </ul>
            </Section>
          </>
        )
      }
    </Loaded>
  );
}

/** How a client can have somebody to delegate to, where there is nobody yet. */
function HowToDelegate() {
  const agents = useAnswer('agents', isAgents).value?.agents;
  return agents?.length === 0 ? (
    <p class="quiet">
      Clients can hand whole errands to another agent once one is set up: docs/delegation.md says how.
    </p>
  ) : null;
}

export const agents: Capability = {
  page: {
    id: 'agents',
    title: 'Agents',
    useListed: () => (useAnswer('agents', isAgents).value?.agents.length ?? 0) > 0,
    Page: AgentsPage,
  },
  BelowClients: HowToDelegate,
};
