// Calls Roundcube as its own script does. An answer has values, and commands for that script: they are read, not run.
// https://github.com/roundcube/roundcubemail/wiki/Plugin-API

import {
  buildQueryString,
  type FormFields,
  fetchFromPage,
  fetchJSON,
  fetchText,
  ToolError,
} from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';
import { failure } from './failures.ts';
import { plain } from './markup.ts';
import { base, environment, forgetToken, signedOut, token } from './session.ts';

/** One `this.name(…);` of an answer. */
export interface Command {
  name: string;
  args: readonly unknown[];
}

export interface Reply {
  env: JsonObject;
  commands: Command[];
  /** What the person would read. */
  said: string;
}

/** A read. */
export const ask = (query: FormFields, signal: AbortSignal): Promise<Reply> =>
  authorized(signal, (headers) => fetchJSON(address({ ...query, _remote: 1 }), { headers, signal }));

/** A change: `body` goes as a form. */
export const act = (query: FormFields, body: FormFields, signal: AbortSignal): Promise<Reply> =>
  authorized(signal, (headers) => {
    const form = new URLSearchParams(buildQueryString(body));
    return fetchJSON(address({ ...query, _remote: 1 }), { method: 'POST', body: form, headers, signal });
  });

/** A page, as the person would open it. */
export async function page(query: FormFields, signal: AbortSignal): Promise<string> {
  const html = await fetchText(address(query), { signal });
  return environment(html).task === 'login' ? signedOut() : html;
}

/** A file; the token goes with it because a link could be on a page of anybody. */
export async function file(query: FormFields, signal: AbortSignal): Promise<Response> {
  return fetchFromPage(address({ ...query, _token: await token(signal) }), { signal });
}

/** A token that is not taken is asked for anew once: nothing was done before that. */
async function authorized(
  signal: AbortSignal,
  send: (headers: Record<string, string>) => Promise<unknown>,
): Promise<Reply> {
  for (const last of [false, true]) {
    const proof = (await token(signal)) ?? (await signedOut());
    try {
      return read(await send({ 'x-roundcube-request': proof })) ?? (await signedOut());
    } catch (error) {
      if (last || !refused(error)) throw error;
      forgetToken();
    }
  }
  return signedOut();
}

const refused = (error: unknown): boolean => error instanceof ToolError && error.category === 'auth';

/** Undefined when the session is over. */
function read(value: unknown): Reply | undefined {
  const answer = objectAt(value);
  const commands = parse(asText(answer.exec));
  if (commands.some(({ name }) => name === 'session_error')) return undefined;
  const messages = commands.filter(({ name }) => name === 'display_message');
  const wrong = messages.find(({ args }) => args[1] === 'error' || args[1] === 'warning');
  if (wrong) throw failure(plain(asText(wrong.args[0])));
  const said = messages.map(({ args }) => plain(asText(args[0]))).join(' ');
  return { env: objectAt(answer.env), commands, said };
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
