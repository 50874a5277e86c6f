import { urlEncoded } from './query.ts';
import { currentScope, type Network } from './scope.ts';

const ofThePage: Network = {
  open(input, init, defaults, timeoutMs) {
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
    for (const [name, value] of Object.entries(defaults)) {
      if (!headers.has(name)) headers.set(name, value);
    }
    const request = new Request(input, { credentials: 'include', ...init, headers });
    const clock = AbortSignal.timeout(timeoutMs);
    return {
      url: request.url,
      method: request.method,
      send: () => fetch(request, { signal: AbortSignal.any([request.signal, clock]) }),
      throwIfAborted: () => request.signal.throwIfAborted(),
      expired: () => clock.aborted,
    };
  },
  reply: (response) => ({
    ok: response.ok,
    status: response.status,
    url: response.url,
    header: (name) => response.headers.get(name),
    text: () => response.text(),
    copy: () => response.clone(),
  }),
  parse: (text) => (text.trim() === '' ? undefined : JSON.parse(text)),
  stringify: (value) => JSON.stringify(value),
  form: urlEncoded,
  keep: (promise) => promise,
  answersAreTaken: () => false,
};

export const network = (): Network => currentScope()?.network ?? ofThePage;
