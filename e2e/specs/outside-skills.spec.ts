// Agents that people use, with the skill and the MCP server that our own commands gave them: what each tells its model
// of both, and what comes back when the model uses them. The model is scripted; nothing leaves this machine. `make
// clients` installs the agents.

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { delegating, errandTest } from '../stage/errands.ts';
import { type Model, openModel, type Turn } from '../stage/model.ts';
import { claudeCode, codex, gemini, opencode, ripgrepFolder } from '../stage/outside.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { run, start } from '../stage/process.ts';
import { expect, type Stage } from '../stage/test.ts';

errandTest.skip(!existsSync(claudeCode), 'make clients installs the agents and runs this');

const test = errandTest.extend<object>({
  groundOptions: [async ({ model }, use) => use({ config: delegating(model) }), { scope: 'worker' }],
});

const prompt = 'Do it.';

interface Outside {
  /** As `tabrelay connect` knows it. */
  name: string;
  program: string;
  args: (home: string) => readonly string[];
  /** What it is told besides, and the model that it is to use. */
  env: (home: string, model: Model) => Record<string, string>;
  /** Files of settings in its home, written before it is connected. */
  settings: (work: string, model: Model) => Record<string, string>;
  /** What its model sees in front of the name of a tool of ours. */
  prefix: string;
  /** How its model loads a skill. */
  skill: (file: string) => { tool: string; input: Record<string, unknown> };
  /** A log that it writes besides its output. */
  log?: string;
}

const outside: readonly Outside[] = [
  {
    name: 'claude-code',
    program: claudeCode,
    args: (home) => [
      '-p',
      prompt,
      '--allowedTools',
      'mcp__tabrelay,Skill',
      '--debug-file',
      `${home}/debug.log`,
    ],
    env: (home, { url }) => ({
      CLAUDE_CONFIG_DIR: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false', // all tools are in the first request
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
    }),
    settings: () => ({}),
    prefix: 'mcp__tabrelay__',
    skill: () => ({ tool: 'Skill', input: { skill: 'tabrelay' } }),
    log: 'debug.log',
  },
  {
    name: 'opencode',
    program: opencode,
    args: () => ['run', prompt, '--print-logs', '--log-level', 'WARN'],
    env: (home) => ({ XDG_CONFIG_HOME: path.join(home, '.config') }),
    settings: (_, { url }) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        ...{ model: 'local/stand-in', small_model: 'local/stand-in', autoupdate: false },
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { 'stand-in': { tool_call: true } },
          },
        },
      }),
    }),
    prefix: 'tabrelay_',
    skill: () => ({ tool: 'skill', input: { name: 'tabrelay' } }),
  },
  {
    name: 'gemini',
    program: gemini,
    args: () => ['--yolo', '--model', 'gemini-2.5-pro', '-p', prompt],
    env: (_, { url }) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
    settings: (work) => ({
      '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
      '.gemini/trustedFolders.json': JSON.stringify({ [work]: 'TRUST_FOLDER' }),
    }),
    prefix: 'mcp_tabrelay_',
    skill: () => ({ tool: 'activate_skill', input: { name: 'tabrelay' } }),
  },
  {
    name: 'codex',
    program: codex,
    // It has no tool for skills: it is told the file, and reads that. Its sandbox is not what this is about.
    args: () => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: (home) => ({ CODEX_HOME: path.join(home, '.codex'), RUST_LOG: 'warn' }),
    settings: (_, { url }) => ({
      '.codex/config.toml': [
        'model = "stand-in"',
        'model_provider = "local"',
        '[model_providers.local]',
        'name = "local"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    prefix: 'mcp__tabrelay/',
    skill: (file) => ({ tool: 'exec_command', input: { cmd: `cat '${file}'` } }),
  },
];

const Schema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

/** What a request declares as a tool, whatever its wire calls the schema of its arguments. */
const Declared = z.looseObject({
  name: z.string(),
  description: z.string(),
  input_schema: Schema.optional(),
  parameters: Schema.optional(),
  parametersJsonSchema: Schema.optional(),
});

/** All tools that a request declares, by name, wherever they are in it. */
function declared(value: unknown, found = new Map<string, z.infer<typeof Declared>>()) {
  if (typeof value !== 'object' || value === null) return found;
  const { success, data } = Declared.safeParse(value);
  if (success && (data.input_schema ?? data.parameters ?? data.parametersJsonSchema) !== undefined)
    found.set(data.name, data);
  for (const inside of Object.values(value)) declared(inside, found);
  return found;
}

/** Connects a client with our own commands, has it carry out what its model does in turn, and returns all it wrote. */
async function errand(
  client: Outside,
  { relay, closing }: Stage,
  turns: (skillFile: string) => readonly Turn[],
) {
  const home = await temporaryFolder(client.name, closing);
  const work = await temporaryFolder('work', closing);
  let file = '';
  const model = await openModel(
    closing,
    ({ results }) => turns(file)[results.length] ?? { say: 'It is done.' },
  );
  for (const [name, content] of Object.entries(client.settings(work, model))) {
    await mkdir(path.dirname(path.join(home, name)), { recursive: true });
    await writeFile(path.join(home, name), content);
  }
  const env = {
    ...{ ...relay.env, HOME: home, ...client.env(home, model) },
    PATH: [ripgrepFolder(), process.env.PATH].join(path.delimiter), // opencode downloads it where it is missing
  };
  await run(binary, ['connect', client.name], env);
  closing.defer(() => run(binary, ['disconnect', client.name], env));
  const installing = start(binary, ['skill', '--install', client.name], env);
  expect(await installing.ended, installing.output()).toBe(0);
  file = /finds the skill in (.*)\. Start a new session of it\./.exec(installing.output())?.[1] ?? '';

  const program = start(client.program, client.args(home), env, undefined, work);
  closing.defer(() => program.stop());
  expect(await program.ended, program.output()).toBe(0);
  expect(program.printed()).toContain('It is done.');
  const log = client.log === undefined ? '' : readFileSync(path.join(home, client.log), 'utf8');
  return {
    skill: readFileSync(file, 'utf8'),
    results: model.results,
    requests: model.requests.filter(({ shown }) => shown.tools.length > 0),
    written: `${program.output()}\n${log}`,
  };
}

const Pending = z.object({ approvals: z.array(z.looseObject({ id: z.string() })) });

const unindented = (text: string): string => text.replaceAll(/^[ \t]+|[ \t]+$/gm, '').trim();

for (const client of outside) {
  const ours = (tool: string, input: Record<string, unknown>) => ({ tool: client.prefix + tool, input });

  test(`${client.name} finds the skill and every tool, and uses both`, async ({ sharedStage }) => {
    const counter = `of ${client.name}`;
    const { skill, requests, results, written } = await errand(client, sharedStage, (file) => [
      client.skill(file),
      ours('demo__counter_increment', { name: counter, by: 7 }),
      ours('relay__run', { script: 'return ["a", "list"]' }),
      ours('relay__run', { script: 'return "42"' }),
    ]);

    // In its first request: what the skill is for, and the tools as they are listed.
    const [first] = requests;
    const told = [first?.shown.system, ...(first?.shown.prompts ?? [])].join('\n');
    expect(told).toContain(/^description: (.*)$/m.exec(skill)?.[1]);
    const shown = first?.shown.tools.filter((name) => name.startsWith(client.prefix)) ?? [];
    const { tools: listed } = await sharedStage.agent.client.listTools();
    expect(shown.map((name) => name.slice(client.prefix.length)).sort()).toEqual(
      listed.map(({ name }) => name).sort(),
    );
    const tools = declared(JSON.parse(first?.body ?? '{}'));
    for (const { name, description, inputSchema } of listed) {
      const one = tools.get(name) ?? tools.get(client.prefix + name);
      // Claude Code normalizes characters such as ….
      expect(one?.description.normalize('NFKC'), name).toBe(description?.normalize('NFKC'));
      const schema = one?.input_schema ?? one?.parameters ?? one?.parametersJsonSchema;
      expect(Object.keys(schema?.properties ?? {}), name).toEqual(
        expect.arrayContaining(Object.keys(inputSchema.properties ?? {})),
      );
      expect(schema?.required, name).toEqual(inputSchema.required ?? []);
    }

    // What it brought back: the whole text of the skill, and the results.
    const brought = unindented([...(requests.at(-1)?.shown.prompts ?? []), ...results].join('\n'));
    expect(brought).toContain(unindented(skill.replace(/^---\n.*?\n---\n/s, '')));
    expect(await sharedStage.demo.counter(counter)).toMatchObject({ asked: 1, value: 7 });
    expect(results[1]).toMatch(/"value": ?7/);
    expect(results[2]).toMatch(/\["a", ?"list"\]/);
    expect(results[3]).toContain('42');

    // It complains about none of it.
    const complaints = written
      .split('\n')
      .filter(
        (line) => /tabrelay|skill|mcp/i.test(line) && /warn|error|invalid|fail|unsupported/i.test(line),
      );
    expect(complaints).toEqual([]);
  });

  test(`${client.name} tells its model in our words why a call failed`, async ({ sharedStage }) => {
    const { relay } = sharedStage;
    await relay.tabrelay('permit', 'set', 'bridge_health', 'ask', '--client', client.name);
    let over = false;
    const ended = errand(client, sharedStage, () => [
      ours('demo__counter_increment', { name: 'no tab', by: 7, tabId: 4_000_000 }),
      // Failures of these are JSON; Gemini CLI checks that as if it were a result.
      ours('sessions_status', { sessionId: 'nobody-has-it' }),
      ours('bridge_health', {}),
    ]).finally(() => {
      over = true;
    });
    const deny = async () => {
      const { approvals } = Pending.parse(JSON.parse(await relay.tabrelay('permit', 'pending', '--json')));
      for (const { id } of approvals) await relay.tabrelay('permit', 'deny', id);
      return over;
    };
    await expect.poll(deny, { timeout: 120_000 }).toBe(true);
    const { results } = await ended;
    expect(results[0]).toMatch(/code=TAB_NOT_FOUND .*outcome=not_executed/);
    expect(results[1]).toContain('SESSION_NOT_FOUND');
    expect(results[2]).toContain('The person did not allow bridge_health');
  });
}
