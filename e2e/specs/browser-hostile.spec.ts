// Widgets that ignore events, commit late, replace, move or cover themselves: the answer never claims what did not
// happen, and nothing is done twice.
import { z } from 'zod';
import { openActSite } from '../sites/acts.ts';
import { Acting, effectOf } from '../stage/acting.ts';
import { expect, type Stage, test, visit } from '../stage/test.ts';

const widgetsShape = z.array(
  z.object({
    name: z.string(),
    kind: z.string(),
    type: z.enum(['button', 'field', 'editor', 'choice']),
    ms: z.number(),
  }),
);
const truthShape = z.record(
  z.string(),
  z.object({ acted: z.number(), inserted: z.number(), wrong: z.boolean().optional() }),
);
type Widget = z.infer<typeof widgetsShape>[number];

const read = (stage: Stage, name: string): Promise<unknown> =>
  stage.page.evaluate((one) => Reflect.get(window, one), name);

test('two hundred hostile widgets: no false success, nothing twice', async ({
  sharedStage: stage,
  closing,
}) => {
  test.setTimeout(600_000);
  const { url } = await openActSite(closing);
  await visit(stage, `${url}/hostile`);
  const agent = new Acting(stage.agent);
  const widgets = widgetsShape.parse(await read(stage, 'widgets'));
  expect(widgets.length).toBeGreaterThanOrEqual(200);
  const page = await agent.look({ full: true, maxTokens: 50_000, interactive: true });
  const refs = new Map(
    Array.from(page.matchAll(/"([BFEC]\d+)" \[(e\d+)\]/g), ([, name = '', ref = '']) => [name, ref]),
  );
  const wrong: string[] = [];
  for (const widget of widgets) {
    const ref = refs.get(widget.name) ?? '';
    const act = { button: pressed, choice: chosen, field: filled, editor: filled }[widget.type];
    const complaint = await act(stage, widget, ref);
    if (complaint !== undefined)
      wrong.push(`${widget.name} ${widget.type} ${widget.kind} ${widget.ms}: ${complaint}`);
  }
  const truth = truthShape.parse(await read(stage, 'truth'));
  for (const { name, kind } of widgets) {
    const { acted, inserted, wrong: hitAnother } = truth[name] ?? { acted: 0, inserted: 0 };
    if (acted > (kind === 'twice' ? 2 : 1) || inserted > 1)
      wrong.push(`${name} ${kind}: ${acted} ${inserted}`);
    if (hitAnother) wrong.push(`${name} ${kind}: another one was clicked`);
  }
  expect(wrong).toEqual([]);
});

const actedOf = async (stage: Stage, { name }: Widget): Promise<number> =>
  truthShape.parse(await read(stage, 'truth'))[name]?.acted ?? 0;

// What an answer says too much, if anything.
async function pressed(stage: Stage, widget: Widget, ref: string): Promise<string | undefined> {
  const answer = await stage.agent.call('browser__click', { ref });
  const acted = await actedOf(stage, widget);
  if (answer.failed) {
    const { outcome } = answer.facts;
    return outcome === 'not_executed' && acted > 0 ? `refused as not done, and acted ${acted}` : undefined;
  }
  const effect = effectOf(answer);
  const claimed = effect.changes?.includes('done') ?? false;
  if (claimed && acted === 0) return `claims ${JSON.stringify(effect)}`;
  return acted > 0 && effect.noEffect ? 'says that nothing happened' : undefined;
}

async function filled(stage: Stage, widget: Widget, ref: string): Promise<string | undefined> {
  const value = 'wanted';
  const answer = await stage.agent.call('browser__fill', { fields: [{ ref, value }] });
  const held = await stage.page.evaluate((name) => String(Reflect.get(window, 'valueOf')(name)), widget.name);
  if (answer.failed)
    return held.includes(value) && answer.facts.outcome === 'not_executed'
      ? `refused, holds ${held}`
      : undefined;
  const [field] = effectOf(answer).filled ?? [];
  if (field?.verified === true && held !== value) return `verified, holds ${held}`;
  if (held.split(value).length > 2) return `holds it twice: ${held}`;
  const tooLate = widget.ms > 500; // than an act watches what follows
  return field?.verified === false && held === value && !tooLate
    ? 'not verified, though it holds it'
    : undefined;
}

async function chosen(stage: Stage, { name }: Widget, ref: string): Promise<string | undefined> {
  const ask = (what: string) =>
    stage.page.evaluate(([one, of]) => Reflect.get(window, one)(of), [what, name] as const);
  const value = z.union([z.string(), z.boolean()]).parse(await ask('wantedOf'));
  const answer = await stage.agent.call('browser__fill', { fields: [{ ref, value }] });
  const held = z.boolean().parse(await ask('isAsWanted'));
  if (answer.failed)
    return held && answer.facts.outcome === 'not_executed' ? 'refused, and is as wanted' : undefined;
  const verified = effectOf(answer).filled?.[0]?.verified;
  return verified === held ? undefined : `verified ${verified}, is as wanted ${held}`;
}
