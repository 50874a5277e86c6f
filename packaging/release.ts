// Builds a release into packaging/dist. `release.ts` is for the workflow: it uploads the release of the tag that is
// checked out to the Git host. `release.ts --snapshot`, which snapshot.ts runs, uploads nothing, signs nothing, and
// needs no tag. With RELEASE_CACHE the programs are compiled with that build cache.

import path from 'node:path';
import { packForNpm } from './npm.ts';
import { packaging, repository, sourceVersion } from './product.ts';
import { validateServer, writeServer } from './registry.ts';
import { run } from './run.ts';
import { goreleaserProgram, installTools, programs } from './tools.ts';

const snapshot = process.argv.includes('--snapshot');
const version = sourceVersion();
const cache = process.env.RELEASE_CACHE;
installTools();
const notes = path.join(packaging, 'generated/notes.md'); // prepare.ts writes it
run(
  goreleaserProgram,
  [
    'release',
    '--clean',
    '--timeout',
    '3h',
    '--parallelism', // manifests list archives in the order in which they were made
    '1',
    '--release-notes',
    notes,
    ...(snapshot ? ['--snapshot', '--skip=sign'] : []),
  ],
  {
    cwd: repository,
    env: {
      ...process.env,
      RELEASE_TOOLS: programs,
      ...(cache && { GOCACHE: cache }),
      ...(snapshot && { GORELEASER_CURRENT_TAG: `v${version}` }),
    },
  },
);
packForNpm(version);
run('make', ['extension-store'], { cwd: repository });
writeServer(version);
validateServer();
