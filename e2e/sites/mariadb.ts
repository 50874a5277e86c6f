// A MariaDB in a folder of its own, on a socket there and on no port: no service of the machine is used.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { type Program, run, start } from '../stage/process.ts';

/** Has one database, empty; its socket is `db.sock` in the folder. MariaDB does not run as root unless told to. */
export async function openDatabase(folder: string, name: string, closing: Closing): Promise<Program> {
  const data = path.join(folder, 'db');
  await mkdir(data);
  const small = ['--no-defaults', `--datadir=${data}`, '--innodb-log-file-size=4M'];
  if (process.getuid?.() === 0) small.push('--user=root');
  await run('mariadb-install-db', [...small, '--auth-root-authentication-method=normal', '--skip-test-db']);
  await writeFile(path.join(folder, 'init.sql'), `CREATE DATABASE ${name};\n`);
  const database = start('mariadbd', [
    ...small,
    ...[
      `--socket=${folder}/db.sock`,
      '--skip-networking',
      '--skip-grant-tables',
      `--pid-file=${folder}/db.pid`,
    ],
    ...[
      `--init-file=${folder}/init.sql`,
      '--innodb-buffer-pool-size=32M',
      '--innodb-flush-log-at-trx-commit=0',
    ],
  ]);
  closing.defer(() => database.stop());
  await expect
    .poll(() => database.output(), { message: 'the database listens' })
    .toContain('ready for connections');
  return database;
}
