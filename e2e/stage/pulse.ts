// A program of its own that feels a relay's pulse: it asks /healthz and the tool bridge_health, over and over, and says
// when told to stop how long the answers took. In the process of a busy test the clock itself would be late.

import http from 'node:http';

const [address = '', token = ''] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });

const bridgeHealth = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'bridge_health',
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'pulse', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

const headers = {
  authorization: `Bearer ${token}`,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'bridge_health',
};

/** Sends a request and returns how long its whole answer took, in milliseconds. */
function beat(path: string, body?: string): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const request = http.request(
      `http://${address}${path}`,
      { agent, ...(body !== undefined && { method: 'POST', headers }) },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        answer.on('end', () => {
          if (answer.statusCode !== 200 || text.includes('"isError":true'))
            reject(new Error(`${path} answered ${answer.statusCode}: ${text}`));
          else resolve(performance.now() - began);
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const beats: Record<string, number[]> = { healthz: [], bridgeHealth: [] };
let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});
await beat('/healthz');
await beat('/mcp', bridgeHealth);
console.log('beating');
while (!stopped) {
  beats.healthz?.push(await beat('/healthz'));
  beats.bridgeHealth?.push(await beat('/mcp', bridgeHealth));
  await new Promise((resolve) => setTimeout(resolve, 5));
}
agent.destroy();
console.log(JSON.stringify(beats));
