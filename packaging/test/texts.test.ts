// What a person pastes into a store's form fits the form, and fits the package.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { packaging, repository } from '../product.ts';
import { buildStore } from './store.ts';

const built = buildStore();
after(() => built.remove());
const manifest = JSON.parse(built.text('manifest.json'));
const text = (name: string): string =>
  readFileSync(path.join(packaging, 'store/texts', name), 'utf8').trimEnd();

const justifications = new Map(
  text('permissions.md')
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...paragraphs] = part.trim().split(/\n\s*\n/);
      return [name, paragraphs];
    }),
);

test('the summary is that of the manifest, from which both stores take it, and has at most 132 characters', () => {
  assert.equal(manifest.description, text('summary.txt'));
  assert.ok([...manifest.description].length <= 132, `${manifest.description.length} characters`);
  assert.ok(manifest.name.length <= 75, 'the name of the item');
});

test('each permission of the package has a text of one paragraph, and no other has', () => {
  const { permissions, optional_permissions, host_permissions } = manifest;
  const all: string[] = [...permissions, ...optional_permissions, ...host_permissions];
  assert.deepEqual([...justifications.keys()].sort(), all.sort());
  for (const [name, paragraphs] of justifications) {
    assert.equal(paragraphs.length, 1, name);
    const [said = ''] = paragraphs;
    assert.ok(said.length >= 40 && said.length <= 1000, `${name}: ${said.length} characters`);
    assert.equal(said.startsWith('Optional'), optional_permissions.includes(name), name);
  }
});

const limits: Record<string, [number, number]> = {
  'single-purpose.txt': [40, 1000],
  'remote-code.txt': [40, 1000],
  'description.txt': [250, 10_000], // of Edge; Chrome takes more
  'test-instructions.txt': [40, 500], // of Chrome; Edge takes more
};
for (const [name, [least, most]] of Object.entries(limits))
  test(`${name} has from ${least} to ${most} characters`, () => {
    const { length } = text(name);
    assert.ok(length >= least && length <= most, `${length} characters`);
  });

test('what is pasted as text has no markup, and nothing that was left to be filled in', () => {
  for (const name of [...Object.keys(limits), 'summary.txt', 'search-terms.txt'])
    assert.doesNotMatch(text(name), /^#|\*\*|\]\(|`|<\w+>|lorem|\bTODO\b|\bTBD\b/im, name);
});

test('search terms are as many, and as long, as Edge takes', () => {
  const terms = text('search-terms.txt').split('\n');
  assert.ok(terms.length <= 7 && terms.every((term) => term.length > 0 && term.length <= 30), String(terms));
  assert.ok(terms.join(' ').split(' ').length <= 21);
});

test('the description names every shipped plugin, and no permission that is not there is explained', () => {
  const packaged: Record<string, unknown> = JSON.parse(built.text('adapters.json'));
  const said = text('description.txt').toLowerCase();
  for (const name of Object.keys(packaged)) {
    if (name === 'demo' || name.startsWith('browser')) continue; // the demo site's, and the browser's own tools
    const { displayName } = JSON.parse(
      readFileSync(path.join(repository, 'adapters', name, 'package.json'), 'utf8'),
    ).tabrelay;
    assert.ok(said.includes(displayName.toLowerCase()), displayName);
  }
});

test('each kind of data that the stores ask about has an answer', () => {
  const rows = [...text('data-use.md').matchAll(/^\| ([A-Z][^|]*?) \| (?:yes|no) \| [^|]{8,} \|$/gm)];
  assert.deepEqual(
    rows.map(([, kind]) => kind),
    [
      'Personally identifiable information',
      'Health information',
      'Financial and payment information',
      'Authentication information',
      'Personal communications',
      'Location',
      'Web history',
      'User activity',
      'Website content',
    ],
  );
});

test('the privacy policy says for how long things are kept, as the program keeps them', () => {
  const settings = readFileSync(path.join(repository, 'docs/configuration.md'), 'utf8');
  const defaultOf = (key: string) =>
    new RegExp(`^\\| \`${key}\`.*\\| \`(\\d+)\` \\|`, 'm').exec(settings)?.[1];
  const [, days] = /keepCalls += (\d+) \* 24 \* time\.Hour/.exec(
    readFileSync(path.join(repository, 'relay/state/store/writer.go'), 'utf8'),
  ) ?? [''];
  const policy = text('privacy-policy.md').replace(/\s+/g, ' ');
  for (const said of [
    `Kept for ${defaultOf('audit.keepDays')} days`,
    `nothing is done twice: ${days} days`,
    `with their arguments: ${defaultOf('deadLetters.keepDays')} days`,
    `one answer: ${defaultOf('results.keepHours')} hours`,
  ])
    assert.ok(policy.includes(said), said);
});

test('the guide of the texts names files that are there, and the owner’s checklist names the guide', () => {
  const guide = text('README.md');
  const named = [...guide.matchAll(/`([\w-]+\.(?:txt|md))`/g)].map(([, name = '']) => name);
  for (const name of [...Object.keys(limits), 'permissions.md', 'privacy-policy.md', 'data-use.md'])
    assert.ok(named.includes(name), name);
  for (const name of named) assert.notEqual(text(name), '', name);
  const checklist = readFileSync(path.join(repository, 'docs/releasing.md'), 'utf8');
  assert.match(checklist, /packaging\/store\/texts/);
});
