import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { save, savedOutput } from '../edit.ts';
import { talkPage, titleInput } from '../pages.ts';

export const addTopic = defineTool({
  name: 'add_topic',
  displayName: 'Add topic to talk page',
  description:
    'Begins a topic at the end of the talk page of a page, signed with the name of the signed-in person. Nothing that others wrote is changed.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: {
    type: 'object',
    properties: {
      title: titleInput,
      heading: { type: 'string', minLength: 1, maxLength: 200, description: 'What it is about.' },
      text: {
        type: 'string',
        minLength: 1,
        description: 'Wikitext. A signature is added where it has none.',
      },
    },
    required: ['title', 'heading', 'text'],
    additionalProperties: false,
  },
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
