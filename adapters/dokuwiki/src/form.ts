// The fields of a form as a browser would send them, buttons and files left out.

const unsent = new Set(['submit', 'button', 'reset', 'image', 'file']);

export function fieldsOf(form: Element): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const field of form.querySelectorAll('input[name], textarea[name], select[name]')) {
    const name = field.getAttribute('name') ?? '';
    const value = sentBy(field);
    if (name !== '' && value !== undefined && !field.hasAttribute('disabled')) fields[name] = value;
  }
  return fields;
}

function sentBy(field: Element): string | undefined {
  if (field.localName === 'textarea') return field.textContent ?? '';
  if (field.localName === 'select') {
    const chosen = field.querySelector('option[selected]') ?? field.querySelector('option');
    return chosen?.getAttribute('value') ?? chosen?.textContent ?? undefined;
  }
  const type = (field.getAttribute('type') ?? 'text').toLowerCase();
  if (unsent.has(type)) return undefined;
  if (type !== 'checkbox' && type !== 'radio') return field.getAttribute('value') ?? '';
  return field.hasAttribute('checked') ? (field.getAttribute('value') ?? 'on') : undefined;
}
