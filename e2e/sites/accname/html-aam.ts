import { img, of, picture } from './cases.ts';

// html-aam: with all sources of a name at once the first one counts; without that the second, and so on.
type Source = readonly [attributes: string, before: string, inside: string, name: string];
const refs2: Source = [
  'aria-labelledby="a b"',
  '<p id=a>ref one</p><p id=b>ref two</p>',
  '',
  'ref one ref two',
];
const refs1: Source = ['aria-labelledby=a', '<p id=a>ref one</p>', '', 'ref one'];
const said: Source = ['aria-label=said', '', '', 'said'];
const labels2: Source = [
  '',
  '<label for=t>label one</label><label for=t>label two</label>',
  '',
  'label one label two',
];
const label1: Source = ['', '<label for=t>label one</label>', '', 'label one'];
const title: Source = ['title=tip', '', '', 'tip'];
const placeholder: Source = ['placeholder=hint', '', '', 'hint'];
const value: Source = ['value=Go', '', '', 'Go'];
const alt: Source = ['alt=tree', '', '', 'tree'];
const emptyAlt: Source = ['alt=""', '', '', ''];
const inside: Source = ['', '', 'words', 'words'];
const caption: Source = ['', '', '<caption>Sums</caption><caption>no</caption>', 'Sums'];
const legend: Source = ['', '', '<legend>Where</legend><legend>no</legend>', 'Where'];
const group: Source = ['label=Sizes', '', '', 'Sizes'];
const nothing: Source = ['', '', '', ''];

// Of two of a kind, which stand for one attribute or one set of labels, the first replaces the second.
const replaces = new Map<Source, Source>([
  [refs2, refs1],
  [labels2, label1],
  [alt, emptyAlt],
]);

function sourced(around: readonly [string, string], start: string, fill: string, sources: readonly Source[]) {
  const close = /^(?:input|img|hr|br|wbr)\b/.test(start) ? '' : `</${start.split(' ')[0]}>`;
  return sources.map((first, at) => {
    const rest = sources.slice(at);
    const used = rest.filter(
      (one) => !rest.some((other) => replaces.get(other) === one) && (one !== emptyAlt || one === first),
    );
    const html =
      used.map(([, before]) => before).join('') +
      `${around[0]}<${start} id=t ${used.map(([attributes]) => attributes).join(' ')}>` +
      `${used.map(([, , within]) => within).join('')}${fill}${close}${around[1]}`;
    return [html, first[3]] as const;
  });
}

const alone = ['', ''] as const;
const fieldSources = [refs2, refs1, said, labels2, label1, title];
const phrasing =
  'dfn abbr b bdi bdo cite code em i kbd mark q s samp small strong sub sup time u var hr br wbr address search'.split(
    ' ',
  );

export const htmlAam = [
  ...of(
    'html-aam/inputs-with-placeholders',
    ['email', 'number', 'password', 'search', 'tel', 'text', 'url'].flatMap((type) =>
      sourced(alone, `input type=${type} value=1`, '', [...fieldSources, placeholder, nothing]),
    ),
  ),
  ...of('html-aam/textarea', sourced(alone, 'textarea', 'words', [...fieldSources, placeholder, nothing])),
  ...of('html-aam/input-button', [
    ...sourced(alone, 'input type=button', '', [refs2, refs1, said, labels2, label1, value, title, nothing]),
    ...['submit', 'reset'].flatMap((type) =>
      sourced(alone, `input type=${type}`, '', [refs2, refs1, said, labels2, label1, value]),
    ),
    ['<input type=submit id=t title=no>', 'Submit'],
    ['<input type=reset id=t title=no>', 'Reset'],
    ['<input type=submit id=t value="" title=tip>', 'tip'],
  ]),
  ...of(
    'html-aam/input-image',
    sourced(alone, `input type=image src="${picture}"`, '', [
      refs2,
      refs1,
      said,
      labels2,
      label1,
      alt,
      emptyAlt,
      title,
    ]),
  ),
  ...of(
    'html-aam/button',
    sourced(alone, 'button', '', [refs2, refs1, said, labels2, label1, inside, title, nothing]),
  ),
  ...of(
    'html-aam/img',
    sourced(alone, `img src="${picture}"`, '', [refs2, refs1, said, alt, emptyAlt, title, nothing]),
  ),
  ...of('html-aam/fieldset', sourced(alone, 'fieldset', '', [refs2, refs1, said, legend, title, nothing])),
  ...of('html-aam/table', sourced(alone, 'table', '', [refs2, refs1, said, caption, title, nothing])),
  ...of(
    'html-aam/summary',
    sourced(['<details open>', '</details>'], 'summary', '', [refs2, refs1, said, inside, title]),
  ),
  ...of('html-aam/a', sourced(alone, 'a href=x', '', [refs2, refs1, said, inside, title, nothing])),
  ...of('html-aam/figure', [
    ...sourced(alone, 'figure', img(''), [refs2, refs1, said, title, nothing]),
    ['<figure id=t>x<figcaption>no</figcaption></figure>', ''],
    ['<figure id=t title=tip>x<figcaption>no</figcaption></figure>', 'tip'],
    [`<figure>${img('id=t')}<figcaption>Tree</figcaption></figure>`, 'Tree'],
    [`<figure>${img('id=t title=tip')}<figcaption>Tree</figcaption></figure>`, 'tip'],
    [`<figure>${img('id=t')}x<figcaption>no</figcaption></figure>`, ''],
  ]),
  ...of(
    'html-aam/other-form-elements',
    [
      'checkbox',
      'radio',
      'color',
      'date',
      'datetime-local',
      'file',
      'month',
      'range',
      'time',
      'week',
    ].flatMap((type) => sourced(alone, `input type=${type}`, '', [...fieldSources, nothing])),
  ),
  ...of('html-aam/select', sourced(alone, 'select', '<option>words', [...fieldSources, nothing])),
  ...of('html-aam/output', sourced(alone, 'output', '', [...fieldSources, nothing])),
  ...of(
    'html-aam/optgroup',
    sourced(['<select>', '</select>'], 'optgroup', '<option>words', [
      refs2,
      refs1,
      said,
      group,
      title,
      nothing,
    ]),
  ),
  ...of(
    'html-aam/phrasing-elements',
    phrasing.flatMap((name) => {
      const words = /^(?:hr|br|wbr)$/.test(name) ? '' : 'words';
      return sourced(alone, name, words, [refs2, refs1, said, title, nothing]);
    }),
  ),
  ...of('html-aam/tr-td-th', [
    ...sourced(['<table><tbody>', '</tbody></table>'], 'tr', img(''), [refs2, refs1, said, title, nothing]),
    ...sourced(['<table><thead><tr>', '</tr></thead></table>'], 'th', img(''), [
      refs2,
      refs1,
      said,
      title,
      nothing,
    ]),
    ...sourced(['<table><tbody><tr>', '</tr></tbody></table>'], 'td', img(''), [
      refs2,
      refs1,
      said,
      title,
      nothing,
    ]),
    ...['thead', 'tbody', 'tfoot'].flatMap((part) =>
      sourced(['<table>', '</table>'], part, '', [refs2, refs1, said, title, nothing]),
    ),
  ]),
];
