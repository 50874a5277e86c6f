// What the panel draws of a question's arguments, and how all of them are opened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Window } from 'happy-dom';
import { type ComponentChild, render } from 'preact';
import { isApprovals, type Question } from '../src/panel/answers.generated.ts';
import { Arguments, useOpened } from '../src/panel/argument.tsx';
import { Board } from '../src/panel/board.ts';
import { BoardContext } from '../src/panel/hooks.ts';
import { QuestionCard } from '../src/panel/question.tsx';
import { isPanelRequest } from '../src/shared/panel-messages.ts';

const window = new Window();
Object.assign(globalThis, { document: window.document, window });

const name = (text: string) => ({ kind: 'name', text });
const value = (text: string) => ({ kind: 'value', text });
const note = (text: string) => ({ kind: 'note', text });
const line = (...pieces: { kind: string; text: string }[]) => ({ depth: 0, pieces });

const masked = line(name('pin_token'), note(': '), note('•••• ⟨4 characters hidden: secret field⟩'));

const approvals: unknown = {
  missed: [],
  changes: [],
  ended: [],
  approvals: [
    {
      id: 'q1',
      callId: 'c1',
      via: 'stdio',
      session: 'stdio:1',
      title: 'Pay',
      plugin: 'shop',
      pluginTitle: 'Shop',
      profileId: '',
      profile: '',
      tabId: 0,
      origin: '',
      url: '',
      tabTitle: '',
      argumentsHash: '',
      changes: '',
      first: false,
      asked: '2026-03-02T10:00:00Z',
      until: '2026-03-02T10:00:50Z',
      client: 'codex',
      tool: 'shop__pay',
      risk: 'changes',
      sentence: 'May codex use “Pay” (shop__pay) on shop.example?',
      choices: ['once'],
      shown: {
        lines: [
          line(name('text'), note(': '), value('be'), note('⟨… 6 of 10 characters hidden …⟩'), value('nd')),
          masked,
        ],
        summary: '2 with 27 characters, 4 of them in secret fields; 6 characters not shown here',
        arguments: 2,
        characters: 27,
        hidden: 6,
        secret: 4,
      },
    },
  ],
};

/** The parts that the relay has, by the path that asks for them. */
const parts: Record<string, unknown> = {
  '/api/v1/approvals/q1/arguments?from=0': {
    lines: [line(name('text'), note(': '), value('beginn'))],
    next: 65_536,
  },
  '/api/v1/approvals/q1/arguments?from=65536': {
    lines: [{ ...line(value('ing<b>')), continues: true }, masked],
  },
  '/api/v1/approvals/q1/arguments?from=0&secrets=true': {
    lines: [
      line(name('text'), note(': '), value('beginning<b>')),
      line(name('pin_token'), note(': '), value('1234')),
    ],
  },
};

/** Draws something of a panel whose relay has those parts; presses its buttons. */
function draw(drawn: ComponentChild) {
  let hear: (message: unknown) => void = () => {};
  const port = {
    onMessage: {
      addListener: (listener: typeof hear) => {
        hear = listener;
      },
    },
    onDisconnect: { addListener: () => {} },
    postMessage(message: unknown) {
      if (!isPanelRequest(message)) return;
      const { id, path } = message;
      queueMicrotask(() => hear({ type: 'response', id, status: 200, body: parts[path] }));
    },
  };
  Object.assign(globalThis, { chrome: { runtime: { connect: () => port } } });
  const board = new Board();
  board.worker.open();
  const root = document.createElement('div');
  document.body.append(root);
  render(<BoardContext.Provider value={board}>{drawn}</BoardContext.Provider>, root);
  const buttonOf = (label: string) =>
    [...root.querySelectorAll('button')].find(({ textContent }) => textContent === label);
  const press = async (label: string) => {
    const button = buttonOf(label);
    assert.ok(button !== undefined, label);
    const before = root.textContent;
    button.click();
    while (root.textContent === before || root.querySelector('button:disabled') !== null)
      await new Promise((resolve) => setImmediate(resolve)); // Preact draws later
  };
  return { root, buttonOf, press };
}

function firstQuestion(): Question {
  assert.ok(isApprovals(approvals));
  const [question] = approvals.approvals;
  assert.ok(question !== undefined);
  return question;
}

const Opening = ({ question }: { question: Question }) => (
  <Arguments question={question} opening={useOpened(question)} />
);

test('the lines are drawn as they are, and all of them can be opened', async () => {
  const { root, press } = draw(<Opening question={firstQuestion()} />);
  const items = () => [...root.querySelectorAll('li')].map((item) => item.textContent);
  const hidden = 'pin_token: •••• ⟨4 characters hidden: secret field⟩';
  assert.deepEqual(items(), ['text: be⟨… 6 of 10 characters hidden …⟩nd', hidden]);
  assert.equal(root.querySelectorAll('.said').length, 4);
  await press('Show all');
  assert.deepEqual(items(), ['text: beginn']);
  await press('Show more');
  assert.deepEqual(items(), ['text: beginning<b>', hidden]);
  assert.match(root.textContent ?? '', /Until all of it is shown, this can only be allowed once/);
  await press('Show secret fields');
  assert.deepEqual(items(), ['text: beginning<b>', 'pin_token: 1234']);
  assert.equal(root.querySelector('button'), null);
  assert.match(root.querySelector('p')?.textContent ?? '', /^Arguments: 2 with 27 characters/);
});

test('what may delete something is allowed when all of its arguments were opened, and not before', async () => {
  const question: Question = { ...firstQuestion(), risk: 'destroys' };
  const { buttonOf, press } = draw(
    <QuestionCard
      question={question}
      now={Date.parse(question.asked)}
      quiet={false}
      sent={false}
      problem={undefined}
      card={null}
      onVerdict={() => {}}
    />,
  );
  for (const label of ['Show all', 'Show more']) {
    assert.ok(buttonOf('Read it all first') !== undefined, `before ${label}`);
    assert.equal(buttonOf('Allow once'), undefined, `before ${label}`);
    await press(label);
  }
  assert.equal(buttonOf('Read it all first'), undefined);
  assert.ok(buttonOf('Allow once') !== undefined);
});
