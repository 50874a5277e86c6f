import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { save, savedOutput } from '../edit.ts';
import { talkPage, titleInput } from '../pages.ts';

export const addTopic = defineTool({
  name: 'add_topic',
  displayName: 'Add topic to talk page',
  description: 'Adds a signed topic at the end of the talk page of a page.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    title: titleInput,
    heading: s.string('What it is about.', { minLength: 1, maxLength: 200 }),
    text: s.string('Wikitext. A signature is added where it has none.', { minLength: 1 }),
  }),
  output: savedOutput,
  async handle({ title, heading, text }, { signal }) {
    const talk = await talkPage(title, signal);
    // A line break would end the heading, and what follows would be text, or a heading of another level.
    const sectiontitle = heading.replaceAll(/\s+/g, ' ').trim();
    if (sectiontitle === '') throw ToolError.validation('The heading has no words.');
    const signed = text.includes('~~~') ? text : `${text} ~~~~`;
    return save({ title: talk.title, section: 'new', sectiontitle, text: signed }, signal);
  },
});
