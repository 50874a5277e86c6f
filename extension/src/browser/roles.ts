// The role of an element: what its author says, or what HTML-AAM makes of it (https://www.w3.org/TR/html-aam-1.0/).
import { attribute, byId, closest, has, tabIndex, tag } from './dom.ts';
import { remembered } from './moment.ts';

const roles = new Set(
  (
    'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox ' +
    'complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid ' +
    'gridcell group heading img image insertion link list listbox listitem log main mark marquee math menu menubar ' +
    'menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar ' +
    'radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status ' +
    'strong subscript superscript suggestion switch tab table tablist tabpanel term textbox time timer toolbar ' +
    'tooltip tree treegrid treeitem'
  ).split(' '),
);

const simple: Record<string, string> = {
  article: 'article',
  aside: 'complementary',
  button: 'button',
  datalist: 'listbox',
  dd: 'definition',
  details: 'group',
  dialog: 'dialog',
  dt: 'term',
  fieldset: 'group',
  figure: 'figure',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  hgroup: 'group',
  hr: 'separator',
  li: 'listitem',
  main: 'main',
  math: 'math',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  search: 'search',
  summary: 'summary',
  table: 'table',
  tbody: 'rowgroup',
  textarea: 'textbox',
  tfoot: 'rowgroup',
  thead: 'rowgroup',
  tr: 'row',
  ul: 'list',
};

const inputs: Record<string, string> = {
  button: 'button',
  checkbox: 'checkbox',
  color: 'colour',
  date: 'date',
  'datetime-local': 'datetime',
  file: 'file',
  image: 'button',
  month: 'month',
  number: 'spinbutton',
  password: 'password',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
  time: 'time',
  week: 'week',
};

const sectioning = 'article, aside, main, nav, section, [role="article"], [role="main"], [role="region"]';
const global = [
  'aria-label',
  'aria-labelledby',
  'aria-labeledby',
  'aria-live',
  'aria-describedby',
  'aria-busy',
  'aria-owns',
];

/** Its role; '' for one that only holds others. Where ARIA has no role, the word a person would use. */
export function roleOf(element: Element): string {
  const about = remembered(element);
  if (about === undefined) return readRole(element);
  about.role ??= readRole(element);
  return about.role;
}

/** The ids of what names it, also as many authors spell the attribute and browsers read it. */
export const namesOf = (element: Element): string | null =>
  attribute(element, 'aria-labelledby') ?? attribute(element, 'aria-labeledby');

/** Whether its author says that it is only for looks, and nothing else says that it is more. */
export const isForLooks = (element: Element): boolean =>
  roleOf(element) === '' && (tag(element) === 'img' || saysSo.test(attribute(element, 'role') ?? ''));

const saysSo = /^\s*(?:none|presentation)\b/i;

const fields = new Set(['input', 'select', 'textarea']);

function readRole(element: Element): string {
  const said = attribute(element, 'role');
  if (said !== null) {
    for (const word of said.toLowerCase().split(/\s+/)) {
      if (!roles.has(word)) continue;
      // https://www.w3.org/TR/html-aria/ has no field that is none: one stays what people can do with it.
      if (fields.has(tag(element)) && !operable.has(word) && inputRole(element) !== '') break;
      if (word !== 'none' && word !== 'presentation') return word === 'image' ? 'img' : word;
      if (tabIndex(element) < 0 && !global.some((name) => has(element, name))) return '';
      break; // what can be focused is not only for looks
    }
  }
  return nativeRole(element);
}

/** The role that its tag gives it. */
function nativeRole(element: Element): string {
  const name = tag(element);
  const known = simple[name];
  if (known !== undefined && Object.hasOwn(simple, name)) return known;
  switch (name) {
    case 'a':
    case 'area':
      return has(element, 'href') || has(element, 'xlink:href') ? 'link' : '';
    case 'input':
      return inputRole(element);
    case 'select':
      return has(element, 'multiple') || Number(attribute(element, 'size')) > 1 ? 'listbox' : 'combobox';
    case 'img':
      return attribute(element, 'alt') === '' && !isNamed(element) ? '' : 'img';
    case 'svg':
      return 'img';
    case 'canvas':
      return 'canvas';
    case 'video':
    case 'audio':
      return name;
    case 'iframe':
    case 'frame':
      return 'iframe';
    case 'object':
    case 'embed':
      return 'embedded';
    case 'th':
      return attribute(element, 'scope') === 'row' ? 'rowheader' : 'columnheader';
    case 'td':
      return closest(element, '[role="grid"], [role="treegrid"]') === null ? 'cell' : 'gridcell';
    case 'header':
      return closest(element, sectioning) === null ? 'banner' : '';
    case 'footer':
      return closest(element, sectioning) === null ? 'contentinfo' : '';
    case 'section':
      return isNamed(element) ? 'region' : '';
    case 'form':
      return 'form';
    default:
      return '';
  }
}

const isNamed = (element: Element): boolean => has(element, 'aria-label') || namesOf(element) !== null;

function inputRole(element: Element): string {
  const type = (attribute(element, 'type') ?? 'text').toLowerCase();
  if (type === 'hidden') return '';
  const list = attribute(element, 'list');
  if (list !== null && byId(element, list) instanceof HTMLDataListElement && !Object.hasOwn(inputs, type))
    return 'combobox';
  return Object.hasOwn(inputs, type) ? (inputs[type] ?? 'textbox') : 'textbox';
}

/** Roles of what a person operates. */
export const operable = new Set(
  (
    'button checkbox colour combobox date datetime file gridcell link listbox menuitem menuitemcheckbox ' +
    'menuitemradio month option password radio scrollbar searchbox slider spinbutton switch tab textbox time ' +
    'treeitem week summary video audio'
  ).split(' '),
);

/** Roles whose name is what stands in them: https://www.w3.org/TR/wai-aria-1.2/#namefromcontent */
export const namedByContent = new Set(
  (
    'button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio ' +
    'row rowheader switch tab tooltip treeitem summary caption'
  ).split(' '),
);

/** What is words and no control: where it can be acted on all the same, its words are its name. */
export const wording = new Set([
  ...['', 'paragraph', 'listitem', 'term', 'definition', 'blockquote', 'code', 'note', 'time', 'mark'],
  ...['emphasis', 'strong', 'deletion', 'insertion', 'subscript', 'superscript'],
]);

/** Fields into which text goes. */
export const textFields = new Set('combobox password searchbox spinbutton textbox'.split(' '));

/** Whether a table has data in rows and columns, and does not only arrange the page. */
export function isDataTable(table: Element): boolean {
  if (attribute(table, 'role') !== null) return true;
  const first = table.querySelector('caption, thead, th, [scope], [headers]');
  if (first !== null && closest(first, 'table') === table) return true;
  if (table.querySelector('table') !== null) return false;
  const { rows } = table instanceof HTMLTableElement ? table : { rows: [] };
  return rows.length > 1 && (rows[0]?.cells.length ?? 0) > 1;
}
