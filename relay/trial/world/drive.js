// Runs one tool of a plugin against a fixture. What a page has for handlers comes from wherever this runs.
(fixture, plugin, home, done) => {
  const left = fixture.requests.slice();
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
  run().then(
    (value) => finish({ output: value === undefined ? null : value }),
    (thrown) => finish({ error: failure(thrown) }),
  );
};
