// Names by what stands in an element: accname/name/comp_name_from_content, and smaller tests beside it.

import { img, of, picture } from './cases.ts';

const styled: readonly (readonly [style: string, tail: string])[] = [
  ['#t::before{content:" before "}', 'before label'],
  ['#t::after{content:" after "}', 'label after'],
  ['#t::before{content:" before "}#t::after{content:" after "}', 'before label after'],
  ['#t::before,#t::after{content:"near"}', 'nearlabelnear'],
  ['#t::before{content:" b " / " before "}#t::after{content:" a " / " after "}', 'before label after'],
  [
    '#t::before{content:" b " / " one " attr(data-x) " two "}' +
      '#t::after{content:" a " / " three " attr(data-x) " four "}',
    'one said two label three said four',
  ],
];
const rightToLeft = '#t:dir(rtl)::before{content:" قبل "}#t:dir(rtl)::after{content:" بعد "}';
const holders = ['button', 'h3', 'a href=x'];
const whole = (start: string, inside: string, style = ''): string =>
  `${style === '' ? '' : `<style>${style}</style>`}<${start} id=t data-x=said>${inside}</${start.split(' ')[0]}>`;

export const compContent = of('comp_name_from_content', [
  ...['span', 'div'].flatMap((tag) =>
    ['button', 'heading', 'link'].map(
      (role) => [`<${tag} tabindex=0 role=${role} id=t>label</${tag}>`, 'label'] as const,
    ),
  ),
  ...holders.flatMap((start) => [
    [whole(start, 'label'), 'label'] as const,
    ...styled.map(([style, name]) => [whole(start, 'label', style), name] as const),
    [`<div dir=rtl>${whole(start, 'اسم', rightToLeft)}</div>`, 'قبل اسم بعد'] as const,
    [whole(start, '<i>one</i> <i>two</i> <i>three</i>'), 'one two three'] as const,
    [whole(start, `<i>one</i> ${img('alt=two')} <i>three</i>`), 'one two three'] as const,
    [whole(start, `<i>one</i> <i>two ${img('alt=three')}</i> <i>four</i>`), 'one two three four'] as const,
    [whole(start, '<span>one</span><span>two</span><span>three</span>'), 'onetwothree'] as const,
    ...['block', 'inline-block'].map(
      (display) =>
        [
          whole(start, '<span>one</span><span>two</span><span>three</span>', `#t>span{display:${display}}`),
          'one two three',
        ] as const,
    ),
  ]),
  ['<style>#t::before{content:"b" / ""}</style><input type=radio id=t style="appearance:none">', ''],
  [
    `<style>#t::before{content:"b " url(${picture}) / ""}</style><input type=radio id=t style="appearance:none">`,
    '',
  ],
  [`<h3 id=t>one <button>two ${img('alt=three')} four</button> five</h3>`, 'one two three four five'],
  [`<h3 id=t>one <a href=x>two ${img('alt=three')} four</a> five</h3>`, 'one two three four five'],
  [`<h3 id=t>one <a href=x aria-label=two>no ${img('alt=no')} no</a> three</h3>`, 'one two three'],
  [`<h3 id=t>one <a href=x aria-labelledby=a>no ${img('id=a alt=two')} no</a> three</h3>`, 'one two three'],
]);

export const compContentTentative = of('comp_name_from_content.tentative', [
  [
    `<h3 id=t><a href=x aria-labelledby=a><i id=b>link</i></a> ${img('id=a alt=image aria-labelledby=b')}</h3>`,
    'image link',
  ],
  [
    `<h3 id=t><a href=x aria-labelledby=a><i id=b>link</i></a> ${img('id=a alt=image aria-labelledby="a b"')}</h3>`,
    'image link',
  ],
  ['<h3 id=t style="text-transform:full-size-kana">びょういん</h3>', 'びょういん'],
  ['<button id=t style="text-transform:full-size-kana">りゅう</button>', 'りゅう'],
]);

export const others = [
  ...of('comp_text_node', [['<h2 id=t>heading<!-- x -->label<!-- y --></h2>', 'headinglabel']]),
  ...of('comp_name_from_content_menuitem', [
    ['<ul role=menu><li role=presentation><a role=menuitem href=#x id=t>About</a></li></ul>', 'About'],
  ]),
  ...of('comp_tooltip', [
    [`<a href=x title=tip id=t>${img('alt=""')}</a>`, 'tip'],
    ['<a href=x title=tip id=t>words</a>', 'words'],
    ['<div title=tip role=group id=t>words</div>', 'tip'],
    [img('title=tip id=t'), 'tip'],
    [img('title=tip alt=tree id=t'), 'tree'],
    [img('alt=tree id=t'), 'tree'],
    ['<textarea title=tip placeholder=no id=t></textarea>', 'tip'],
    ...['text', 'email', 'password', 'checkbox', 'radio'].map(
      (type) => [`<input type=${type} title=tip placeholder=no id=t>`, 'tip'] as const,
    ),
    ['<button title=tip id=t>words</button>', 'words'],
    ['<abbr title=tip id=t>words</abbr>', 'tip'],
    ['<kbd title=tip id=t>words</kbd>', 'tip'],
    ['<select title=tip id=t><option disabled selected>choose<option>1</select>', 'tip'],
    ['<details><summary title=tip id=t>words</summary>x</details>', 'words'],
    ['<iframe title=tip id=t width=20 height=20></iframe>', 'tip'],
  ]),
  ...of('comp_tooltip.tentative', [[img('title=tip alt="" id=t'), '']]),
  ...of('shadowdom/basic', [
    [
      '<label id=a><div><template shadowrootmode=open>foo</template></div></label>' +
        '<button id=t aria-labelledby=a></button>',
      'foo',
    ],
    [
      '<label id=a><div><template shadowrootmode=open><div aria-label=bar></div></template></div></label>' +
        '<button id=t aria-labelledby=a></button>',
      'bar',
    ],
  ]),
  ...of('shadowdom/slot', [
    ...['', ' aria-label=label'].flatMap((label) =>
      ['slotted', ''].map(
        (given) =>
          [
            `<label id=a><div><template shadowrootmode=open>foo <slot${label}>default</slot> bar</template>` +
              `${given}</div>` +
              '</label><button id=t aria-labelledby=a></button>',
            `foo ${given || 'default'} bar`,
          ] as const,
      ),
    ),
  ]),
  ...of('aria-owns', [
    ['<button id=t aria-owns=a><div aria-hidden=true><i id=a>Play</i><i>Pause</i></div></button>', 'Play'],
    [
      '<a href=x id=t aria-owns=a>Web</a><div aria-hidden=true><i id=a> (new window)</i></div>',
      'Web (new window)',
    ],
    ['<h3 id=t><i hidden aria-owns=a>no</i> <mark id=a>gold</mark></h3>', 'gold'],
    ['<h3 id=t><i aria-hidden=true aria-owns=a>no</i> <mark id=a>gold</mark></h3>', 'gold'],
    ['<a href=x id=t aria-owns=a>Web</a><div><i id=a hidden>no</i></div>', 'Web'],
    ['<a href=x id=t aria-owns=a>Web</a><div hidden><i id=a>no</i></div>', 'Web'],
    ['<a href=x id=t aria-owns=a>Web</a><div><i id=a aria-hidden=true>no</i></div>', 'Web'],
  ]),
  ...of('comp_name_from_heading.tentative', [['<div role=group id=t><h2>no</h2><p>no</p></div>', '']]),
  ...of('name_pseudo-content', [
    [
      '<style>label::before{content:attr(data-x)}</style><label for=t data-x="one ">two</label><input id=t>',
      'one two',
    ],
    [`<style>label::before{content:url(${picture})}</style><label for=t>two</label><input id=t>`, 'two'],
  ]),
];

export const svg = [
  ...of('svg-aam/comp_host_language_label', [
    ...['circle r=25', 'rect width=50 height=50', 'polygon points="100,100 150,25 150,75"', 'g'].map(
      (shape) => [`<svg><${shape} id=t><title>Shape</title></svg>`, 'Shape'] as const,
    ),
    ...['circle r=25', 'rect width=50 height=50', 'polygon points="100,100 150,25 150,75"'].map(
      (shape) => [`<svg><a href=x xlink:title=Shape id=t><${shape} /></a></svg>`, 'Shape'] as const,
    ),
  ]),
  ...of('svg-aam/comp_labelledby', [
    [
      '<i id=a>Huey</i><svg><a href=x aria-labelledby=a xlink:title=no id=t><circle r=25 /></a></svg>',
      'Huey',
    ],
    ['<i id=a>Huey</i><svg><a href=x aria-labelledby=a aria-label=no id=t><circle r=25 /></a></svg>', 'Huey'],
  ]),
];
