// The editor's WebSocket, on which it hears of debug messages and deployments.

import { sleep, ToolError } from '@tabrelay/plugin-sdk';
import { isObject, type JsonReader, jsonReader, parseJSON } from '@tabrelay/plugin-sdk/json';
import { baseUrl, token } from './session.ts';

export interface Listening {
  /** What came so far on the topic. */
  readonly messages: readonly JsonReader[];
  /** Resolves when the messages are what was waited for, or after a time in milliseconds. */
  until(
    done: (messages: readonly JsonReader[]) => boolean,
    ms: number,
    signal: AbortSignal,
  ): Promise<void>;
  close(): void;
}

/** Listens to a topic; what is published after this resolves is not missed. */
export async function listen(topic: string, signal: AbortSignal): Promise<Listening> {
  const socket = new WebSocket(`${baseUrl().replace(/^http/, 'ws')}comms`);
  const messages: JsonReader[] = [];
  let arrived = () => {};
  socket.addEventListener('message', ({ data }) => {
    // Besides lists of messages, answers to a token come here, and more that is not for tools.
    const said = parseJSON(String(data));
    const all = Array.isArray(said)
      ? said.filter((one) => isObject(one) && one.topic === topic)
      : [];
    messages.push(...all.map((message) => jsonReader(message).at('data')));
    arrived();
  });
  try {
    await event(socket, 'open', signal);
    await authorize(socket, signal);
    socket.send(JSON.stringify({ subscribe: topic }));
    // Nothing answers a subscription, but packets are read in order: what is answered after it comes after it.
    await authorize(socket, signal);
  } catch (error) {
    socket.close();
    throw error;
  }
  return {
    messages,
    until: (done, ms, stop) => {
      const full = new Promise<void>((resolve) => {
        arrived = () => done(messages) && resolve();
        arrived();
      });
      return Promise.race([full, sleep(ms, { signal: stop })]);
    },
    close: () => socket.close(),
  };
}

/** Shows the token and waits for the answer. An editor without sign-in has none to show, and answers nothing. */
async function authorize(socket: WebSocket, signal: AbortSignal): Promise<void> {
  const auth = token();
  if (auth === undefined) return sleep(100, { signal });
  socket.send(JSON.stringify({ auth }));
  for (;;) {
    const message = await event(socket, 'message', signal);
    const said = message instanceof MessageEvent ? parseJSON(String(message.data)) : undefined;
    const answer = isObject(said) ? said.auth : undefined;
    if (answer === 'fail') throw closed();
    if (answer === 'ok') return;
  }
}

function event(socket: WebSocket, name: 'open' | 'message', signal: AbortSignal): Promise<Event> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(name, resolve, { once: true });
    socket.addEventListener('close', () => reject(closed()), { once: true });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const closed = (): ToolError =>
  ToolError.auth(
    "Node-RED closed the editor's connection: the session has ended. " +
      `Ask the person to sign in at ${baseUrl()}, then call again.`,
  );
