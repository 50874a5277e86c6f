import { listPart } from '@tabrelay/plugin-sdk/paging';
import { redact } from '../dev/redact.ts';
import { buttons, type Field, fieldSelector, maxFields, readField } from './fields.ts';
import { attribute, closest } from './members.ts';
import { address, cut, here } from './page.ts';
import type { Reading, Room } from './request.ts';
import { findShown } from './shown.ts';

export function listForms({ offset, limit, valueChars }: Reading, room: Room) {
  const forms = new Map<Element | null, Field[]>();
  for (const field of findShown(fieldSelector)) {
    const form = closest(field, 'form');
    const known = forms.get(form) ?? [];
    forms.set(form, known);
    if (known.length < maxFields) known.push(readField(field, room, valueChars));
  }
  const some = [...forms].slice(offset, offset + limit).map(([form, fields]) => ({
    label:
      form === null
        ? ''
        : cut(attribute(form, 'aria-label') || attribute(form, 'name') || attribute(form, 'id'), 200),
    action: form === null ? '' : redact(address(attribute(form, 'action') || location.href)),
    buttons: form === null ? [] : buttons(form).slice(0, 30),
    fields,
  }));
  const known = { offset, total: forms.size, maxBytes: room.maxBytes };
  return listPart(some, known, (described, paging) => ({
    ...here(),
    forms: described,
    ...paging,
  }));
}
