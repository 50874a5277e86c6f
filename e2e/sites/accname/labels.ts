// Names by aria-label, by labels and by what HTML has for it: accname/name/comp_label and comp_host_language_label.

import { allHidings, img, of } from './cases.ts';

const ariaRoles =
  'alert alertdialog application article banner blockquote button cell checkbox columnheader combobox complementary ' +
  'contentinfo dialog directory document feed figure form grid gridcell group heading img link list listbox listitem ' +
  'log main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation note option ' +
  'progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton ' +
  'status switch tab table tablist tabpanel textbox timer toolbar tooltip tree treegrid treeitem';
const labelled = [
  'a href=x',
  ...'article aside blockquote button dl footer fieldset figure form header h1 h2 h3 h4 h5 h6 hr'.split(' '),
  'img alt=""',
  ...['checkbox', 'radio', 'search', 'text'].map((type) => `input type=${type}`),
  ...'li main math meter nav ol section select textarea ul'.split(' '),
];
const tableParts: readonly (readonly [before: string, element: string])[] = [
  ['', 'table'],
  ['<table>', 'thead'],
  ['<table><thead><tr>', 'th scope=col'],
  ['<table><thead><tr>', 'th scope=row'],
  ['<table>', 'tbody'],
  ['<table><tbody>', 'tr'],
  ['<table><tr>', 'td'],
];

export const compLabel = of('comp_label', [
  ...ariaRoles.split(' ').map((role) => [`<div role=${role} id=t aria-label=said>x</div>`, 'said'] as const),
  ...labelled.map((start) => [`<${start} id=t aria-label=said>x`, 'said'] as const),
  ['<select><option id=t aria-label=said>x</select>', 'said'],
  ...tableParts.map(([before, start]) => [`${before}<${start} id=t aria-label=said>`, 'said'] as const),
  [
    '<button id=t aria-labelledby=a aria-label=no>' +
      '<i id=a style="display:none"><b style="display:none">yes</b></i></button>',
    'yes',
  ],
  [
    '<button id=t aria-labelledby=a aria-label=no>' +
      '<i id=a style="visibility:hidden"><b style="visibility:hidden">yes</b></i></button>',
    'yes',
  ],
  [
    '<button id=t aria-labelledby=a aria-label=yes><i id=a><b style="visibility:hidden">no</b></i></button>',
    'yes',
  ],
  ['<a href=x id=t aria-labelledby=a aria-label=no>x</a><i id=a>yes</i>', 'yes'],
  [img('id=t alt=no aria-label=yes'), 'yes'],
  ['<svg id=t aria-label=yes><circle r=4><title>no</title></circle></svg>', 'yes'],
  ['<label for=t>no</label><input id=t aria-label=yes>', 'yes'],
  ['<button id=t aria-label=yes>no</button>', 'yes'],
  ['<h1 id=t aria-label=yes>no</h1>', 'yes'],
  ['<button id=t aria-label=yes title=no>no</button>', 'yes'],
  ['<textarea id=t aria-label="yes  ">no</textarea>', 'yes'],
  ['<a href=x id=t aria-label="   yes">no</a>', 'yes'],
  ['<div role=alert id=t aria-label="\nyes">no</div>', 'yes'],
  ['<a href=x id=t aria-label="\tyes">no</a>', 'yes'],
  ['<button id=t aria-label="\fyes">no</button>', 'yes'],
  ['<button id=t aria-label="\u2800">no</button>', '\u2800'],
  ['<nav id=t aria-label="yes&nbsp;">no</nav>', 'yes'],
  ['<button id=t aria-label="&nbsp;yes">no</button>', 'yes'],
  ['<button id=t aria-label="">yes</button>', 'yes'],
  ['<textarea id=t aria-label="\t" title=yes>no</textarea>', 'yes'],
  ['<button id=t aria-label="\n">yes</button>', 'yes'],
  ['<button id=t aria-label="     ">yes</button>', 'yes'],
]);

const inputTypes = [
  ...'checkbox color date datetime-local email month number password radio range search tel text time url week'.split(
    ' ',
  ),
];
const values: Record<string, string> = {
  color: '#999999',
  date: '2026-01-01',
  'datetime-local': '2026-01-01T00:01',
  month: '2026-01',
  number: '7',
  range: '7',
  time: '00:01',
  week: '2026-W01',
};
const hiddenTypes = ['text', 'checkbox', 'password', 'number', 'range', 'button value=no'];

export const compHost = of('comp_host_language_label', [
  ['<input type=button value=Go id=t>', 'Go'],
  ['<input type=image alt=Go id=t>', 'Go'],
  ['<input type=reset value=Go id=t>', 'Go'],
  ['<input type=submit value=Go id=t>', 'Go'],
  ...inputTypes.flatMap((type) =>
    [
      '',
      ` value="${values[type] ?? 'v'}"`,
      ...(type === 'checkbox' ? [' checked', ' checked value=v'] : []),
    ].flatMap(
      (more) =>
        [
          [`<label for=t>Name it</label><input id=t type=${type}${more}>`, 'Name it'],
          [`<label><input id=t type=${type}${more}>Name it</label>`, 'Name it'],
        ] as const,
    ),
  ),
  ['<label for=t>Size</label><select id=t><option>M</select>', 'Size'],
  ['<label>Size <select id=t><option>M</select></label>', 'Size'],
  [img('id=t alt=tree'), 'tree'],
  [`<picture><source srcset="#">${img('id=t alt=tree')}</picture>`, 'tree'],
  ['<fieldset id=t><legend>Where</legend><input></fieldset>', 'Where'],
  ['<table id=t><caption>Sums</caption><tr><th>a<th>b<tr><th>1<td>2</table>', 'Sums'],
]);

// Two tests say opposite things of hidden labels: comp_host_language_label names a field by one, html-aam/hidden-names
// does not, and neither does Chromium.
export const hiddenNames = of('html-aam/hidden-names', [
  ...hiddenTypes.flatMap((type) =>
    allHidings.map((how) => {
      const own = type.startsWith('button') ? 'no' : '';
      return [`<label for=t ${how}>Name it</label><input id=t type=${type}>`, own] as const;
    }),
  ),
  ['<table id=t><caption hidden>Sums</caption></table>', ''],
  ['<fieldset id=t><legend hidden>Where</legend></fieldset>', ''],
]);

export const compHostTentative = of('comp_host_language_label.tentative', [
  ['<label role=none for=t>Name</label><input id=t>', 'Name'],
  ['<label role=none><span>Name</span><input id=t></label>', 'Name'],
  ['<label for=t>Name</label><input id=t role=none>', 'Name'],
  ['<label><span>Name</span><input id=t role=none></label>', 'Name'],
  ['<label role=none for=t>Name</label><input id=t role=none>', 'Name'],
  ['<label role=none><span>Name</span><input id=t role=none></label>', 'Name'],
  ['<label for=t>Name</label><input id=t role=none disabled>', ''],
  ['<label><span>Name</span><input id=t role=none disabled></label>', ''],
  [img('id=t role=none alt=tree'), ''],
  ['<svg id=t viewBox="0 0 20 10"><circle r=4><title role=none>circle</title></circle></svg>', 'circle'],
  ['<fieldset id=t><legend role=none>Where</legend></fieldset>', 'Where'],
  ['<fieldset id=t role=none><legend>Where</legend></fieldset>', ''],
  ['<fieldset id=t role=none><legend role=none>Where</legend></fieldset>', ''],
  ['<table id=t><caption role=none>Sums</caption></table>', 'Sums'],
  ['<table id=t role=none><caption>Sums</caption></table>', ''],
  ['<table id=t role=none><caption role=none>Sums</caption></table>', ''],
]);
