// Writes the types and border validators of this folder from the schemas in relay/browser/wire/schema. Runs when built
// only (`npm run generate`); a test keeps the committed files fresh.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { compile, type JSONSchema } from 'json-schema-to-typescript';

const schemaFolder = fileURLToPath(new URL('../../../relay/browser/wire/schema/', import.meta.url));
const outputFolder = fileURLToPath(new URL('./', import.meta.url));

const banner =
  '// Generated from relay/browser/wire/schema by `npm run generate`. Do not edit.\n// biome-ignore-all lint: generated\n';

/** Frames by who may send them. The extension trusts neither to be anything else. */
const relaySends =
  'relay proof paired welcome refuse plugins call ack cancel ask command response news ping pong'.split(' ');
const extensionSends = [
  ...'hello proof tabs tab tabclosed started progress log outcome state reply console followed pagetools'.split(
    ' ',
  ),
  ...'profile panels request ping pong notice'.split(' '),
];

interface Source {
  name: string; // file name without .json: the frame's type, or what it is part of
  title: string;
  schema: Record<string, unknown>;
}

function isSchema(value: unknown): value is Record<string, unknown> & { title: string } {
  return typeof value === 'object' && value !== null && 'title' in value && typeof value.title === 'string';
}

async function readSources(): Promise<Source[]> {
  const files = (await readdir(schemaFolder)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => {
      const schema: unknown = JSON.parse(await readFile(schemaFolder + file, 'utf8'));
      if (!isSchema(schema)) throw new Error(`${file} has no title`);
      return { name: file.slice(0, -'.json'.length), title: schema.title, schema };
    }),
  );
}

function titles(sources: Source[], names: string[]): string[] {
  return names.map((name) => {
    const source = sources.find((candidate) => candidate.name === name);
    if (source === undefined) throw new Error(`there is no schema for the frame ${name}`);
    return source.title;
  });
}

async function types(sources: Source[]): Promise<string> {
  // One root that refers to every schema, so that each shared part is declared once.
  const root: JSONSchema = {
    title: 'Everything',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(sources.map(({ name }) => [name, { $ref: `${name}.json` }])),
  };
  const code = await compile(root, 'Everything', {
    cwd: schemaFolder,
    additionalProperties: false,
    bannerComment: '',
    style: { singleQuote: true, printWidth: 110 },
  });
  const declarations = code.replace(/export interface Everything \{[\s\S]*?\n\}\n/, '').trim();
  return `${banner}${declarations}

/** Every frame the relay may send. */
export type FromRelay = ${titles(sources, relaySends).join(' | ')};

/** Every frame the extension may send. */
export type FromExtension = ${titles(sources, extensionSends).join(' | ')};
`;
}

// Only what the schemas use is compiled: they keep to keywords that mean the same in every draft since 7, and the
// compiler for those writes half as much code as the one for 2020-12.
function validators(
  sources: Source[],
  table: string,
  names: string[],
): { code: string; declarations: string } {
  const ajv = new Ajv({ code: { source: true, esm: true, optimize: 2 }, messages: false, strict: true });
  for (const { name, schema } of sources) {
    const { $schema: _draft, ...plain } = schema;
    ajv.addSchema(plain, `${name}.json`);
  }
  const guards = titles(sources, names).map((title) => `is${title}`);
  const exported = Object.fromEntries(guards.map((guard, i) => [guard, `${names[i]}.json`]));
  const body = standaloneCode(ajv, exported).replace('"use strict";', '');
  const typed = names.map((name, i) => ({ name, guard: guards[i], title: titles(sources, [name])[0] }));
  return {
    code: `${banner}${body}
export const ${table} = {\n${typed.map(({ name, guard }) => `  ${name}: ${guard},`).join('\n')}\n};
`,
    declarations: `${banner}import type * as types from './frames.generated.ts';

${typed.map(({ guard, title }) => `export declare function ${guard}(value: unknown): value is types.${title};`).join('\n')}

/** The validator of each of these frames, by its type. */
export declare const ${table}: {
${typed.map(({ name, title }) => `  readonly ${name}: (value: unknown) => value is types.${title};`).join('\n')}
};
`,
  };
}

/** The generated files, by name. */
export async function generate(): Promise<Record<string, string>> {
  const sources = await readSources();
  const relay = validators(sources, 'fromRelay', relaySends);
  const extension = validators(sources, 'fromExtension', extensionSends);
  return {
    'frames.generated.ts': await types(sources),
    'from-relay.generated.js': relay.code,
    'from-relay.generated.d.ts': relay.declarations,
    'from-extension.generated.js': extension.code, // for tests, and for a relay written in JavaScript
    'from-extension.generated.d.ts': extension.declarations,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(await generate())) await writeFile(outputFolder + name, text);
}
