// Requests with headers that fetch would not send.

import { request } from 'node:http';

export interface Reply {
  /** 0: the connection was closed without an answer. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends one request, on a connection of its own. Of an answer that is a stream, only the head is read. */
export function ask(url: string, method: string, headers: Record<string, string>, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (answer) => {
      let text = '';
      const reply = () => ({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        asked.destroy();
        resolve(reply());
        return;
      }
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve(reply()));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}
