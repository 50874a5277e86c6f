import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameSite } from '../src/capabilities/browser/site.ts';

const pairs: [page: string, to: string, same: boolean][] = [
  ['https://www.example.com', 'https://api.example.com/save', true],
  ['https://www.example.com', 'https://example.org/count', false],
  ['https://a.co.uk', 'https://b.co.uk/count', false],
  ['https://www.a.co.uk', 'https://api.a.co.uk/save', true],
  ['https://a.com.br', 'https://b.com.br/count', false],
  ['https://www.ab.de', 'https://api.ab.de/save', true],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:9090/save', true],
  ['http://127.0.0.1:8080', 'http://10.0.0.1/save', false],
  ['http://[::1]:8080', 'http://[::2]:8080/save', false],
  ['http://localhost:8080', 'http://localhost:9090/save', true],
  ['null', 'https://example.com/save', false],
];

for (const [page, to, same] of pairs)
  test(`${to} is ${same ? 'of' : 'not of'} the site of ${page}`, () => {
    assert.equal(isSameSite(to, page), same);
  });
