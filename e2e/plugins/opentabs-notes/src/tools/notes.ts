import {
  buildQueryString,
  defineTool,
  deleteJSON,
  fetchFromPage,
  fetchJSON,
  fetchText,
  patchJSON,
  postForm,
  postFormData,
  postJSON,
  putJSON,
  stripUndefined,
  ToolError,
} from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

const note = z.object({ id: z.string(), text: z.string() });
const echo = z.object({ method: z.string(), type: z.string().nullable(), body: z.string() });

const listNotes = defineTool({
  name: 'list_notes',
  description: 'The notes of the signed-in person',
  input: z.object({ query: z.string().optional().describe('Only notes with this word') }),
  output: z.object({ notes: z.array(note) }),
  async handle({ query }) {
    const search = buildQueryString(stripUndefined({ query }));
    return { notes: await fetchJSON(`/api/notes?${search}`, {}, z.array(note)) };
  },
});

const exportNotes = defineTool({
  name: 'export_notes',
  description: 'All notes as one text',
  input: z.object({}),
  output: z.object({ text: z.string() }),
  handle: async () => ({ text: await fetchText('/api/export') }),
});

const sending = (name: string, description: string, send: (text: string) => Promise<unknown>) =>
  defineTool({
    name,
    description,
    input: z.object({ text: z.string().default('plain') }),
    output: echo,
    handle: async ({ text }) => echo.parse(await send(text)),
  });

const failing = defineTool({
  name: 'get_note',
  description: 'One note',
  input: z.object({ id: z.string() }),
  output: note,
  async handle({ id }) {
    const response = await fetchFromPage(`/api/notes/${encodeURIComponent(id)}`);
    return note.parse(await response.json());
  },
});

const refused = defineTool({
  name: 'lock_note',
  description: 'Always refused',
  input: z.object({}),
  output: z.object({}),
  async handle() {
    throw new ToolError('The note is locked', 'NOTE_LOCKED', { category: 'validation' });
  },
});

function form(text: string): FormData {
  const data = new FormData();
  data.set('text', text);
  return data;
}

export const noteTools = [
  listNotes,
  exportNotes,
  sending('create_note', 'Writes a note', (text) => postJSON('/api/echo', { text })),
  sending('replace_note', 'Replaces a note', (text) => putJSON('/api/echo', { text })),
  sending('change_note', 'Changes a note', (text) => patchJSON('/api/echo', { text })),
  sending('delete_note', 'Deletes a note', () => deleteJSON('/api/echo')),
  sending('post_note', 'Sends a note as a form', (text) => postForm('/api/echo', { text })),
  sending('upload_note', 'Sends a note as a file', (text) => postFormData('/api/echo', form(text))),
  failing,
  refused,
];
