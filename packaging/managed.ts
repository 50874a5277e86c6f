// Makes what a browser's policy installs tabrelay from: the store edition as a CRX that a key signs, and the update
// manifest that names it, for a web server of the organization. Chromium or Chrome packs it (CHROMIUM is its path).

import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { dist } from './product.ts';
import { run } from './run.ts';

const usage = 'usage: managed.ts --key FILE.pem --url https://HOST/FOLDER [--from FOLDER] [--out FOLDER]';

const { values } = parseArgs({
  options: {
    key: { type: 'string', default: '' },
    url: { type: 'string', default: '' },
    from: { type: 'string', default: path.join(dist, 'store/unpacked') },
    out: { type: 'string', default: path.join(dist, 'managed') },
  },
});

/** The address of a file beside the others, as XML and JSON can have it. */
function addressOf(folder: string, name: string): string {
  const base = new URL(folder.endsWith('/') ? folder : `${folder}/`);
  if (!/^https?:$/.test(base.protocol)) throw new Error(`--url ${folder} is no address of a web server`);
  return new URL(name, base).href.replaceAll('&', '%26');
}

/** The id that Chrome gives to what a key signs: the first half of the hash of its public half, in a to p. */
function idOf(pem: string): string {
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  const half = createHash('sha256').update(der).digest('hex').slice(0, 32);
  return [...half].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join('');
}

/** Makes the key where there is none. Whoever has it can make updates that browsers install by themselves. */
function keyIn(file: string): string {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
    console.log(
      `made the key ${file}: keep it, and keep it secret; with another one it is another extension`,
    );
  }
  return readFileSync(file, 'utf8');
}

/** Has the browser pack a folder, which it does beside it. */
async function pack(folder: string, key: string, crx: string): Promise<void> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'tabrelay-crx-'));
  try {
    const copy = path.join(scratch, 'tabrelay');
    cpSync(folder, copy, { recursive: true });
    rmSync(path.join(copy, 'pairing.json'), { force: true }); // the secret of one person's relay
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const profile = `--user-data-dir=${path.join(scratch, 'profile')}`;
    const order = [`--pack-extension=${copy}`, `--pack-extension-key=${path.resolve(key)}`];
    run(process.env.CHROMIUM ?? 'chromium', [...order, profile, '--headless=new', '--disable-gpu', ...root]);
    cpSync(`${copy}.crx`, `${crx}.new`); // the folders may be on different disks
    renameSync(`${crx}.new`, crx);
  } finally {
    // The browser may still be writing to its profile while it ends.
    await rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

if (values.key === '' || values.url === '') throw new Error(usage);
const crxAddress = addressOf(values.url, 'tabrelay.crx');
const { version } = JSON.parse(readFileSync(path.join(values.from, 'manifest.json'), 'utf8'));
const id = idOf(keyIn(values.key));
mkdirSync(values.out, { recursive: true });
await pack(values.from, values.key, path.join(values.out, 'tabrelay.crx'));
writeFileSync(
  path.join(values.out, 'update.xml'),
  `<?xml version="1.0" encoding="UTF-8"?>
<gupdate xmlns="http://www.google.com/update2/response" protocol="2.0">
  <app appid="${id}">
    <updatecheck codebase="${crxAddress}" version="${version}"/>
  </app>
</gupdate>
`,
);
console.log(`${id} ${version} in ${values.out}: tabrelay.crx and update.xml, for ${values.url}`);
