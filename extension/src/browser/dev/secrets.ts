// What of a page's data is nobody's business: credentials by the names of their fields, and by their form.

const hidden = '[redacted]';
const partsOfNames = [
  'passw|passphrase|pwd|secret|token|credential|session|jwt|csrf|xsrf|bearer|signature|authoriz|authent',
  '(?:api|access|private)[-_]?key|[-_]auth$|^auth[-_]',
  '^(?:auth|sid|sig|pin|otp|code|key|state|ssn|cvc|cvv)$',
];
const nameWords = new RegExp(partsOfNames.join('|'), 'i');
const forms = [
  /eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/,
  /\b(?:gh[oprsu]_|github_pat_|sk-|xox[abprs]-|glpat-|AKIA)[\w-]{10,}/,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/,
];
const valueForms = new RegExp(forms.map(({ source }) => source).join('|'), 'g');
const secretHeaders = /^(?:authorization|proxy-authorization|cookie|set-cookie)$/i;

/** Whether a field of this name holds a credential. */
export const isSecretName = (name: string): boolean => nameWords.test(name);

/** Whether a text reads like a credential. */
export const isSecretText = (text: string): boolean => {
  valueForms.lastIndex = 0;
  return valueForms.test(text);
};

/** What is said of a value that is not told. */
export const masked = (text: string): string => `•••• (${text.length} characters)`;

export function redactHeader(name: string, value: string): string {
  if (secretHeaders.test(name) || isSecretName(name)) return hidden;
  if (/^(?:location|referer|content-location)$/i.test(name)) return redactUrl(value);
  return redactForms(value);
}

/** A text without what reads like a credential. */
export const redactForms = (text: string): string => text.replace(valueForms, hidden);

function redactQuery(query: string): string {
  return query.replace(/([^?&#=;]+)=([^&#;]*)/g, (pair, name: string) => {
    let plainName = name;
    try {
      plainName = decodeURIComponent(name);
    } catch {
      // then it is looked at as it stands
    }
    return isSecretName(plainName) ? `${name}=${hidden}` : pair;
  });
}

/** An address without credentials in its user part, its query and its fragment. */
export function redactUrl(url: string): string {
  const bare = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, `$1${hidden}@`);
  const from = bare.search(/[?#]/);
  return redactForms(from < 0 ? bare : bare.slice(0, from) + redactQuery(bare.slice(from)));
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactForms(value);
  if (typeof value !== 'object' || value === null || depth > 40) return value;
  if (Array.isArray(value)) return value.map((one) => redactValue(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [
      name,
      isSecretName(name) && one !== null && typeof one !== 'object' && typeof one !== 'boolean'
        ? hidden
        : redactValue(one, depth + 1),
    ]),
  );
}

/** A text without credentials: JSON and forms by the names of their fields, anything else by its form. */
export function redactText(text: string): string {
  const start = text.trimStart().slice(0, 1);
  if (start === '{' || start === '[') {
    try {
      return JSON.stringify(redactValue(JSON.parse(text), 0));
    } catch {
      // cut, or no JSON after all
    }
  }
  if (/^[^\s=&]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)*$/.test(text)) return redactForms(redactQuery(text));
  return redactForms(
    text.replace(
      /(["'])([\w.-]{1,80})\1\s*:\s*(["'])(?:[^"'\\]|\\.)*(?:\3|$)/g,
      (pair, quote: string, name: string) =>
        isSecretName(name) ? `${quote}${name}${quote}: "${hidden}"` : pair,
    ),
  );
}
