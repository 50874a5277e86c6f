// Every route of the relay, with who may use it. relay/matrix_test.go keeps the list.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { repository } from './paths.ts';

const Keeper = z.enum(['anyone', 'client', 'person', 'panel', 'remote', 'extension']);

export interface Route {
  /** Who may use it. */
  keeper: z.infer<typeof Keeper>;
  method: string;
  /** With something in the place of each wildcard. */
  path: string;
}

export const routes: readonly Route[] = readFileSync(
  path.join(repository, 'relay/testdata/routes.txt'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => {
    const [keeper, ...pattern] = line.split(' ');
    const [target = '', method = 'POST'] = pattern.reverse();
    return { keeper: Keeper.parse(keeper), method, path: target.replace(/\{[a-z]+\}/g, 'x1') };
  });
