import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, isTrue, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
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
    const { appName, appURL, senderName, senderAddress } = objectAt(settings, 'meta');
    const limits = objectAt(settings, 'rateLimits');
    return {
      appName: asText(appName),
      appUrl: asText(appURL),
      mailSender: `${asText(senderName)} <${asText(senderAddress)}>`,
      smtp: isTrue(objectAt(settings, 'smtp').enabled),
      s3: isTrue(objectAt(settings, 's3').enabled),
      batch: isTrue(objectAt(settings, 'batch').enabled),
      backupCron: asText(objectAt(settings, 'backups').cron),
      logDays: asNumber(objectAt(settings, 'logs').maxDays),
      rateLimits: isTrue(limits.enabled),
      rateLimitRules: objectsIn(limits.rules).slice(0, 100).map(rule),
    };
  },
});

const rule = ({ label, audience, maxRequests, duration }: Record<string, unknown>) => ({
  label: asText(label),
  audience: asText(audience),
  maxRequests: asNumber(maxRequests),
  seconds: asNumber(duration),
});
