import assert from 'node:assert/strict';
import { type Application, failureOf, tapeTest } from '../../tape.ts';
import { alerts } from '../src/tools/alerts.ts';
import { checkQuery } from '../src/tools/check-query.ts';
import { findSeries } from '../src/tools/find-series.ts';
import { labelValues } from '../src/tools/label-values.ts';
import { listLabels } from '../src/tools/list-labels.ts';
import { listMetrics } from '../src/tools/list-metrics.ts';
import { metricInfo } from '../src/tools/metric-info.ts';
import { query } from '../src/tools/query.ts';
import { queryRange } from '../src/tools/query-range.ts';
import { rules } from '../src/tools/rules.ts';
import { serverStatus } from '../src/tools/server-status.ts';
import { targets } from '../src/tools/targets.ts';
import { tsdbStatus } from '../src/tools/tsdb-status.ts';

const prometheus: Application = { name: 'prometheus', volatile: ['start', 'end'] };
const some = { limit: 50, offset: 0 };

tapeTest(prometheus, 'a query in parts', async ({ ctx }) => {
  const first = await query.handle({ query: 'up', limit: 1, offset: 0 }, ctx);
  assert.deepEqual(
    [first.resultType, first.total, first.nextOffset, first.series.length],
    ['vector', 2, 1, 1],
  );
  const rest = await query.handle({ query: 'up', limit: 1, offset: 1 }, ctx);
  assert.equal(rest.nextOffset, undefined);
  assert.notDeepEqual(rest.series[0]?.labels, first.series[0]?.labels);
});

tapeTest(prometheus, 'scalars, strings and matrices are series too', async ({ ctx }) => {
  const value = async (text: string) => (await query.handle({ query: text, ...some }, ctx)).series[0]?.value;
  assert.equal(await value('1/0'), '+Inf');
  assert.equal(await value('"tea"'), 'tea');
  assert.equal(await value('up{job="gone"}[1m]'), '0');
});

tapeTest(prometheus, 'a range is summed up', async ({ ctx }) => {
  const args = { query: 'vector(7)', minutes: 10, points: 11, limit: 10, offset: 0 };
  const answer = await queryRange.handle(args, ctx);
  assert.deepEqual([answer.stepSeconds, answer.end - answer.start], [60, 600]);
  const [series] = answer.series;
  assert.deepEqual([series?.min, series?.max, series?.average, series?.last], [7, 7, 7, 7]);
  assert.equal(series?.values.length, 11);
  const nothing = await queryRange.handle({ ...args, query: 'vector(NaN)', points: 1 }, ctx);
  assert.deepEqual([nothing.series[0]?.last, nothing.series[0]?.values[0]?.[1]], [undefined, 'NaN']);
});

tapeTest(prometheus, 'metrics, labels and series are found by name', async ({ ctx }) => {
  const { metrics } = await listMetrics.handle({ search: 'REQUEST_DURATION_SECONDS_BUCKET', ...some }, ctx);
  assert.deepEqual(
    metrics.map(({ name, type }) => [name, type]),
    [['prometheus_http_request_duration_seconds_bucket', 'histogram']],
  );
  const up = await metricInfo.handle({ metric: 'up' }, ctx);
  assert.deepEqual(up.labels.find(({ name }) => name === 'job')?.examples, ['gone', 'prometheus']);
  assert.deepEqual((await listLabels.handle({ match: 'up', ...some }, ctx)).labels, [
    '__name__',
    'instance',
    'job',
  ]);
  assert.deepEqual((await labelValues.handle({ label: 'job', search: 'gon', ...some }, ctx)).values, [
    'gone',
  ]);
  const found = await findSeries.handle({ match: 'up{job="gone"}', hours: 1, ...some }, ctx);
  assert.deepEqual(found.series, [{ __name__: 'up', instance: '127.0.0.1:1', job: 'gone' }]);
});

tapeTest(prometheus, 'what the server says of itself', async ({ ctx }) => {
  const down = await targets.handle({ health: 'down', ...some }, ctx);
  assert.deepEqual([down.up, down.down, down.targets[0]?.job], [1, 1, 'gone']);
  assert.equal((await targets.handle({ health: 'any', job: 'prometheus', ...some }, ctx)).total, 1);
  const alerting = await rules.handle({ type: 'alerting', search: '', ...some }, ctx);
  assert.deepEqual(
    alerting.rules.map(({ name }) => name),
    ['TargetDown', 'Always'],
  );
  const firing = await alerts.handle({ state: 'firing', ...some }, ctx);
  assert.deepEqual(
    firing.alerts.map(({ name }) => name),
    ['Always'],
  );
  assert.equal((await serverStatus.handle({}, ctx)).configLoaded, true);
  const storage = await tsdbStatus.handle({ limit: 2 }, ctx);
  assert.equal(storage.seriesByMetric.length, 2);
  assert.ok(storage.series > 100);
});

tapeTest(prometheus, 'failures', async ({ ctx }) => {
  assert.equal((await checkQuery.handle({ query: 'a+b' }, ctx)).formatted, 'a + b');
  const broken = await failureOf(checkQuery.handle({ query: 'sum(' }, ctx));
  assert.deepEqual([broken.code, broken.outcome], ['VALIDATION_ERROR', 'not_executed']);
  assert.match(broken.message, /^Prometheus answered: .*parse error/);
  const twice = '(vector(1) or label_replace(vector(1), "a", "b", "", ""))';
  const impossible = await failureOf(query.handle({ query: `vector(1) + on (x) ${twice}`, ...some }, ctx));
  assert.deepEqual([impossible.code, impossible.category], ['QUERY_FAILED', 'validation']);
  for (const action of [
    () => metricInfo.handle({ metric: 'no_such_metric' }, ctx),
    () => labelValues.handle({ label: 'planet', search: '', ...some }, ctx),
  ]) {
    assert.equal((await failureOf(action())).code, 'NOT_FOUND');
  }
  const never = { query: 'up', minutes: 60, points: 20, end: 'yesterday', limit: 10, offset: 0 };
  assert.equal((await failureOf(queryRange.handle(never, ctx))).code, 'VALIDATION_ERROR');
});
