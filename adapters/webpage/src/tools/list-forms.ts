import { defineTool } from '@tabrelay/plugin-sdk';
import { listPart, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import {
  buttons,
  type Field,
  fieldSelector,
  fieldsOutput,
  maxFields,
  readField,
} from '../fields.ts';
import { limitInput } from '../limits.ts';
import { attribute, closest } from '../members.ts';
import { address, cut, here, hereOutput } from '../page.ts';
import { findShown } from '../shown.ts';

const text = s.string();
const texts = s.array(text, { maxItems: 30 });

export const listForms = defineTool({
  name: 'list_forms',
  displayName: 'List forms',
  description:
    'The forms of an open page with their fields: label, type, what is filled in, what can ' +
    'be chosen. Passwords and other secrets are left out.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    offset: pagingInput.offset,
    limit: limitInput(10),
  }),
  output: s.object({
    ...hereOutput,
    forms: s.array(
      s.object({
        label: text,
        action: s.string('Empty: no form around.'),
        buttons: texts,
        fields: fieldsOutput,
      }),
    ),
    ...pagingOutput,
  }),
  handle({ offset, limit }, { maxBytes }) {
    const forms = new Map<Element | null, Field[]>();
    for (const field of findShown(fieldSelector)) {
      const form = closest(field, 'form');
      const known = forms.get(form) ?? [];
      forms.set(form, known);
      if (known.length < maxFields) known.push(readField(field));
    }
    const some = [...forms].slice(offset, offset + limit).map(([form, fields]) => ({
      label:
        form === null
          ? ''
          : cut(
              attribute(form, 'aria-label') || attribute(form, 'name') || attribute(form, 'id'),
              200,
            ),
      action: form === null ? '' : address(attribute(form, 'action') || location.href),
      buttons: form === null ? [] : buttons(form).slice(0, 30),
      fields,
    }));
    const known = { offset, total: forms.size, maxBytes };
    return listPart(some, known, (described, paging) => ({
      ...here(),
      forms: described,
      ...paging,
    }));
  },
});
