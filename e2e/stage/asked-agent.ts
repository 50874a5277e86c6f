// An agent whose client can ask its person: MCP elicitation, form mode.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { Agent } from './agent.ts';
import type { Closing } from './closing.ts';
import type { Relay } from './relay.ts';

/** Says what the person answers to a question; it may take its time. */
export type Person = (question: string) => ElicitResult | Promise<ElicitResult>;

/** What a person picks in the form of a question about permissions. */
export const picks = (answer: string): ElicitResult => ({ action: 'accept', content: { answer } });

export async function askedAgent(
  relay: Relay,
  closing: Closing,
  person: Person,
  name = 'asked',
): Promise<Agent> {
  const transport = new StdioClientTransport({ command: relay.binary, args: ['mcp'], env: relay.env });
  const client = new Client({ name, version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => await person(params.message));
  closing.defer(() => client.close());
  await client.connect(transport);
  return new Agent(client, transport);
}
