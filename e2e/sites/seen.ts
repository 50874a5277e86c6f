// What stands in something that can be clicked as a whole, and what has no words, beside the lines that tell it.

const dot = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const styles = `<style>.row { cursor: pointer; padding: 4px }
  .i { display: inline-block; width: 16px; height: 16px; background: url(${dot}) }
  .board { display: grid; grid-template-columns: repeat(3, 40px) } .c { width: 38px; height: 38px; border: 1px solid }
  .year { display: grid; grid-template-columns: repeat(25, 10px) }
  .day { width: 10px; height: 10px; background: #ebedf0; cursor: pointer } .late:hover { cursor: pointer }</style>`;

const made = (count: number, one: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => one(n)).join('');

/** What is told of pages; each line has one thing to act on. */
export const seen: readonly (readonly [what: string, html: string, lines: string])[] = [
  [
    'two pictures in a row',
    '<div class=row><span class="i star"></span><span class="i trash"></span></div>',
    'clickable "row" [e3]\n clickable "star" [e1]\n clickable "trash" [e2]',
  ],
  [
    'two pictures in a box in a row',
    '<div class=row><div><span class="i star"></span><span class="i trash"></span></div></div>',
    'clickable "row" [e3]\n clickable "star" [e1]\n clickable "trash" [e2]',
  ],
  [
    'one picture in a button of its own making',
    '<div class=row><i class="i star"></i></div>',
    'clickable "star" [e1]',
  ],
  [
    'words with pointers of their own in a row with one',
    '<style>.a { cursor: pointer }</style><div class=row><span class=a>Reply</span> <span class=a>Forward</span></div>',
    'clickable "row" [e3]\n clickable "Reply" [e1]\n clickable "Forward" [e2]',
  ],
  [
    'a list of its own making',
    '<div class=row><div>Choose</div><div class=o>One</div><div class=o>Two</div></div>',
    'clickable "Choose" [e3]\n clickable "One" [e1]\n clickable "Two" [e2]',
  ],
  [
    'a chip with a cross, and a button with a picture',
    `<style>.x { cursor: pointer; width: 12px; height: 12px; display: inline-block }</style>
<div role=button tabindex=0>Tag <i class="x remove"></i></div><button><i class="i disk"></i> Save</button>`,
    'button "Tag" [e2]\n clickable "remove" [e1]\nbutton "Save" [e3]',
  ],
  [
    'a card in which some words are more important',
    '<div class=row><h4>Title</h4><p>Some <b>bold</b> and <i>other</i> words</p></div>',
    'clickable "Title Some bold and other words" [e1]',
  ],
  [
    'what only a rule for the pointer points out',
    '<div class="late day"></div><style>.late { cursor: auto }</style><p class=late>Words</p>',
    'clickable "late day" [e1]\nclickable "Words" [e2]',
  ],
  [
    'a board of empty boxes, one of which is taken, and a box of another kind',
    `<div class=board>${made(9, (n) => `<div class=c${n === 5 ? ' style="background: red"' : ''}></div>`)}</div>
<div id=pad style="width: 60px; height: 60px; background: #08f"></div>
<div style="width: 60px; height: 9px; background: #08f"></div><script>document.body.onclick = () => {};</script>`,
    'grid 3x3 of clickable: [e1] [e2] [e3] / [e4] [e5] "red" [e6] / [e7] [e8] [e9]\nclickable "pad" [e10]',
  ],
  [
    'five hundred days',
    `<div class=year>
${made(500, (n) => `<div class=day${n % 250 === 5 ? ' style="background: green"' : ''}></div>`)}</div>`,
    'grid 20x25 of clickable "day grey": [e1] to [e500], row by row; "day green" [e6], "day green" [e256]',
  ],
  [
    'shapes of a drawing',
    `<svg width=100 height=50 style="cursor: pointer"><circle id=a cx=20 cy=20 r=15 fill=red />
<circle id=b cx=70 cy=20 r=15 fill=blue /></svg>`,
    'img [e3]\n clickable "red circle" [e1]\n clickable "blue circle" [e2]',
  ],
  [
    'shapes of a drawing that nothing points out, by their size, and not those of an icon or a chart with letters',
    `<svg width=200 height=99><circle cx=20 cy=20 r=9 fill=blue /><circle cx=80 cy=40 r=30 fill=blue />
<rect x=130 y=20 width=40 height=40 fill=green /></svg><svg width=24 height=24><rect width=20 height=20 /></svg>
<svg width=200 height=99>${made(50, (n) => `<rect x=${4 * n} width=9 height=50 />`)}</svg><script>1</script>`,
    'clickable "small blue circle" [e1]\nclickable "large blue circle" [e2]\nclickable "green rect" [e3]',
  ],
  [
    'a board of cells without heads, and a table with some that are empty',
    `<table>${made(3, (n) => `<tr><td><td>${n === 1 ? 'X' : ''}<td>`)}</table><style>td { border: 1px solid;
width: 30px; height: 30px }</style><table><tr><th>A<th>B<tr><td>Pear<td><tr><td>Plum<td>3</table><script>1</script>`,
    'table\n row: cell [e1] | cell [e2] | cell [e3]\n row: cell [e4] | "X" | cell [e5]\n' +
      ' row: cell [e6] | cell [e7] | cell [e8]\ntable\n row: "A" | "B"\n row: "Pear"\n row: "Plum" | "3"',
  ],
  [
    'a switch with a knob, and stars that style sheets draw',
    `<style>.toggle { width: 36px; height: 18px; background: green } .toggle i { position: absolute; width: 14px;
height: 14px; background: #fff } .st { display: inline-block; width: 20px; height: 20px } .st::before { content: "☆" }
</style><div class=toggle><i></i></div>${'<span class=st></span>'.repeat(3)}<script>1</script>`,
    'clickable "toggle" [e1]\nclickable "☆" [e2]\nclickable "☆" [e3]\nclickable "☆" [e4]',
  ],
  [
    'words of boxes beside each other, and of one word',
    `<style>.tab { padding: 4px } .key { display: inline-block; width: 30px }</style><p><span class=tab>One</span><span
class=tab>Two</span></p><p><b class=key>1</b><b class=key>2</b></p><p>un<b>break</b>able</p>`,
    '"One Two"\n"1 2"\n"unbreakable"',
  ],
  [
    'pictures in a row that is called what it says',
    '<div class=row><span>Ann</span> <span>Hello</span><span class="i star"></span><span class="i trash"></span></div>',
    'clickable "Ann Hello" [e3]\n clickable "star" [e1] clickable "trash" [e2]',
  ],
  [
    'what is there only while the pointer is over its item',
    `<style>li .b, li ul { display: none } li:hover > .b, li:hover > ul { display: block }</style><ul><li>Tax <button
class=b>x</button><li>File<ul><li>New<li>Open</ul></ul>`,
    '"Tax" (1 more on hover)\n"File" (2 more on hover)',
  ],
  [
    'handles by their edges',
    made(3, (n) => `<div style="cursor: ${['n', 'e', 'se'][n]}-resize; width: 9px; height: 9px"></div>`),
    'handle "n" [e1]\nhandle "e" [e2]\nhandle "se" [e3]',
  ],
  [
    'pictures by the names of their files',
    made(3, (n) => {
      const file = ['url(/x/lock.svg)', 'url(/x/bell.png)', ''][n];
      const style = `cursor: pointer; display: block; width: 20px; height: 20px; ${n ? 'background' : 'mask'}: ${file}`;
      return `<b style="${style}"></b>`;
    }),
    'clickable "lock" [e1]\nclickable "bell" [e2]\nclickable [e3]',
  ],
].map(([what = '', html = '', lines = '']) => [what, styles + html, lines] as const);
