// Names by reference, and what is hidden: accname/name/comp_labelledby, comp_hidden_not_referenced.

import { allHidings, hidings, img, of } from './cases.ts';

// A reference to something hidden takes all that is in it; one to something shown leaves out what is hidden in it.
export const compHiddenNodes = of(
  'comp_labelledby_hidden_nodes',
  allHidings.flatMap((how) => {
    const asked = '<button id=t aria-labelledby=a></button>';
    return [
      [`${asked}<i id=a ${how}>one <b ${how}>two</b></i>`, 'one two'],
      [`${asked}<i id=a ${how}>one <b ${how}>two <u ${how}>three</u></b></i>`, 'one two three'],
      [`${asked}<i id=a>one <b ${how}>two <u ${how}>three</u></b></i>`, 'one'],
      [`${asked}<i id=a ${how}>one <b ${how}>two</b> <u ${how}>three</u></i>`, 'one two three'],
      [`${asked}<i id=a>one <b ${how}>two</b> <u ${how}>three</u></i>`, 'one'],
      [`${asked}<i id=a ${how}>one <b>two</b> <u>three</u></i>`, 'one two three'],
    ] as const;
  }),
);

export const compHidden = of('comp_hidden_not_referenced', [
  ['<button id=t><i aria-hidden=true>one</i> <i hidden>two</i> <i>three</i></button>', 'three'],
  [
    '<button id=t aria-labelledby=a><i id=a aria-hidden=true>one</i><i hidden>two</i><i>three</i></button>',
    'one',
  ],
  [
    '<button id=t aria-labelledby=a><i aria-hidden=true>one</i><i id=a hidden>two</i><i>three</i></button>',
    'two',
  ],
  [
    '<a href=x id=t aria-labelledby="a b c"><span id=a><i>one,</i> <i aria-hidden=true>no,</i></span>' +
      '<i id=b aria-hidden=true>two,</i><i id=c hidden>three</i></a>',
    'one, two, three',
  ],
  [
    '<h2 id=t>one, <i style="visibility:hidden">no, <b style="visibility:visible">two</b></i></h2>',
    'one, two',
  ],
]);

const misspelt = ['aria-labelledby', 'aria-labeledby'];
export const compLabelledby = of('comp_labelledby', [
  ['<div role=group id=t aria-labelledby=h><h2 id=h>one</h2><p>text</p></div>', 'one'],
  [
    '<div role=group id=t aria-label=one aria-labelledby="t h"><h2 id=h>+ two</h2><p>text</p></div>',
    'one + two',
  ],
  [
    '<nav id=t aria-labelledby="a b c d"><i id=a>one</i><i id=b>two</i><i>no</i><i id=c>three</i>' +
      '<i id=d>four</i></nav>',
    'one two three four',
  ],
  ...misspelt.flatMap(
    (by) =>
      [
        [`<i id=a>one</i><a href=x id=t ${by}=a>x</a>`, 'one'],
        [`<i id=a>one</i><button id=t ${by}=a>x</button>`, 'one'],
        [`<i id=a>one</i><div role=group id=t ${by}=a>x</div>`, 'one'],
        [`<i id=a>one</i>${img(`alt=no id=t ${by}=a`)}`, 'one'],
        [`<i id=a>one</i><svg id=t ${by}=a><circle r=4><title>no</title></circle></svg>`, 'one'],
        [`<i id=a>one</i><label for=t>no</label><input id=t ${by}=a>`, 'one'],
        [`<i id=a>one</i><h1 id=t ${by}=a>no</h1>`, 'one'],
        [`<i id=a>one</i><button id=t ${by}=a title=no>no</button>`, 'one'],
        [
          `<button id=t ${by}=a aria-label=no><i id=a ${hidings[0]}><b ${hidings[0]}>one</b></i>x</button>`,
          'one',
        ],
        [
          `<button id=t ${by}=a aria-label=no><i id=a style="visibility:hidden"><b>one</b></i>x</button>`,
          'one',
        ],
        [
          `<button id=t ${by}=a aria-label=yes><i id=a><b style="visibility:hidden">no</b></i>x</button>`,
          'yes',
        ],
        [
          `<h3 id=t><a href=x ${by}=a>no</a> <a href=x>two ${img('alt=one id=a')} three</a></h3>`,
          'one two three',
        ],
        [
          `<h3><a href=x ${by}=a>no</a> <a href=x id=t>two ${img('alt=one id=a')} three</a></h3>`,
          'two one three',
        ],
      ] as const,
  ),
  ['<i id=a>one</i><i id=b>two</i><a href=x id=t aria-labelledby=a aria-labeledby=b>x</a>', 'one'],
]);
