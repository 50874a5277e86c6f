// What a look at a page costs in tokens of o200k, beside other servers. Not a test: nothing fails on a figure.
//
//   node --import tsx e2e/bench/looks.ts                       all
//   node --import tsx e2e/bench/looks.ts --only Roundcube      pages whose name has this word
//   node --import tsx e2e/bench/looks.ts --servers tabrelay    one server, or several with commas

import { parseArgs } from 'node:util';
import { servers } from './errands/ground.ts';
import { lookedAt, measure } from './errands/looks.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, servers: { type: 'string' } } });

const wanted = values.servers?.split(',') ?? servers;
const measured = servers.filter((server) => wanted.includes(server));
console.log(`| page (first / whole / unchanged / one text changed) | ${measured.join(' | ')} |`);
console.log(`| --- |${measured.map(() => ' --- |').join('')}`);
for (const looked of lookedAt) {
  if (values.only !== undefined && !looked.name.includes(values.only)) continue;
  const cells: string[] = [];
  for (const server of measured) cells.push((await measure(looked, server)).join(' / '));
  console.log(`| ${looked.name} | ${cells.join(' | ')} |`);
}
