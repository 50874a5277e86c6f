import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from '../src/failures.ts';

const known = { signInUrl: 'http://wiki.test/index.php?title=Special:UserLogin', retryAfterMs: undefined };

const expected = {
  AUTH_ERROR: ['assertuserfailed', 'assertnameduserfailed', 'notloggedin', 'readapidenied'],
  RATE_LIMITED: ['maxlag', 'ratelimited'],
  EDIT_CONFLICT: ['editconflict', 'pagedeleted'],
  PAGE_EXISTS: ['articleexists'],
  NOT_FOUND: ['missingtitle', 'nosuchrevid', 'nosuchsection', 'nosuchpageid'],
  PAGE_PROTECTED: [
    'protectedpage',
    'cascadeprotected',
    'protectedtitle',
    'protectednamespace',
    'protectednamespace-interface',
  ],
  PERMISSION_DENIED: [
    'permissiondenied',
    'blocked',
    'autoblocked',
    'cantcreate',
    'noedit-anon',
    'namespaceprotected',
  ],
  EDIT_REFUSED: [
    'spamblacklist',
    'spamdetected',
    'abusefilter-disallowed',
    'contenttoobig',
    'titleblacklist-forbidden',
  ],
  CAPTCHA_REQUIRED: ['captcha'],
  TOKEN_REFUSED: ['badtoken'],
  VALIDATION_ERROR: [
    'invalidtitle',
    'badinteger',
    'missingparam',
    'unknown_action',
    'toomanyvalues',
    'pagecannotexist',
  ],
  WIKI_READ_ONLY: ['readonly'],
  WIKI_INTERNAL_API_ERROR_DBQUERYERROR: ['internal_api_error_DBQueryError'],
};

for (const [code, wikiCodes] of Object.entries(expected)) {
  for (const wikiCode of wikiCodes) {
    test(`${wikiCode} is ${code}`, () => {
      const error = failure({ code: wikiCode, text: 'Why.' }, known);
      assert.equal(error.code, code);
      assert.equal(error.outcome, 'not_executed');
      assert.match(error.message, /^Why\./);
    });
  }
}

test('a limit says how long to wait, from the header where there is one', () => {
  const limited = { code: 'ratelimited', text: 'Slow down.' };
  assert.equal(failure(limited, known).retryAfterMs, 60_000);
  assert.equal(failure(limited, { ...known, retryAfterMs: 5000 }).retryAfterMs, 5000);
  assert.equal(failure(limited, known).retryable, true);
});

test('what only a person can change is not retryable', () => {
  for (const code of ['assertuserfailed', 'protectedpage', 'blocked', 'editconflict']) {
    assert.equal(failure({ code, text: '' }, known).retryable, false);
  }
});
