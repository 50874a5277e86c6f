// A real Prometheus, as Debian packages it, that scrapes itself and one target that is not there.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { type Program, start } from '../stage/process.ts';
import { answers } from './answers.ts';

/** Who may see a guarded server. */
export const reader = { name: 'alice', password: 'correct horse battery' } as const;

// The password above, hashed with bcrypt at its lowest cost.
const hash = '$2b$04$wNfTooxRSJRg8GMeWijRHujocOwxPr78pzkA.lGeY4NZYYIzcBaw2';

const rules = `
groups:
  - name: tests
    rules:
      - record: job:up:sum
        expr: sum by (job) (up)
      - alert: TargetDown
        expr: up == 0
        for: 1h
        annotations: {summary: "{{ $labels.instance }} cannot be scraped"}
      - alert: Always
        expr: vector(42)
        labels: {severity: info}
`;

export interface Prometheus {
  url: string;
  /** The address of its first page with a person's name and password, as they can be typed into a browser. */
  signedInUrl: string;
  program: Program;
  /** Lets nobody in but this user, from the next request on. */
  admit(name: string): Promise<void>;
}

export interface PrometheusOptions {
  /** Whether it asks for name and password. */
  guarded?: boolean;
  flags?: readonly string[];
}

export async function openPrometheus(
  closing: Closing,
  { guarded = false, flags = [] }: PrometheusOptions = {},
): Promise<Prometheus> {
  const folder = await temporaryFolder('prometheus', closing);
  const host = `127.0.0.1:${await freePort()}`;
  const file = (name: string) => path.join(folder, name);
  await writeFile(file('rules.yml'), rules);
  await writeFile(file('prometheus.yml'), configuration(host));
  const admit = (name: string) => writeFile(file('web.yml'), `basic_auth_users: {${name}: "${hash}"}\n`);
  await (guarded ? admit(reader.name) : writeFile(file('web.yml'), ''));
  const program = start('prometheus', [
    `--config.file=${file('prometheus.yml')}`,
    `--web.config.file=${file('web.yml')}`,
    `--storage.tsdb.path=${file('data')}`,
    `--web.listen-address=${host}`,
    ...flags,
  ]);
  closing.defer(() => program.stop());
  const signIn = `${reader.name}:${encodeURIComponent(reader.password)}`;
  await answers(`http://${host}/-/ready`, authorization(guarded));
  return { url: `http://${host}/`, signedInUrl: `http://${signIn}@${host}/`, program, admit };
}

const configuration = (host: string) => `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
  - job_name: prometheus
    static_configs: [{targets: ["${host}"]}]
  - job_name: gone
    static_configs: [{targets: ["127.0.0.1:1"]}]
`;

function authorization(guarded: boolean): RequestInit {
  if (!guarded) return {};
  const basic = Buffer.from(`${reader.name}:${reader.password}`).toString('base64');
  return { headers: { authorization: `Basic ${basic}` } };
}
