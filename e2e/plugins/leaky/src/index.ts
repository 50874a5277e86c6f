// Tools that fail the way careless code fails: with secrets, paths of a machine and stack traces in what they throw.
// The marks (leak-…) make what comes through easy to find.

import { definePlugin, defineTool, ToolError } from '@tabrelay/plugin-sdk';

const none = { type: 'object', properties: {}, additionalProperties: false } as const;

const told = {
  stack: () => new Error('It broke').stack ?? '',
  unix: () => 'cannot open /home/leak-ada/projects/leak-shop/config.yaml',
  windows: () => 'cannot open C:\\Users\\leak-ada\\leak-shop\\config.yaml',
  url: () => 'GET http://leak-ada:leak-pass1@127.0.0.1/a?access_token=leak-query1&page=2 failed',
  bearer: () => 'the server said no to Authorization: Bearer leak.bearer.0123456789',
  cookie: () => 'set-cookie: session=leak-cookie-0123; Path=/',
  key: () => 'api_key=leak0123456789 is not valid any more',
  node: () =>
    'TypeError: x\n    at leakFrame (/srv/leak-app/server.js:10:5)\n    at async leakOther (node:internal/x:1:1)',
  go: () => 'panic: x\n\ngoroutine 1 [running]:\nmain.leakFrame(0x1)\n\t/go/src/leak-app/main.go:12 +0x1d\n',
};

const which = {
  type: 'string',
  enum: ['stack', 'unix', 'windows', 'url', 'bearer', 'cookie', 'key', 'node', 'go'],
} as const;
const input = {
  type: 'object',
  properties: { what: which },
  required: ['what'],
  additionalProperties: false,
} as const;

const throwError = defineTool({
  name: 'throw_error',
  displayName: 'Throw an error',
  description: 'Throws an ordinary error with a leak in it.',
  input,
  handle: ({ what }) => Promise.reject(new Error(told[what]())),
});

const throwToolError = defineTool({
  name: 'throw_tool_error',
  displayName: 'Throw a ToolError',
  description: 'Throws a ToolError with a leak in it, and writes the leak to the console first.',
  input,
  handle({ what }) {
    console.error(told[what]());
    return Promise.reject(ToolError.internal(told[what]()));
  },
});

const takeSecret = defineTool({
  name: 'take_secret',
  displayName: 'Take a secret',
  description: 'Takes a password and fails.',
  input: {
    type: 'object',
    properties: { password: { type: 'string', maxLength: 8 }, apiKey: { type: 'string', pattern: '^k' } },
    additionalProperties: false,
  },
  handle: () => Promise.reject(ToolError.auth('The password is wrong')),
});

const wrongOutput = defineTool({
  name: 'wrong_output',
  displayName: 'Answer with the wrong thing',
  description: 'Declares a number and answers with a secret.',
  input: none,
  output: { type: 'object', properties: { password: { type: 'integer' } }, required: ['password'] },
  handle: () => Promise.resolve(JSON.parse('{"password":"leak-output-0123"}')),
});

export default definePlugin({ tools: [throwError, throwToolError, takeSecret, wrongOutput] });
