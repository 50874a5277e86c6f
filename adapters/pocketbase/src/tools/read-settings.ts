import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';

const on = { type: 'boolean' } as const;
const limitRule = {
  type: 'object',
  properties: {
    label: { type: 'string' },
    audience: { type: 'string', description: 'Empty for everybody.' },
    maxRequests: { type: 'integer' },
    seconds: { type: 'integer' },
  },
  required: ['label', 'audience', 'maxRequests', 'seconds'],
} as const;

export const readSettings = defineTool({
  name: 'read_settings',
  displayName: 'Read settings',
  description:
    'Settings of the server without its secrets: name, address, mail sender, rate limits, backups, which services are on.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      appName: { type: 'string' },
      appUrl: { type: 'string' },
      mailSender: { type: 'string' },
      smtp: { ...on, description: 'Whether mail goes through an SMTP server.' },
      s3: { ...on, description: 'Whether files are kept in S3.' },
      batch: { ...on, description: 'Whether batch requests are allowed.' },
      backupCron: { type: 'string', description: 'When backups are made; empty for never.' },
      logDays: { type: 'integer', description: 'How long logs are kept.' },
      rateLimits: on,
      rateLimitRules: { type: 'array', maxItems: 100, items: limitRule },
    },
    required: ['appName', 'appUrl', 'smtp', 's3', 'backupCron', 'logDays', 'rateLimits', 'rateLimitRules'],
  },
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
