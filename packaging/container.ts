// Builds the container's image from this machine's program, and with `--check` runs it as docs/container.md says: the
// first call, a kill, and a start with what it kept. PODMAN names the program (podman), BASE another image with Debian,
// ARGS what this machine's containers need besides.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { packaging, product, repository } from './product.ts';
import { printed, run } from './run.ts';

const podman = process.env.PODMAN ?? 'podman';
const more = (process.env.ARGS ?? '').split(' ').filter((word) => word !== '');
const image = `localhost/${product.name}`;
const name = `${product.name}-check`;
const volume = `${name}-state`;
const home = { cwd: repository };

const folder = mkdtempSync(path.join(tmpdir(), 'tabrelay-container-'));
try {
  build();
  if (process.argv.includes('--check')) await check();
} finally {
  rmSync(folder, { recursive: true });
}

function build(): void {
  const context = path.join(folder, 'context');
  cpSync(path.join(packaging, 'container'), context, { recursive: true });
  run(
    'go',
    ['build', '-trimpath', '-ldflags', '-s -w', '-o', path.join(context, 'tabrelay'), './cmd/tabrelay'],
    {
      ...home,
      env: { ...process.env, CGO_ENABLED: '0' },
    },
  );
  const base = process.env.BASE === undefined ? [] : ['--build-arg', `BASE=${process.env.BASE}`];
  run(podman, ['build', '--format', 'docker', '--network', 'host', ...base, '-t', image, context]);
}

async function check(): Promise<void> {
  const profile = path.join(folder, 'seccomp.json');
  const allow = path.join(packaging, 'container/allow-chroot.jq');
  writeFileSync(profile, printed('jq', ['-f', allow, '/usr/share/containers/seccomp.json']));
  const start = () =>
    run(podman, [
      ...['run', '-d', '--name', name, '--read-only', '--tmpfs', '/tmp', '--shm-size', '512m'],
      ...['-v', `${volume}:/state`, '--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
      ...['--security-opt', `seccomp=${profile}`, ...more, image],
    ]);
  const tabrelay = (...args: string[]) => printed(podman, ['exec', name, 'tabrelay', ...args]);
  const profiles = () => JSON.parse(tabrelay('profiles', 'list', '--json'));
  const remove = () => run(podman, ['rm', '-f', name]);
  remove();
  run(podman, ['volume', 'rm', '-f', volume]);
  start();
  try {
    await ready();
    const answer = tabrelay('call', 'demo__hello');
    const before = JSON.stringify(profiles());
    run(podman, ['kill', '-s', 'KILL', name]);
    remove();
    start();
    await ready();
    if (tabrelay('call', 'demo__hello') !== answer) throw new Error('the second start answers otherwise');
    if (namesIn(profiles()) !== namesIn(JSON.parse(before)))
      throw new Error(
        `the browser of the first start was ${before}, now it is ${JSON.stringify(profiles())}`,
      );
    refusesToWrite();
    console.log('the container answers, and answers after it was killed, with the same browser');
  } catch (problem) {
    run(podman, ['logs', name]);
    throw problem;
  } finally {
    remove();
    run(podman, ['volume', 'rm', '-f', volume]);
  }

  // Until the relay and its browser are there.
  async function ready(): Promise<void> {
    const until = Date.now() + 120_000;
    for (;;) {
      try {
        return run(podman, ['exec', name, 'tabrelay', 'call', 'demo__hello']);
      } catch (problem) {
        if (Date.now() > until) throw problem;
        await setTimeout(1000);
      }
    }
  }

  function refusesToWrite(): void {
    const tried = printed(podman, ['exec', name, 'sh', '-c', 'id -u; touch /usr/bin/x 2>&1 || true']);
    if (!/^10001\n.*Read-only file system/.test(tried)) throw new Error(`it is not closed: ${tried}`);
  }
}

function namesIn(value: { profiles: { id: string }[] }): string {
  return value.profiles.map(({ id }) => id).join();
}
