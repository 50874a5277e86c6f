// What the writer of lines does with elements of which kinds.

import { tag } from './dom.ts';
import { namedByContent, wording } from './roles.ts';

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Tags of which nothing is told. */
export const skipped = set(
  'script style template noscript head title meta link base source track param datalist option optgroup col colgroup ' +
    'area',
);

/** Tags that may stand within a sentence. */
export const inlineTags = set(
  'a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math q ruby s samp slot ' +
    'small span strike strong sub sup svg time tt u var wbr',
);

/** Roles of what holds other things. */
export const containers = set(
  'alert alertdialog article banner complementary contentinfo dialog feed figure form grid group listbox log main ' +
    'marquee menu menubar navigation radiogroup region search status tablist table tabpanel timer toolbar tooltip ' +
    'tree treegrid',
);

const others = set('application directory document figure generic list math separator');

/** Whether all that is in it is told, where it can be acted on itself. */
export const holdsAll = (role: string): boolean => containers.has(role) || others.has(role);

/** Whether what stands in a thing that can be acted on is looked at for others. */
export const holdsThings = (role: string, element: Element): boolean =>
  tag(element) === 'svg' ||
  holdsAll(role) ||
  wording.has(role) ||
  namedByContent.has(role) ||
  wrapsFields(role, element);

/** Whether it is a box around the field in which one types, as older comboboxes are. */
const wrapsFields = (role: string, element: Element): boolean =>
  role === 'combobox' &&
  !/^(?:input|select|textarea)$/.test(tag(element)) &&
  element.querySelector('input') !== null;

const parts = 'a[href], button, input, select, textarea, [tabindex], [contenteditable], [role]';

/** Whether something is told by its name alone: it has no parts. What pops up as a tooltip may be a menu. */
export const isWhole = (role: string, element: Element): boolean =>
  wholes.has(role) || (role === 'tooltip' && element.querySelector(parts) === null);

const wholes = set('meter option progressbar scrollbar');

/** Containers that are told only when they have a name. */
export const onlyNamed = set('article figure form group region radiogroup toolbar feed status tabpanel log');

/** Roles of what is flattened, its words being told without it, unless its author gave it a label. */
export const onlyLabelled = set(
  'application blockquote definition document list listitem note separator term',
);

/** What has items, of which there may be very many. */
export const listLike =
  '[role="list"], [role="listbox"], [role="grid"], [role="tree"], [role="feed"], [role="menu"], ' +
  '[role="rowgroup"], ul, ol, tbody, table';

const rows = set('row listitem treeitem option gridcell');
const rowTags = set('tr li td');

/** Whether a picture in it may do something other than it does itself. */
export const rowLike = (tag: string, role: string): boolean =>
  role === '' || rows.has(role) || rowTags.has(tag);
