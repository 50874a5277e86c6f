// Pairs one more browser with the relay, and revokes all earlier pairings.
import { useContext, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { isPairingString } from './answers.generated.ts';
import { BoardContext, useAct, useNow } from './hooks.ts';
import { ConfirmButton, Copyable, Failed, ProblemNotice, Section } from './pieces.tsx';
import { moment, span } from './words.ts';
import type { Problem } from './workerport.ts';

interface Made {
  text: string;
  until: number;
}

function Shown({ made: { text, until }, now }: { made: Made; now: number }) {
  if (until <= now) return <p class="quiet">The string is no longer valid. Make a new one.</p>;
  return (
    <>
      <Copyable text={text} name="The string" />
      <p class="quiet">
        Paste it into tabrelay’s panel in the other browser. It works once, for {span(until - now)}.
      </p>
    </>
  );
}

export function PairAnother() {
  const board = useContext(BoardContext);
  const now = useNow();
  const rotating = useAct();
  const [made, setMade] = useState<Made | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const make = async () => {
    setProblem(undefined);
    const reply = await board.act('POST', 'pairing', {});
    if (!reply.ok) setProblem(reply.problem);
    else if (isPairingString(reply.body))
      setMade({ text: reply.body.text, until: moment(reply.body.until) ?? 0 });
  };
  const rotate = async () => {
    setMade(undefined);
    if (await rotating.run('POST', 'pairing/rotate', {})) announce('The pairing secret was replaced.');
  };
  return (
    <Section title="Pair another browser">
      <p class="quiet">
        A browser that loaded the extension from tabrelay’s folder pairs by itself. For an extension installed
        from a store, make a pairing string here and paste it into the panel of that browser.
      </p>
      {made !== undefined && <Shown key={made.text} made={made} now={now} />}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="whole">
        <button type="button" class="small" onClick={() => void make()}>
          Make a pairing string
        </button>
        <ConfirmButton
          label="Replace the secret"
          name="Replace the pairing secret"
          question={
            'Replace the pairing secret? Every browser is disconnected. The extension in tabrelay’s folder ' +
            'connects again by itself; others have to be paired again, this one too if it is one of them.'
          }
          yes="Replace"
          disabled={rotating.busy}
          onYes={() => void rotate()}
        />
      </div>
      <Failed act={rotating} />
    </Section>
  );
}
