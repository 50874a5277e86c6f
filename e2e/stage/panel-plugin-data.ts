// What the relay answers about plugins that a person sets up, adds and removes.

import type {
  Adding,
  Addition,
  Failure,
  Offers,
  Plugin,
  Plugins,
  Setting,
  Settings,
  Unconfirmed,
  Unusable,
} from '../../extension/src/panel/answers.generated.ts';

const setting = (name: string, type: string, more: Partial<Setting> = {}): Setting => ({
  name,
  type,
  label: '',
  required: false,
  secret: false,
  set: false,
  default: undefined,
  value: undefined,
  ...more,
});

export const settings: Settings = {
  plugin: 'shop',
  patterns: ['https://shop.example/*'],
  settings: [
    setting('site', 'url', {
      label: 'Address of the shop',
      set: true,
      value: { north: 'https://north.example/', south: 'https://south.example/shop/' },
    }),
    setting('token', 'string', {
      label: 'Token',
      description: 'You make one in the shop under Account, API.',
      required: true,
      secret: true,
      set: true,
    }),
    setting('limit', 'number', { label: 'Orders at once', default: 20 }),
    setting('currency', 'select', { label: 'Currency', options: ['EUR', 'USD'], default: 'EUR' }),
    setting('archive', 'boolean', { label: 'Also orders in the archive', set: true, value: true }),
    setting('mapping', 'object', { label: 'Names of columns' }),
  ],
};

const addition: Addition = { from: '/home/ada/tea-shop', began: '2026-03-02T09:59:58Z', notes: [] };
export const going: Adding = { addition: { ...addition, step: 'Building /home/ada/tea-shop' } };
export const broken: Adding = {
  addition: {
    ...addition,
    problem:
      'the plugin in /home/ada/tea-shop was not built:\n' +
      'src/index.ts:12:9: Could not resolve "./orders.ts"\n' +
      "12 | import { orders } from './orders.ts';\n   |         ^",
  },
};
export const done: Adding = {
  addition: {
    ...addition,
    plugin: 'tea-shop',
    state: 'waiting',
    notes: ['package.json: “description” is missing; people read it in the review'],
  },
};

/** One that was read when the index was made, one that was not, and one whose texts try to mislead. */
export const offers: Offers = {
  offers: [
    {
      plugin: 'slack',
      displayName: 'Slack',
      site: 'app.slack.com',
      from: 'github:opentabs-dev/opentabs//plugins/slack#de9200b1231cae419d1a437e410114a9e2fe8eca',
      source: 'github:opentabs-dev/opentabs',
      licence: 'MIT',
      tools: 23,
    },
    {
      plugin: 'tea-shop',
      displayName: 'Tea shop',
      site: 'tea.example:8443',
      from: 'git+https://git.example/tea//plugins/tea#0123456789abcdef0123456789abcdef01234567',
      source: 'git+https://git.example/tea',
      tools: 0,
    },
    {
      plugin: 'bank',
      displayName: `tabrelay has checked this. ${'Add it now. '.repeat(20)}`,
      site: `${'a-long-name.'.repeat(8)}example`,
      from: 'git+https://evil.example/x//bank#0123456789abcdef0123456789abcdef01234567',
      source: `git+https://evil.example/${'x'.repeat(100)}`,
      licence: 'tried by tabrelay, MIT, free of charge',
      tools: 1,
    },
  ],
};

const failure = (code: string, message: string): Failure => ({
  code,
  message,
  source: 'relay',
  class: 'validation',
  retryable: false,
  rpcCode: 0,
  data: undefined,
});

export const unusable: Unusable = {
  error: failure('INVALID_REQUEST', '2 settings cannot be used'),
  fields: {
    site: 'expected the address of one site, but got "https://*/"',
    limit: 'expected a number, but got "many"',
  },
};

export const wider: Unconfirmed = {
  error: failure('PERMISSION_DENIED', 'The plugin would work on more pages'),
  digest: 'ab'.repeat(32),
  change: {
    title: 'The plugin shop works on more pages: *://north.example/*',
    differences: [
      {
        what: 'pages of shop',
        before: 'https://shop.example/*',
        after: 'https://shop.example/*, *://north.example/*, *://south.example/*',
      },
    ],
  },
};

const long = 'A'.repeat(400);

/** What the author of a plugin may write about it to pass for something else. */
const hostilePlugin: Plugin = {
  name: 'hostile',
  title: `<b onclick="alert(1)">tabrelay\u202e</b> ${long}`,
  version: long,
  description: `\u202eApproved by tabrelay.\u0000 <img src=x> ${long.repeat(9)}`,
  shipped: false,
  added: true,
  folder: `/home/ada/${long}`,
  settings: 1,
  unset: false,
  hash: 'ab'.repeat(32),
  state: 'broken',
  reason: `<script>alert(1)</script> ${long}`,
  homepage: 'javascript:alert(1)',
  patterns: Array.from({ length: 40 }, (_, index) => `https://${long.slice(0, 60)}${index}.example/*`),
  tools: [
    {
      name: `hostile__${long}`,
      title: `\u202e${long}`,
      readOnly: true,
      destructive: false,
      mode: 'ask',
      why: long,
    },
  ],
};
export const hostile: Plugins = { plugins: [hostilePlugin] };
export const hostileSettings: Settings = {
  plugin: 'hostile',
  patterns: hostilePlugin.patterns,
  settings: [
    setting('constructor', 'string', {
      label: `Your Google password\u202e ${long}`,
      description: `<b>${long}</b>`,
    }),
    setting(long, 'select', { label: long, options: [long, `\u202e${long}`] }),
    setting('x', long, { description: `\u202e${long}` }),
  ],
};
