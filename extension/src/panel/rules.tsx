// All permissions: the defaults, the rules, and what was allowed for a session.

import { useState } from 'preact/hooks';
import { inPanel } from '../capabilities/panel.ts';
import {
  type Grant,
  isClients,
  isPermissions,
  isPlugins,
  type Mode,
  type Policy,
  type Rule,
} from './answers.generated.ts';
import { Changes } from './changes.tsx';
import { useAct, useAnswer, useNow } from './hooks.ts';
import { Badge, Choice, ConfirmButton, Empty, Failed, Loaded, Section, type Tone } from './pieces.tsx';
import { isMode, modeNames, modes } from './plugins.tsx';
import { moment, span, visibleLine } from './words.ts';

const tones: Record<Mode, Tone> = { off: 'bad', ask: 'wait', auto: 'good' };

const sources: Record<Rule['from'], string> = {
  person: '',
  config: 'from config.json',
  'built-in': 'built in',
  policy: 'Set by your organization',
};

const ends = (until: string | null | undefined, now: number): string => {
  const at = moment(until);
  return at === undefined ? '' : `ends in ${span(at - now)}`;
};

function nameOf(target: string): string {
  if (target === 'default') return 'Everything else';
  const [, tool, site] = /^([^@/]+)@(https?:.*)$/.exec(target) ?? [];
  return visibleLine(tool && site ? `${tool} on ${site}` : target);
}

function RuleRow({ rule, now }: { rule: Rule; now: number }) {
  const act = useAct();
  const query = new URLSearchParams({ target: rule.target, ...(rule.client && { client: rule.client }) });
  const by = rule.from === 'person' && rule.by ? `set in the ${visibleLine(rule.by)}` : sources[rule.from];
  return (
    <li class="row">
      <div class="line">
        <span class="tool">{nameOf(rule.target)}</span>
        <Badge tone={tones[rule.mode]}>{modeNames[rule.mode]}</Badge>
      </div>
      <div class="line">
        <span class="quiet">
          {[
            rule.waits ? 'not in effect until you allow it' : '',
            rule.client ? `only for ${visibleLine(rule.client)}` : '',
            by,
            ends(rule.until, now),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
        {rule.from === 'person' && (
          <ConfirmButton
            label="Remove"
            name={`Remove the rule for ${nameOf(rule.target)}`}
            question={`Remove the rule for ${nameOf(rule.target)}?`}
            yes="Remove"
            disabled={act.busy}
            onYes={() => act.run('DELETE', `permissions?${query}`)}
          />
        )}
      </div>
      {rule.noEffect && <p class="quiet">No effect: {visibleLine(rule.noEffect)}.</p>}
      {rule.except && rule.except.length > 0 && (
        <p class="quiet address">Stricter: {rule.except.map(visibleLine).join(', ')}</p>
      )}
      <Failed act={act} />
    </li>
  );
}

function GrantRow({ grant, now }: { grant: Grant; now: number }) {
  const act = useAct();
  const allows = `${visibleLine(grant.client)} may ${visibleLine(grant.allows)}`;
  return (
    <li class="row">
      <div class="line">
        <span class="tool">{allows}</span>
        <button
          type="button"
          class="small"
          aria-label={`Revoke: ${allows}`}
          disabled={act.busy}
          onClick={() => act.run('DELETE', `grants/${encodeURIComponent(grant.id)}`)}
        >
          Revoke
        </button>
      </div>
      <p class="quiet address">
        {[visibleLine(grant.profile ?? ''), ends(grant.until, now) || 'until it disconnects']
          .filter(Boolean)
          .join(' · ')}
      </p>
      <Failed act={act} />
    </li>
  );
}

const lasts = [
  ['', 'until I remove it'],
  ['1h', 'for an hour'],
  ['24h', 'for a day'],
] as const;

function NewRule() {
  const act = useAct();
  const plugins = useAnswer('plugins', isPlugins).value?.plugins ?? [];
  const clients = useAnswer('clients', isClients).value?.clients ?? [];
  const [target, setTarget] = useState('');
  const [client, setClient] = useState('');
  const [mode, setMode] = useState<Mode>('ask');
  const [time, setTime] = useState('');
  const [site, setSite] = useState('');
  const add = async (event: Event) => {
    event.preventDefault();
    const named = target.trim();
    const about = site.trim() === '' ? named : `${named}@${site.trim()}`;
    const rule = { target: about, mode, ...(client && { client }), ...(time && { for: time }) };
    if (named === '' || !(await act.run('PUT', 'permissions', rule))) return;
    setTarget('');
    setSite('');
  };
  return (
    <details class="new-rule">
      <summary>New rule</summary>
      <form onSubmit={add}>
        <label>
          For
          <input
            list="targets"
            placeholder="a tool, a plugin or https://site"
            value={target}
            required
            onInput={({ currentTarget }) => setTarget(currentTarget.value)}
          />
        </label>
        {target.includes('__') && (
          <label>
            Only on
            <input
              placeholder="every site, or https://site"
              value={site}
              onInput={({ currentTarget }) => setSite(currentTarget.value)}
            />
          </label>
        )}
        <datalist id="targets">
          <option value="default">everything else</option>
          {plugins.map(({ name }) => (
            <option key={name} value={name} />
          ))}
          {plugins.flatMap(({ tools }) => tools.map(({ name }) => <option key={name} value={name} />))}
        </datalist>
        <Choice
          shown
          label="Used by"
          value={client}
          options={[['', 'every client'], ...clients.map(({ name }) => [name, visibleLine(name)] as const)]}
          onPick={setClient}
        />
        <Choice
          shown
          label="Permission"
          value={mode}
          options={modes.map((one) => [one, modeNames[one]] as const)}
          onPick={(picked) => isMode(picked) && setMode(picked)}
        />
        <Choice shown label="Duration" value={time} options={lasts} onPick={setTime} />
        <button type="submit" disabled={act.busy}>
          Add the rule
        </button>
        <Failed act={act} />
      </form>
    </details>
  );
}

const orNone = (list: readonly string[]): string => list.map(visibleLine).join(', ') || 'none';

/** What an administrator has set, besides the rules, and whom to ask. */
function Organization({ policy }: { policy: Policy }) {
  const { allow, deny } = policy.sites;
  const plugins = policy.plugins.allow?.map(({ name, source, hash }) =>
    [name, source, hash].filter(Boolean).join(' '),
  );
  const set: [string, string][] = [];
  if (allow) set.push(['Only these sites', orNone(allow)]);
  if (deny && deny.length > 0) set.push(['Never these sites', orNone(deny)]);
  if (plugins) set.push(['Only these plugins', orNone(plugins)]);
  if (policy.plugins.deny) set.push(['Never these plugins', orNone(policy.plugins.deny)]);
  if (policy.settings.length > 0) set.push(['Settings', orNone(policy.settings)]);
  if (policy.contact !== '') set.push(['Contact', visibleLine(policy.contact)]);
  return (
    <Section title="Set by your organization">
      <p class="quiet">Nobody can loosen this here: an administrator set it for this machine.</p>
      <dl class="facts">
        {set.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

export function Rules() {
  const answer = useAnswer('permissions', isPermissions);
  const now = useNow();
  return (
    <Loaded answer={answer} name="rules">
      {(permissions) => {
        const rules = permissions.rules.filter(({ from }) => from !== 'built-in');
        return (
          <>
            <Changes aside />
            {permissions.policy && <Organization policy={permissions.policy} />}
            <Section title="When no rule says otherwise">
              <dl class="defaults">
                <div>
                  <dt>Tools that only read</dt>
                  <dd>
                    {modeNames[permissions.default.readOnly]}
                    {permissions.default.readOnly === 'ask' && ', once per session, plugin and site'}
                  </dd>
                </div>
                <div>
                  <dt>All other tools</dt>
                  <dd>
                    {modeNames[permissions.default.other]}
                    {permissions.default.other === 'ask' && ', each time'}
                  </dd>
                </div>
              </dl>
            </Section>
            <Section title="Rules" count={rules.length}>
              <p class="quiet">
                A call needs its tool and every site it touches to be allowed: the stricter rule wins. A rule
                for a tool on one site counts for both, but never against “Off”.
              </p>
              {rules.length === 0 && <Empty>There are no rules of your own yet.</Empty>}
              <ul class="rows">
                {rules.map((rule) => (
                  <RuleRow key={`${rule.from} ${rule.target} ${rule.client}`} rule={rule} now={now} />
                ))}
              </ul>
              <NewRule />
            </Section>
            <Section title="Allowed for a limited time" count={permissions.grants.length}>
              {permissions.grants.length === 0 ? (
                <Empty>Nothing. What you allow “for this session” is listed here.</Empty>
              ) : (
                <ul class="rows">
                  {permissions.grants.map((grant) => (
                    <GrantRow key={grant.id} grant={grant} now={now} />
                  ))}
                </ul>
              )}
            </Section>
            {inPanel.map(({ BelowRules }) => BelowRules && <BelowRules key={BelowRules.name} />)}
          </>
        );
      }}
    </Loaded>
  );
}
