// Writes what an archive contains as SPDX: `sbom.ts ARCHIVE DOCUMENT`. The scan gives each document a random name and
// the time of the day; here the name follows from the archive and the time is that of the commit, so that a second
// build is the same.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { product } from './product.ts';
import { printed } from './run.ts';
import { syftProgram } from './tools.ts';

const [archive = '', document = ''] = process.argv.slice(2);
const name = path.basename(archive);
const scan = printed(
  syftProgram,
  ['scan', `file:${archive}`, '--source-name', name, '-q', '-o', 'spdx-json'],
  {
    env: { ...process.env, SYFT_CHECK_FOR_APP_UPDATE: 'false' },
  },
);
const sbom = JSON.parse(scan);
const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
sbom.documentNamespace = `${product.home}/spdx/${name}-${digest}`;
sbom.creationInfo.created = new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000)
  .toISOString()
  .replace('.000Z', 'Z');
writeFileSync(document, `${JSON.stringify(sbom, null, 1)}\n`);
