// Runs one tool of a plugin against a fixture. What a page has for handlers comes from wherever this runs.
(fixture, plugin, home, done) => {
  const left = fixture.requests.slice();

  // What the page has. Without a browser there is only what the fixture names.
  const has = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const { cookies, globals } = fixture.page;
  for (const area of ['localStorage', 'sessionStorage']) {
    const entries = fixture.page[area];
    if (entries === undefined) continue;
    if (home !== '') for (const [key, value] of Object.entries(entries)) globalThis[area].setItem(key, value);
    else {
      const kept = new Map(Object.entries(entries));
      has(area, {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => void kept.set(key, String(value)),
        removeItem: (key) => void kept.delete(key),
        key: (at) => Array.from(kept.keys())[at] ?? null,
        get length() {
          return kept.size;
        },
      });
    }
  }
  if (cookies !== undefined) {
    const pairs = Object.entries(cookies).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
    if (home === '') has('document', { cookie: pairs.join('; ') });
    // biome-ignore lint/suspicious/noDocumentCookie: a page of http has no Cookie Store
    else for (const pair of pairs) document.cookie = `${pair}; path=/`;
  }
  for (const [path, value] of Object.entries(globals ?? {})) {
    const steps = path.split('.');
    const last = steps.pop();
    let inside = globalThis;
    for (const step of steps) {
      if (typeof inside[step] !== 'object' || inside[step] === null) inside[step] = {};
      inside = inside[step];
    }
    inside[last] = value;
  }
  const problems = [];

  // In a browser the page is served from elsewhere than the fixture says: addresses there are as if it were not.
  const absolute = (url) => {
    const { href } = new URL(url, fixture.page.url);
    return home !== '' && href.startsWith(home)
      ? new URL(href.slice(home.length), fixture.page.url).href
      : href;
  };
  const plain = (sent) => {
    try {
      return JSON.stringify(JSON.parse(sent));
    } catch {
      return sent;
    }
  };
  const asText = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = absolute(request.url);
    const sent = await request.text();
    const at = left.findIndex(
      (one) =>
        (one.method ?? 'GET') === request.method &&
        absolute(one.url) === url &&
        (one.sends === undefined || plain(asText(one.sends)) === plain(sent)),
    );
    if (at < 0) {
      problems.push(
        `it asks ${request.method} ${url}${sent === '' ? '' : ` with ${sent}`}, which the fixture has not`,
      );
      throw new TypeError('Failed to fetch');
    }
    const [{ status = 200, headers = {}, body = '' }] = left.splice(at, 1);
    if (status === 0) throw new TypeError('Failed to fetch');
    const kind = typeof body === 'string' ? 'text/plain' : 'application/json';
    const response = new Response([204, 304].includes(status) ? null : asText(body), {
      status,
      headers: { 'content-type': kind, ...headers },
    });
    Object.defineProperty(response, 'url', { value: url });
    return response;
  };

  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const { settings } = fixture;
  const finish = (outcome) =>
    done(
      JSON.stringify({
        ...outcome,
        problems,
        unused: left.map((one) => `${one.method ?? 'GET'} ${absolute(one.url)}`),
      }),
    );
  const failure = (thrown) => {
    const known =
      thrown !== null &&
      typeof thrown === 'object' &&
      thrown.name === 'ToolError' &&
      typeof thrown.code === 'string';
    const message = String(thrown?.message ?? thrown);
    if (!known) return { code: 'INTERNAL_ERROR', message, retryable: false };
    const { code, category, retryable, retryAfterMs, outcome } = thrown;
    return { code, message, category, retryable, retryAfterMs, outcome };
  };

  // What JSON loses on the way to the agent, or has no form for: each kind, and what to write in its place.
  const kinds = [
    [(v) => typeof v.then === 'function', 'is a promise, which arrives as {}; await it'],
    [(v) => v instanceof Map, 'is a Map, which arrives as {}; answer Object.fromEntries(map)'],
    [(v) => v instanceof Set, 'is a Set, which arrives as {}; answer [...set]'],
    [(v) => v instanceof Error, 'is an Error, which arrives as {}; throw it, or answer its message'],
    [(v) => v instanceof Date, 'is a Date, which arrives as a text; answer date.toISOString()'],
  ];
  const lost = (value, at, inside) => {
    const say = (what) => problems.push(`${at} ${what}`);
    if (typeof value === 'number' && !Number.isFinite(value))
      return say(`is ${value}, which arrives as null`);
    if (typeof value === 'bigint') return say('is a bigint, which has no JSON form; answer String(value)');
    if (typeof value === 'function' || typeof value === 'symbol')
      return say(`is a ${typeof value}, which is left out`);
    if (typeof value !== 'object' || value === null) return undefined;
    if (inside.includes(value)) return say('is inside of itself, which has no JSON form');
    const kind = kinds.find(([is]) => is(value));
    if (kind) return say(kind[1]);
    for (const key of Object.keys(value)) {
      lost(value[key], Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, [...inside, value]);
    }
  };
  const answered = (value) => {
    const before = problems.length;
    lost(value, 'output', []);
    try {
      finish({ output: value === undefined ? null : value });
    } catch (thrown) {
      if (problems.length === before) problems.push(`output has no JSON form: ${thrown.message}`);
      finish({ output: null });
    }
  };

  const run = async () => {
    plugin.enter?.({ settings, preScript: undefined, log, network: undefined, readinessChanged: quiet });
    const tool = plugin.default.tools.find((one) => one.name === fixture.tool);
    const context = {
      signal: new AbortController().signal,
      reportProgress: quiet,
      log,
      settings,
      maxBytes: fixture.maxBytes,
      tab: { id: 1, url: fixture.page.url },
      frame: { url: fixture.page.url, top: true },
      idempotencyKey: 'fixture',
    };
    return tool.handle(fixture.arguments, context);
  };
  run().then(answered, (thrown) => finish({ error: failure(thrown) }));
};
