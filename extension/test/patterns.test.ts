import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternMatches, urlAllowed } from '../src/shared/patterns.ts';

const cases: [pattern: string, url: string, matches: boolean][] = [
  ['<all_urls>', 'https://a.example/x', true],
  ['<all_urls>', 'file:///etc/passwd', false],
  ['*://*/*', 'http://a.example', true],
  ['*://*/*', 'ftp://a.example/', false],
  ['https://*.example.org/*', 'https://example.org/', true],
  ['https://*.example.org/*', 'https://a.b.example.org/x?y=1#z', true],
  ['https://*.example.org/*', 'https://notexample.org/', false],
  ['https://*.example.org/*', 'https://example.org.evil.test/', false],
  ['https://example.org/*', 'http://example.org/', false],
  ['http://127.0.0.1:7718/*', 'http://127.0.0.1:7718/a', true],
  ['http://127.0.0.1:7718/*', 'http://127.0.0.1:7717/a', false],
  ['http://127.0.0.1/*', 'http://127.0.0.1:9999/a', true],
  ['http://localhost:*/*', 'http://localhost:9999/a', true],
  ['http://localhost:80/*', 'http://localhost/a', true],
  ['https://localhost:443/*', 'https://localhost/a', true],
  ['http://[::1]:8080/*', 'http://[::1]:8080/a', true],
  ['http://[::1]/*', 'http://[::1]:8080/a', true],
  ['https://a.example/wiki/*', 'https://a.example/wiki/Main', true],
  ['https://a.example/wiki/*', 'https://a.example/other', false],
  ['https://a.example/*/edit', 'https://a.example/b/c/edit', true],
  ['https://a.example/*/edit', 'https://a.example/b/c/edit2', false],
  ['https://a.example/x*y*z', 'https://a.example/x1y2y3z', true],
  ['https://a.example/', 'https://a.example/#part', true],
  ['https://A.example/*', 'https://a.example/', true],
  ['nonsense', 'https://a.example/', false],
];

for (const [pattern, url, matches] of cases) {
  test(`${pattern} ${matches ? 'covers' : 'does not cover'} ${url}`, () => {
    assert.equal(patternMatches(pattern, url), matches);
  });
}

test('an exclusion wins over a match', () => {
  const allowed = (url: string) => urlAllowed(url, ['https://a.example/*'], ['https://a.example/admin/*']);
  assert.equal(allowed('https://a.example/'), true);
  assert.equal(allowed('https://a.example/admin/x'), false);
  assert.equal(allowed('https://b.example/'), false);
});

test('a pattern full of stars does not take long', () => {
  assert.equal(
    patternMatches(`https://a.example/${'*a'.repeat(50)}`, `https://a.example/${'a'.repeat(5000)}b`),
    false,
  );
});
