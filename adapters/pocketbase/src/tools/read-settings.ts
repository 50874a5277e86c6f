import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

const on = s.boolean();
const limitRule = s.object({
  label: s.string(),
  audience: s.string('Empty for everybody.'),
  maxRequests: s.integer(),
  seconds: s.integer(),
});

export const readSettings = defineTool({
  name: 'read_settings',
  displayName: 'Read settings',
  description:
    'Settings of the server without its secrets: name, address, mail sender, rate limits, ' +
    'backups, which services are on.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    appName: s.string(),
    appUrl: s.string(),
    mailSender: s.optional(s.string()),
    smtp: { ...on, description: 'Whether mail goes through an SMTP server.' },
    s3: { ...on, description: 'Whether files are kept in S3.' },
    batch: s.optional({ ...on, description: 'Whether batch requests are allowed.' }),
    backupCron: s.string('When backups are made; empty for never.'),
    logDays: s.integer('How long logs are kept.'),
    rateLimits: on,
    rateLimitRules: s.array(limitRule, { maxItems: 100 }),
  }),
  async handle(_, { signal }) {
    const settings = await get('settings', {}, signal);
    const meta = settings.at('meta');
    return {
      appName: meta.string('appName'),
      appUrl: meta.string('appURL'),
      mailSender: `${meta.string('senderName')} <${meta.string('senderAddress')}>`,
      smtp: settings.boolean('smtp', 'enabled'),
      s3: settings.boolean('s3', 'enabled'),
      batch: settings.boolean('batch', 'enabled'),
      backupCron: settings.string('backups', 'cron'),
      logDays: settings.number('logs', 'maxDays'),
      rateLimits: settings.boolean('rateLimits', 'enabled'),
      rateLimitRules: settings.list('rateLimits', 'rules').slice(0, 100).map(rule),
    };
  },
});

const rule = (from: JsonReader) => ({
  label: from.string('label'),
  audience: from.string('audience'),
  maxRequests: from.number('maxRequests'),
  seconds: from.number('duration'),
});
