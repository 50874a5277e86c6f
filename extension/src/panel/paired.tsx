// The relay that this browser is paired with, and the button to unpair it.
import { useContext, useEffect, useState } from 'preact/hooks';
import { isManaged } from '../shared/managed.ts';
import type { PanelState } from '../shared/panel-state.ts';
import { announce } from './announcer.tsx';
import { BoardContext, useNow } from './hooks.ts';
import { ConfirmButton, Section } from './pieces.tsx';
import { clock, visibleLine } from './words.ts';

export function Paired({ state: { link, paired, profile } }: { state: PanelState }) {
  const board = useContext(BoardContext);
  const now = useNow();
  const [managed, setManaged] = useState(false);
  useEffect(() => void isManaged().then(setManaged), []);
  if (paired.ended || link.address === '') return null;
  const version = link.phase === 'connected' ? `tabrelay ${visibleLine(link.message)} at ` : '';
  const { version: own, permissions } = chrome.runtime.getManifest();
  const edition = managed
    ? 'installed by your organization'
    : permissions?.includes('nativeMessaging')
      ? 'from a store'
      : 'from tabrelay’s folder';
  const facts: [string, string][] = [
    ['Extension', `${own}, ${edition}`],
    ['Relay', `${version}${visibleLine(link.address)}`],
    ['Profile', visibleLine(profile.label)],
    ['Paired since', paired.since === 0 ? 'not yet' : clock(paired.since, now)],
  ];
  const unpair = () => {
    board.worker.paired(false);
    announce('This browser is unpaired.');
  };
  return (
    <Section title="Pairing of this browser">
      <dl class="defaults">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ConfirmButton
        label="Unpair"
        name="Unpair this browser"
        question={
          'Unpair this browser? Agents can do nothing in it until you pair it again, also after a restart, ' +
          'and calls that run here are cut off.'
        }
        yes="Unpair"
        onYes={unpair}
      />
    </Section>
  );
}
