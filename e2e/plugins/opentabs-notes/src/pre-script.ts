import { definePreScript } from '@opentabs-dev/plugin-sdk/pre-script';

definePreScript(({ set, log }) => {
  const original = globalThis.fetch;
  globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const sent = new Headers(init?.headers).get('authorization');
    if (sent?.startsWith('Bearer ')) {
      set('token', sent.slice('Bearer '.length));
      log.debug('a token was seen');
    }
    return original(input, init);
  };
  set('installedAt', document.readyState);
});
