// A mail server as small as a test needs one: it takes mail by SMTP (RFC 5321) for the people it knows, and hands it to
// Dovecot's own delivery agent.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

/** Gives a message to one person. */
export type Delivery = (name: string, message: string) => Promise<void>;

/** Starts it and returns its port. Mail for anybody but `people` at example.org is refused, as by a real server. */
export async function openPostman(
  people: readonly string[],
  deliver: Delivery,
  closing: Closing,
): Promise<number> {
  const server = createServer((socket) => void serve(socket, people, deliver).catch(() => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => server.close());
  return portOf(server.address());
}

async function serve(socket: Socket, people: readonly string[], deliver: Delivery): Promise<void> {
  const say = (line: string) => socket.write(`${line}\r\n`);
  const to: string[] = [];
  let message: string[] | undefined;
  say('220 postman');
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (message !== undefined) {
      if (line !== '.') message.push(line.replace(/^\./, ''));
      else {
        for (const name of to.splice(0)) await deliver(name, `${message.join('\r\n')}\r\n`);
        message = undefined;
        say('250 delivered');
      }
      continue;
    }
    const person = /^RCPT TO:<([^@>]*)@example\.org>/i.exec(line)?.[1];
    if (/^RCPT /i.test(line)) {
      if (person === undefined || !people.includes(person)) say('550 5.1.1 There is no such person here');
      else {
        to.push(person);
        say('250 ok');
      }
    } else if (/^DATA/i.test(line)) {
      message = [];
      say('354 go on');
    } else if (/^QUIT/i.test(line)) {
      say('221 bye');
      socket.end();
    } else {
      if (/^RSET/i.test(line)) to.length = 0;
      say('250 ok');
    }
  }
}

/** Dovecot's delivery agent, which puts a message into the person's inbox. */
export const byDovecot =
  (configuration: string): Delivery =>
  async (name, message) => {
    const agent = spawn('/usr/lib/dovecot/dovecot-lda', ['-c', configuration, '-d', name], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    agent.stdin.end(message);
    const [code] = await once(agent, 'close');
    if (code !== 0) throw new Error(`dovecot-lda ended with ${code}`);
  };
