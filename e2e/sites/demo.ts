// The demo site's own account of what it was asked: the truth the tests compare answers with.

import { z } from 'zod';

const Counter = z.object({
  value: z.number(),
  asked: z.number(),
  log: z.array(z.object({ key: z.string().optional(), by: z.number(), at: z.number() })),
});

const Notes = z.object({ notes: z.array(z.object({ text: z.string(), at: z.number() })) });

export class DemoSite {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async counter(name: string) {
    return Counter.parse(await this.#get(`/api/counters/${name}`));
  }

  /** The notes left under a name, once there are at least `count` of them. */
  async notes(name: string, count: number) {
    return Notes.parse(await this.#get(`/api/notes/${name}?count=${count}`)).notes;
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(this.url + path);
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return await response.json();
  }
}
