// Fields and lists in the labels of others, and mixed content: the tests that Playwright keeps a copy of.

import { img, of } from './cases.ts';

// One that is inside of the label of another, and what it says there.
const embedded: readonly (readonly [inside: string, said: string])[] = [
  ['<input value=3>', '3'],
  ['<textarea>3</textarea>', '3'],
  ['<select><option>2<option selected>3</select>', '3'],
  ['<select size=2><option>2<option selected>3</select>', '3'],
  [
    '<select size=1 role=menu tabindex=0><option role=menuitem selected>2<option role=menuitem>3</select>',
    '',
  ],
  [
    '<span role=menu><span role=menuitem aria-selected=true>1</span><span role=menuitem hidden>2</span></span>',
    '',
  ],
  [
    '<div role=combobox><div role=textbox></div><ul role=listbox style="list-style:none"><li role=option ' +
      'aria-selected=true>3<li role=option>4</ul></div>',
    '3',
  ],
  [
    '<ul role=listbox style="list-style:none"><li role=option aria-selected=true>3<li role=option>4</ul>',
    '3',
  ],
  ['<input type=range min=1 max=5 value=3>', '3'],
  ['<input type=number min=1 max=5 value=3>', '3'],
  ['<span role=slider aria-valuenow=3 aria-valuemin=1 aria-valuemax=5></span>', '3'],
  ['<span role=slider aria-valuetext=three aria-valuenow=3></span>', 'three'],
  ['<div role=spinbutton aria-valuenow=3 aria-valuemin=1 aria-valuemax=7></div>', '3'],
  ['<div role=spinbutton aria-valuetext=three aria-valuenow=3></div>', 'three'],
  ['<div role=textbox contenteditable>3</div>', '3'],
];
const outer = ['checkbox', 'radio', 'file', 'password', 'text', 'image src=x'];

export const manual = [
  ...of(
    'name_*-label-embedded-*',
    outer.flatMap((type) =>
      embedded.map(
        ([inside, said]) =>
          [
            `<input type=${type} id=t><label for=t>Flash ${inside} times.</label>`,
            `Flash ${said === '' ? '' : `${said} `}times.`,
          ] as const,
      ),
    ),
  ),
  ...of('comp_embedded_control', [
    ['<label><input type=checkbox id=t>Flash <input value=3 aria-label=no> times</label>', 'Flash 3 times'],
    ['<label><input type=checkbox>Flash <input value=3 aria-label=times id=t> no</label>', 'times'],
  ]),
  ...of('name_file-label-owned-*', [
    [
      '<input type=file id=t><label for=t>Flash <i aria-owns=a>here</i> times.</label><div id=a><div role=combobox>' +
        '<div role=textbox></div><ul role=listbox style="list-style:none"><li role=option aria-selected=true>1 ' +
        '<li role=option>2</ul></div></div>',
      'Flash here 1 times.',
    ],
    [
      '<input type=file id=t><label for=t>Flash <i aria-owns=a>here</i> times.</label><div id=a role=combobox ' +
        'aria-owns=b><div role=textbox></div></div><ul id=b role=listbox style="list-style:none"><li role=option>1 ' +
        '<li role=option aria-selected=true>2</ul>',
      'Flash here 2 times.',
    ],
  ]),
  ...of('name_from_content, of a label, of one referred to', [
    ...mixed('<div id=t role=link tabindex=0>', '</div>'),
    ...mixed('<input id=t><label for=t>', '</label>'),
    ...mixed('<input id=t aria-labelledby=a><div id=a>', '</div>'),
  ]),
  ...of('name_file-label-inline-*', [
    [
      '<input type=file id=t><label for=t>W<i>h<b>a</b></i>t<br>is<div>your<div>name<b>?</b></div></div></label>',
      'What is your name?',
    ],
    [
      '<style>label::before{content:"This";display:block}label::after{content:"."}</style><label for=t>is it</label>' +
        '<input id=t>',
      'This is it.',
    ],
    [
      '<style>.no{display:none}</style><input type=file id=t><label for=t><i class=no>1</i><i>2</i> ' +
        '<i style="visibility:hidden">3</i><i>4</i> <i hidden>5</i><i>6</i> <i aria-hidden=true>7</i><i>8</i> ' +
        '<i aria-hidden=false class=no>' +
        '9</i><i>10</i></label>',
      '2 4 6 8 10',
    ],
  ]),
  ...of('name_heading-combobox-focusable-alternative', [
    ['<h2 id=t>Country: <input role=combobox title="Choose." value=Belgium></h2>', 'Country: Belgium'],
  ]),
  ...of('name_1.0_combobox-focusable', [
    ['<div id=t role=combobox tabindex=0 title=Choose><span> English </span></div>', 'Choose'],
    ['<input id=t role=combobox title=Choose value=English>', 'Choose'],
  ]),
  ...of('name_checkbox-label-multiple-label', [
    ['<label for=t>a test</label><label>This <input type=checkbox id=t> is</label>', 'a test This is'],
    ['<label>This <input type=checkbox id=t> is</label><label for=t>a test</label>', 'This is a test'],
  ]),
  ...of('name_link-with-label, -title', [
    ['<a href=x id=t aria-label=yes title=no>no</a>', 'yes'],
    [img('id=t title=yes'), 'yes'],
    ...['checkbox', 'file', 'text', 'password', 'radio'].map(
      (type) => [`<input type=${type} id=t title=yes>`, 'yes'] as const,
    ),
  ]),
  ...of('name_test_case_*', [
    ['<input type=button id=t aria-label=Rich>', 'Rich'],
    ['<div id=a>Rich</div><input type=button id=t aria-labelledby=a>', 'Rich'],
    ['<div id=a>Rich</div><input type=button id=t aria-label=no aria-labelledby=a>', 'Rich'],
    ['<input type=reset id=t>', 'Reset'],
    ['<input type=button id=t value=foo>', 'foo'],
    ['<input type=image src=x id=t alt=foo>', 'foo'],
    ['<label for=t>States:</label><input id=t>', 'States:'],
    ['<label for=t>foo<input value=David></label><input id=t value=baz>', 'foo David'],
    ['<div id=t aria-labelledby=a>foo</div><span id=a>bar</span>', 'bar'],
    ['<div id=t aria-label=bar>foo</div>', 'bar'],
    ['<div id=t aria-labelledby="t a" aria-label=bar>foo</div><span id=a>baz</span>', 'bar baz'],
    [`${img('id=t aria-label=1 alt=a title=t')}`, '1'],
    ['<input value=peanuts id=a><img aria-labelledby=a src=x id=t>', 'peanuts'],
    ['<a id=t aria-labelledby="a b">x</a><div id=a>foo</div><div id=b>bar</div>', 'foo bar'],
    ['<a id=t href=x>ABC</a>', 'ABC'],
    [`<a id=t href=x>${img('alt=foo')}</a>`, 'foo'],
    ['<a id=t href=x title=Tag></a>', 'Tag'],
    ['<div id=t role=link tabindex=0>foo <input value=bar> baz</div>', 'foo bar baz'],
    ['<style>label::before{content:"fancy "}</style><label for=t>fruit</label><input id=t>', 'fancy fruit'],
    ['<style>label::after{content:" fruit"}</style><label for=t>fancy</label><input id=t>', 'fancy fruit'],
    [
      '<style>[data-x]::after{content:attr(data-x)}</style><label for=t data-x="so it is"></label><input id=t>',
      'so it is',
    ],
    [
      '<style>label::before{content:"foo"}label::after{content:"baz"}</style><label for=t title=bar><input id=t ' +
        'type=password title=buz></label>',
      'foo bar baz',
    ],
    [
      '<style>label::before{content:"foo "}label::after{content:"baz"}</style><label for=t><input id=t type=radio ' +
        'title=" bar "></label>',
      'foo baz',
    ],
  ]),
];

// Words of one link, label or target of a reference, among all that does not count.
function mixed(start: string, end: string): (readonly [string, string])[] {
  const inside =
    `<span aria-hidden=true><i>no</i></span> <span>My</span> name is <div>${img('title=no alt="" role=presentation')}` +
    '</div> <span role=presentation aria-label=Eli><span aria-label=no>no</span></span> ' +
    '<span>the weird.</span> (QED) ' +
    '<span style="display:none"><i>no</i></span><table><tr><td>Where</td><td style="visibility:hidden"><div>no</div>' +
    '</td><td><div style="display:none">no</div></td><td>are my marbles?</td></tr></table>';
  return [[`${start}${inside}${end}`, 'My name is Eli the weird. (QED) Where are my marbles?']];
}
