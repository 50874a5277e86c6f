// Calls Roundcube as its own script does. An answer has values, and commands for that script: they are read, not run.
// https://github.com/roundcube/roundcubemail/wiki/Plugin-API

import {
  buildQueryString,
  type FormFields,
  fetchFromPage,
  fetchJSON,
  fetchText,
  type Outcome,
  signedOut,
  withFreshToken,
} from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';
import { type JsonReader, jsonReader } from '@tabrelay/plugin-sdk/json';
import { failure } from './failures.ts';
import { base, environment, forgetToken, signIn, token } from './session.ts';

/** One `this.name(…);` of an answer. */
export interface Command {
  name: string;
  args: readonly unknown[];
}

export interface Reply {
  env: JsonReader;
  commands: Command[];
  /** What the person would read. */
  said: string;
}

/** What Roundcube is asked: which action of it answers. */
type Query = FormFields & { _action: string };

/** A read. */
export const ask = (query: Query, signal: AbortSignal): Promise<Reply> =>
  authorized(signal, async (headers) => {
    const answer = await fetchJSON(address({ ...query, _remote: 1 }), { headers, signal });
    return read(answer, query, undefined);
  });

/** A change: `body` goes as a form. */
export const act = (query: Query, body: FormFields, signal: AbortSignal): Promise<Reply> =>
  authorized(signal, async (headers) => {
    const form = new URLSearchParams(buildQueryString(body));
    const sent = { method: 'POST', body: form, headers, signal };
    return read(await fetchJSON(address({ ...query, _remote: 1 }), sent), query, 'unknown');
  });

/** A page, as the person would open it. */
export async function page(query: FormFields, signal: AbortSignal): Promise<string> {
  const html = await fetchText(address(query), { signal });
  environment(html);
  return html;
}

/** A file; the token goes with it because a link could be on a page of anybody. */
export async function file(query: FormFields, signal: AbortSignal): Promise<Response> {
  return fetchFromPage(address({ ...query, _token: await token(signal) }), { signal });
}

/** A token that is not taken is asked for anew once: nothing was done before that. */
const authorized = (
  signal: AbortSignal,
  send: (headers: Record<string, string>) => Promise<Reply>,
): Promise<Reply> =>
  withFreshToken({ get: () => token(signal), forget: forgetToken }, (proof) =>
    send({ 'x-roundcube-request': proof }),
  );

/** Reads the answer of the action that was asked for, which names itself in it. */
function read(value: unknown, { _action: asked }: Query, outcome: Outcome | undefined): Reply {
  const answer = jsonReader(value, outcome);
  const commands = parse(answer.string('exec'));
  if (commands.some(({ name }) => name === 'session_error')) throw signedOut(signIn);
  if (answer.string('action') !== asked) answer.at('action').fail(`is not ${asked}`);
  const messages = commands
    .filter(({ name }) => name === 'display_message')
    .map(({ args }) => jsonReader(args[0] ?? '').string())
    .map(plainText);
  const wrong = commands.find(
    ({ name, args }) =>
      name === 'display_message' && (args[1] === 'error' || args[1] === 'warning'),
  );
  if (wrong) throw failure(plainText(jsonReader(wrong.args[0]).string()));
  return { env: answer.maybe('env') ?? jsonReader({}), commands, said: messages.join(' ') };
}

/** One command stands on each line, and its arguments are JSON. A line of another form is a plugin's, for the page. */
export function parse(script: string): Command[] {
  const commands: Command[] = [];
  for (const line of script.split('\n')) {
    const [, name, args] = /^this\.(\w+)\((.*)\);$/.exec(line) ?? [];
    if (name === undefined) continue;
    try {
      commands.push({ name, args: JSON.parse(`[${args}]`) });
    } catch {
      // Its arguments are more than JSON.
    }
  }
  return commands;
}

function address(query: FormFields): URL {
  const found = base();
  found.search = buildQueryString(query);
  return found;
}
