// The browser profiles that have connected, and a button to forget one that is not used any more.
import { announce } from './announcer.tsx';
import { isProfiles, type Profile } from './answers.generated.ts';
import { useAct, useAnswer, useNow } from './hooks.ts';
import { Badge, ConfirmButton, Empty, Failed, Loaded, Section } from './pieces.tsx';
import { ago, clipped, moment } from './words.ts';

const longestName = 64;

function ProfileRow({ profile, now }: { profile: Profile; now: number }) {
  const act = useAct();
  const { id, connected, own } = profile;
  const name = clipped(profile.label, longestName);
  const seen = moment(profile.seen);
  const forget = async () => {
    if (await act.run('DELETE', `profiles/${encodeURIComponent(id)}`)) announce(`${name} is forgotten.`);
  };
  return (
    <li class="row">
      <div class="line">
        <span class="tool">{name}</span>
        {connected ? (
          <Badge tone="good">{own ? 'this one' : 'connected'}</Badge>
        ) : (
          <ConfirmButton
            label="Forget"
            name={`Forget ${name}`}
            question={`Forget ${name}? Calls no longer wait for it, and it is not listed until it connects again.`}
            yes="Forget"
            disabled={act.busy}
            onYes={() => void forget()}
          />
        )}
      </div>
      {!connected && <p class="quiet">{seen === undefined ? 'never seen' : `last seen ${ago(seen, now)}`}</p>}
      <Failed act={act} />
    </li>
  );
}

export function Profiles() {
  const answer = useAnswer('profiles', isProfiles);
  const now = useNow();
  return (
    <Section title="Browser profiles">
      <Loaded answer={answer} name="the profiles">
        {({ profiles }) =>
          profiles.length === 0 ? (
            <Empty>None yet.</Empty>
          ) : (
            <>
              <ul class="rows">
                {profiles.map((profile) => (
                  <ProfileRow key={profile.id} profile={profile} now={now} />
                ))}
              </ul>
              <p class="quiet">
                To forget a connected profile, first close its browser, or turn the extension off there.
              </p>
            </>
          )
        }
      </Loaded>
    </Section>
  );
}
