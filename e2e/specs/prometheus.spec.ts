// An agent reads a Prometheus server that a person has open.

import { openPrometheus, type Prometheus, reader } from '../sites/prometheus.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

interface PrometheusStage extends Stage {
  prometheus: Prometheus;
}

/** One Prometheus and one browser for all but the guarded one; the last test ends the server. */
const prometheusTest = test.extend<object, { prometheusStage: PrometheusStage }>({
  prometheusStage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const prometheus = await openPrometheus(closing);
      const settings = { url: `${prometheus.url}graph` };
      const stage = await openStage(closing, { plugins: { prometheus: { settings } } });
      await visit(stage, prometheus.url);
      await use({ ...stage, prometheus });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

prometheusTest('every tool answers, and small', async ({ prometheusStage: { agent } }) => {
  const said = async (tool: string, args = {}) => (await agent.call(`prometheus__${tool}`, args)).said;
  const call = async (tool: string, args = {}) => (await agent.call(`prometheus__${tool}`, args)).value;
  await expect
    .poll(() => said('query', { query: 'job:up:sum' }), { message: 'rules are evaluated' })
    .toMatchObject({
      resultType: 'vector',
      series: [
        { labels: { job: 'gone' }, value: '0' },
        { labels: { job: 'prometheus' }, value: '1' },
      ],
      total: 2,
    });
  expect(await call('query', { query: 'job:up:sum', limit: 1 })).toMatchObject({
    series: [{ labels: { job: 'gone' } }],
    nextOffset: 1,
  });
  expect(await call('query', { query: 'scalar(vector(1)) / 0' })).toMatchObject({
    resultType: 'scalar',
    series: [{ labels: {}, value: '+Inf' }],
  });
  // The last point is a whole second, and may be before the first sample there is.
  await expect
    .poll(() => said('query_range', { query: 'up{job="prometheus"}', minutes: 1, points: 5 }))
    .toMatchObject({
      stepSeconds: 15,
      series: [{ min: 1, max: 1, average: 1, last: 1, values: expect.anything() }],
      total: 1,
    });
  expect(await call('check_query', { query: 'sum(rate(x[5m]))by(job)' })).toEqual({
    formatted: 'sum by (job) (rate(x[5m]))',
  });
  expect(await call('list_metrics', { search: 'http_requests_total' })).toMatchObject({
    metrics: [
      { name: 'prometheus_http_requests_total', type: 'counter', help: expect.stringContaining('HTTP') },
    ],
    total: 1,
  });
  expect(await call('metric_info', { metric: 'up' })).toMatchObject({
    series: 2,
    labels: [
      { name: 'instance', values: 2 },
      { name: 'job', values: 2, examples: ['gone', 'prometheus'] },
    ],
  });
  expect(await call('list_labels', { match: 'up' })).toMatchObject({
    labels: ['__name__', 'instance', 'job'],
  });
  expect(await call('label_values', { label: 'job', search: 'PROM' })).toMatchObject({
    values: ['prometheus'],
  });
  expect(await call('find_series', { match: 'up{job="gone"}' })).toMatchObject({
    series: [{ __name__: 'up', job: 'gone', instance: '127.0.0.1:1' }],
  });
});

prometheusTest('what is broken shows', async ({ prometheusStage: { agent } }) => {
  const said = async (tool: string, args = {}) => (await agent.call(`prometheus__${tool}`, args)).said;
  const call = async (tool: string, args = {}) => (await agent.call(`prometheus__${tool}`, args)).value;
  await expect
    .poll(() => said('alerts', { state: 'firing' }), { message: 'the alert fires' })
    .toMatchObject({
      alerts: [{ name: 'Always', labels: { severity: 'info' }, value: '4.2e+01' }],
      total: 1,
    });
  await expect
    .poll(() => said('targets', { health: 'down' }), { message: 'the target is tried' })
    .toMatchObject({
      up: 1,
      down: 1,
      targets: [{ job: 'gone', lastError: expect.stringContaining('refused') }],
    });
  expect(await call('rules', { type: 'alerting' })).toMatchObject({
    rules: [
      { group: 'tests', name: 'TargetDown', query: 'up == 0', forSeconds: 3600 },
      { name: 'Always', state: 'firing', alerts: 1 },
    ],
  });
  expect(await call('rules', { search: 'JOB:' })).toMatchObject({ rules: [{ type: 'recording' }], total: 1 });
  expect(await call('server_status')).toMatchObject({ configLoaded: true, retention: '15d', corruptions: 0 });
  const status = await call('tsdb_status', { limit: 3 });
  expect(status).toMatchObject({ seriesByMetric: { length: 3 }, valuesByLabel: { length: 3 } });
});

prometheusTest('failures say what to do', async ({ prometheusStage: { agent, prometheus } }) => {
  const fields = async (tool: string, args = {}) => {
    const answer = await agent.call(`prometheus__${tool}`, args);
    return { ...answer.pageFields, text: answer.text, outcome: answer.facts.outcome };
  };
  expect(await fields('query', { query: 'up{' })).toMatchObject({
    code: 'VALIDATION_ERROR',
    category: 'validation',
    retryable: false,
    outcome: 'not_executed',
    text: expect.stringContaining('1:4: parse error: unexpected end of input inside braces'),
  });
  expect(await fields('query_range', { query: 'up', end: 'yesterday' })).toMatchObject({
    code: 'VALIDATION_ERROR',
    text: expect.stringContaining('"yesterday" is neither'),
  });
  expect(await fields('metric_info', { metric: 'no_such_metric' })).toMatchObject({
    code: 'NOT_FOUND',
    text: expect.stringContaining('list_metrics'),
  });
  expect(await fields('label_values', { label: 'planet' })).toMatchObject({ code: 'NOT_FOUND' });
  const twice = '(vector(1) or label_replace(vector(1), "a", "b", "", ""))';
  expect(await fields('query', { query: `vector(1) + on (x) ${twice}` })).toMatchObject({
    code: 'QUERY_FAILED',
  });
  await prometheus.program.stop();
  expect(await fields('alerts')).toMatchObject({ code: 'NETWORK_ERROR', retryable: true });
});

test('a guarded server: AUTH_ERROR while nobody is signed in; a slow query is a timeout', async ({
  closing,
}) => {
  const prometheus = await openPrometheus(closing, { guarded: true, flags: ['--query.timeout=1ms'] });
  const { url, signedInUrl } = prometheus;
  const stage = await openStage(closing, { plugins: { prometheus: { settings: { url } } } });
  // Name and password typed into the address bar: what a browser's dialog asks for cannot be filled in by a test.
  const signIn = () => stage.page.goto(signedInUrl);
  await signIn();
  await expect.poll(() => stage.relay.tabs()).toContain(stage.page.url());
  const status = () => stage.agent.call('prometheus__server_status');
  expect((await status()).value).toMatchObject({ configLoaded: true });
  const slow = await stage.agent.call('prometheus__query', {
    query: 'sum_over_time(vector(1)[1d:1s]) + vector(1)',
  });
  expect(slow.pageFields).toMatchObject({ code: 'TIMEOUT', category: 'timeout', retryable: true });

  await prometheus.admit('somebody else');
  const refused = await status();
  expect(refused.pageFields).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
  expect(refused.facts.outcome).toBe('not_executed');
  expect(refused.text).toContain(`sign in at ${url}`);
  await prometheus.admit(reader.name);
  await signIn();
  expect((await status()).value).toMatchObject({ configLoaded: true });
});
