// Builds what is committed as a release would, and leaves it in packaging/dist. `snapshot.ts --twice` builds it again,
// in a folder with another name, with an empty build cache, another time zone and another umask, and compares every
// file.

import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dist, repository } from './product.ts';
import { printed, run } from './run.ts';
import { programs } from './tools.ts';

/** What GoReleaser notes about its run, with the time of the day. It is not released. */
const notes = new Set(['artifacts.json', 'config.yaml', 'metadata.json']);

const folder = mkdtempSync(path.join(tmpdir(), 'tabrelay-release-'));
try {
  const first = build('first', {}, '022');
  if (process.argv.includes('--twice')) {
    const cache = path.join(folder, 'cache');
    compare(first, build('second, elsewhere', { RELEASE_CACHE: cache, TZ: 'Asia/Tokyo' }, '077'));
  }
  rmSync(dist, { recursive: true, force: true });
  cpSync(first, dist, { recursive: true });
} finally {
  rmSync(folder, { recursive: true });
}

/** Builds what is committed, in a folder of its own, and returns the folder with the files. */
function build(name: string, env: NodeJS.ProcessEnv, umask: string): string {
  const clone = path.join(folder, name);
  run('git', ['clone', '--quiet', repository, clone]);
  run('git', ['checkout', '--quiet', printed('git', ['rev-parse', 'HEAD'], { cwd: repository }).trim()], {
    cwd: clone,
  });
  for (const modules of ['node_modules', 'packaging/node_modules'])
    symlinkSync(path.join(repository, modules), path.join(clone, modules));
  appendFileSync(path.join(clone, '.git/info/exclude'), 'node_modules\n'); // the links; .gitignore names folders
  const script = `umask ${umask}; exec node --import tsx packaging/release.ts --snapshot`;
  run('sh', ['-c', script], { cwd: clone, env: { ...process.env, RELEASE_TOOLS: programs, ...env } });
  return path.join(clone, 'packaging/dist');
}

function compare(first: string, second: string): void {
  const names = new Set([...filesIn(first), ...filesIn(second)]);
  const different = [...names].filter((name) => contentOf(first, name) !== contentOf(second, name));
  if (different.length > 0) throw new Error(`the second build has other files:\n  ${different.join('\n  ')}`);
  console.log(`${names.size} files, all the same in both builds`);
}

function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((name) => !notes.has(name));
}

function contentOf(root: string, name: string): string | undefined {
  const file = path.join(root, name);
  if (!existsSync(file)) return undefined;
  const content = readFileSync(file, 'latin1');
  // winget wants the day of the release, which may be another one by now.
  return name.endsWith('.installer.yaml') ? content.replace(/^ReleaseDate: .*$/m, '') : content;
}
