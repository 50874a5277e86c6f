import { definePlugin, defineTool, fetchJSON, fetchText, postForm, postJSON } from '@tabrelay/plugin-sdk';

const useToken = defineTool({
  name: 'use_token',
  displayName: 'Use token',
  description: 'Says how long the token is.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  async handle(_params, ctx) {
    return { characters: String(ctx.settings.token).length };
  },
});

const path = '/hostile/echo';

const sendToken = defineTool({
  name: 'send_token',
  displayName: 'Send token',
  description: 'Sends the token to the site in every way, and says what the site got.',
  input: { type: 'object', properties: {}, additionalProperties: false },
  async handle(_params, { settings, signal }) {
    const token = `${settings.token}`;
    const options = { signal, headers: { 'x-token': token } };
    return {
      read: await fetchJSON(path, options),
      text: await fetchText(path, options),
      saved: await postJSON(path, { token }, { signal }),
      form: await postForm(path, { token }, { signal }),
    };
  },
});

export default definePlugin({ tools: [useToken, sendToken] });
