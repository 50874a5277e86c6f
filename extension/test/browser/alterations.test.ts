// Which two names are those of the same thing: what a person has allowed to press is not another one.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isSameName } from '../../src/browser/alterations.ts';

const same: [string, string][] = [
  ['Save', 'save'],
  ['SAVE DRAFT', 'Save draft'],
  ['Save  draft', ' Save draft\n'],
  ['Save\u00a0draft', 'Save draft'],
  ['Save', 'Save…'],
  ['Loading.', 'Loading...'],
  ['Search', 'Search|'],
  ['Write a message', 'Write a message▌'],
  ['Email', 'Email *'],
  ['Email:', 'Email'],
  ['Ｓａｖｅ', 'Save'],
  ['Sa\u200bve', 'Save'],
  ['• New', 'New'],
  ['Like (3)', 'Like (4)'],
  ['Like (3)', 'Like (6)'],
  ['Inbox [12]', 'Inbox [13]'],
  ['(2) Messages', '(3) Messages'],
  ['Like (1203)', 'Like (1215)'],
  ['Followers (1.2K)', 'Followers (1.3K)'],
  ['Votes (12,034)', 'Votes (12,100)'],
  ['Like', 'Like (1)'],
  ['Cart (2)', 'Cart'],
  ['Anna, 2 min ago', 'Anna, 3 min ago'],
  ['Anna, 59 seconds ago', 'Anna, 1 minute ago'],
  ['Anna, vor 2 Minuten', 'Anna, vor 4 Minuten'],
  ['Anna, hace 2 días', 'Anna, hace 3 días'],
  ['Anna, il y a 2 heures', 'Anna, il y a 3 heures'],
  ['Send again in 30 s', 'Send again in 12 s'],
  ['Send again (30 seconds)', 'Send again (29 seconds)'],
];

const other: [string, string][] = [
  ['Save draft', 'Delete my account'],
  ['Save', 'Save all'],
  ['Delete', 'Delete all'],
  ['Follow', 'Unfollow'],
  ['Follow', 'Following'],
  ['Play', 'Pause'],
  ['Show more', 'Show less'],
  ['Pay 500', 'Pay 5000'],
  ['Pay 500', 'Pay 501'],
  ['Pay $5.00', 'Pay $6.00'],
  ['Pay (500 €)', 'Pay (900 €)'],
  ['Room 107', 'Room 108'],
  ['Delete (3)', 'Delete (300)'],
  ['Send to all (3)', 'Send to all (30)'],
  ['Delete', 'Delete (45)'],
  ['Book 12:00', 'Book 18:00'],
  ['Monday, 3 May', 'Monday, 10 May'],
  ['Book for 2 nights', 'Book for 20 nights'],
  ['Version 1.2', 'Version 1.3'],
  ['C', 'C++'],
  ['A', 'B'],
  ['Yes', 'No'],
  ['Don’t allow', 'Allow'],
  ['Account Anna', 'Account Bob'],
  ['', 'Delete'],
  ['Delete', ''],
  ['+1', '-1'],
  ['5', '-5'],
  ['<', '>'],
  ['Transfer to DE12 3456', 'Transfer to DE99 3456'],
  ['Send in 30 s', 'Cancel in 30 s'],
  ['Anna, 2 min ago', 'Bob, 2 min ago'],
];

for (const [one, another] of same)
  test(`${JSON.stringify(one)} and ${JSON.stringify(another)} are the same`, () => {
    assert.ok(isSameName(one, another));
    assert.ok(isSameName(another, one));
  });

for (const [one, another] of other)
  test(`${JSON.stringify(one)} is not ${JSON.stringify(another)}`, () => {
    assert.ok(!isSameName(one, another));
    assert.ok(!isSameName(another, one));
  });
