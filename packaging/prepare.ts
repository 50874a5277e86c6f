// Before the programs are compiled: everything is to say the version that is released, and packages for Linux bring
// completions of shells. `prepare.ts VERSION`.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packaging, releaseNotes, repository, sourceVersion, versionsElsewhere } from './product.ts';
import { printed } from './run.ts';

const [version = ''] = process.argv.slice(2);
const versions = { 'relay/relay.go': sourceVersion(), ...versionsElsewhere() };
const others = Object.entries(versions).filter(([, said]) => said !== version);
if (others.length > 0) {
  for (const [file, said] of others)
    console.error(`error: ${file} says ${said}, and this release is ${version}`);
  process.exit(1);
}

const generated = path.join(packaging, 'generated');
mkdirSync(path.join(generated, 'completions'), { recursive: true });
writeFileSync(path.join(generated, 'notes.md'), `${releaseNotes(version)}\n`);
const names = { bash: 'tabrelay.bash', zsh: '_tabrelay', fish: 'tabrelay.fish' };
for (const [shell, name] of Object.entries(names)) {
  const text = printed('go', ['run', './cmd/tabrelay', 'completion', shell], { cwd: repository });
  writeFileSync(path.join(generated, 'completions', name), text);
}
