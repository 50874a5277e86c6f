// The address a person configures is that of an application, of one of its pages, or of a path behind a proxy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter } from '../plugin-sdk/src/scope.ts';
import * as nodeRed from './node-red/src/session.ts';
import * as pocketbase from './pocketbase/src/session.ts';
import * as prometheus from './prometheus/src/api.ts';

const cases: readonly [base: () => string, configured: string | undefined, path: string][] = [
  [prometheus.baseUrl, undefined, '/'],
  [prometheus.baseUrl, 'https://app.test', '/'],
  [prometheus.baseUrl, 'https://app.test/graph', '/'],
  [prometheus.baseUrl, 'https://app.test/classic/targets', '/'],
  [prometheus.baseUrl, 'https://app.test/prometheus/', '/prometheus/'],
  [prometheus.baseUrl, 'https://app.test/prometheus', '/prometheus/'],
  [prometheus.baseUrl, 'https://app.test/prometheus/query', '/prometheus/'],
  [prometheus.baseUrl, 'https://other.test/prometheus/', '/'],
  [pocketbase.baseUrl, undefined, '/'],
  [pocketbase.baseUrl, 'https://app.test/_/', '/'],
  [pocketbase.baseUrl, 'https://app.test/_', '/'],
  [pocketbase.baseUrl, 'https://app.test/data/_/', '/data/'],
  [pocketbase.baseUrl, 'https://app.test/data', '/data/'],
  [nodeRed.baseUrl, undefined, '/'],
  [nodeRed.baseUrl, 'https://app.test', '/'],
  [nodeRed.baseUrl, 'https://app.test/red', '/red/'],
  [nodeRed.baseUrl, 'https://app.test/red/', '/red/'],
];

const configure = (url: string | undefined) => {
  Object.assign(globalThis, { location: new URL('https://app.test/somewhere/else') });
  const settings = url === undefined ? {} : { url };
  enter({ settings, preScript: undefined, log: undefined, network: undefined, readinessChanged() {} });
};

for (const [base, configured, path] of cases) {
  test(`${configured ?? 'no address'} begins at ${path}`, () => {
    configure(configured);
    assert.equal(base(), `https://app.test${path}`);
  });
}

test('the sign-in of a PocketBase behind a path', () => {
  configure('https://app.test/data/_/');
  assert.equal(pocketbase.loginUrl(), 'https://app.test/data/_/#/login');
});
