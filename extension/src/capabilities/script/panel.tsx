// The scripts that the person keeps, with the rules: each is their permission for commands to run it.
import { useState } from 'preact/hooks';
import { inWords } from '../../panel/called.ts';
import type { Capability } from '../../panel/capability.ts';
import { useAct, useAnswer, useCalled, useNow } from '../../panel/hooks.ts';
import { ConfirmButton, Empty, Failed, Loaded, Reading, Section, Sentence } from '../../panel/pieces.tsx';
import { ago, moment, visible, visibleLine } from '../../panel/words.ts';
import { isKeptScript, isKeptScripts, type KeptScript } from './answers.generated.ts';

/** The whole text and its args, fetched when they are opened. */
function Text({ of }: { of: string }) {
  return (
    <Loaded answer={useAnswer(`scripts/${encodeURIComponent(of)}`, isKeptScript)} name="the script">
      {({ script, args }) => (
        <>
          {args !== null && args !== undefined && (
            <p class="quiet">
              With the args <code>{visibleLine(JSON.stringify(args))}</code>
            </p>
          )}
          <Reading text={visible(script ?? '')} />
        </>
      )}
    </Loaded>
  );
}

function Row({ of, now }: { of: KeptScript; now: number }) {
  const act = useAct();
  const [open, setOpen] = useState(false);
  const name = visibleLine(of.name);
  const ran = moment(of.ran);
  const times = [
    `kept ${ago(moment(of.kept) ?? now, now)}`,
    ran === undefined ? 'never run since' : `last run ${ago(ran, now)}`,
  ];
  return (
    <li class="row">
      <div class="line">
        <span class="tool">{name}</span>
        <ConfirmButton
          label="Forget"
          name={`Forget the script ${name}`}
          question={`Forget the script ${name}? Commands are then asked about it.`}
          yes="Forget"
          disabled={act.busy}
          onYes={() => act.run('DELETE', `scripts/${encodeURIComponent(of.name)}`)}
        />
      </div>
      <p class="quiet">{times.join(' · ')}</p>
      {of.changed && (
        <p class="note">
          A plugin that it uses has changed since it was kept: its next run is asked about. To keep it again,
          forget it first.
        </p>
      )}
      <p>
        <Sentence text={visibleLine(of.uses)} />
      </p>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          Script<span class="unseen"> {name}</span>
        </summary>
        {open && <Text of={of.name} />}
      </details>
      <Failed act={act} />
    </li>
  );
}

function KeptScripts() {
  const answer = useAnswer('scripts', isKeptScripts);
  const now = useNow();
  const called = useCalled();
  if (answer.value === undefined && answer.problem?.status === 404) return null; // the relay has no scripts
  return (
    <Section title="Scripts that you keep" count={answer.value?.scripts.length}>
      <p class="quiet">
        Commands run exactly these without the question about scripts, until a plugin that they use changes.
        Each of their calls is asked about as always.
      </p>
      <Loaded answer={answer} name="your scripts">
        {({ scripts }) =>
          scripts.length === 0 ? (
            <Empty>None. {inWords(called, 'run FILE --keep NAME')} keeps one that has run.</Empty>
          ) : (
            <ul class="rows">
              {scripts.map((one) => (
                <Row key={one.name} of={one} now={now} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

export const script: Capability = { BelowRules: KeptScripts };
