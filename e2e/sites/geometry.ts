// Buttons in boxes, pages and frames that go on in any direction: each says by itself what was pressed.

export interface Case {
  what: string;
  html: string;
  buttons: string[]; // their names
  clicked: string[];
  root?: string; // the style of the whole page
}

const directions = ['ltr', 'rtl'];
const writingModes = ['horizontal-tb', 'vertical-rl', 'vertical-lr', 'sideways-lr'];
const transforms = ['none', 'rotate(20deg)', 'scale(0.8)', 'skewX(12deg)', 'matrix(-1, 0, 0, 1, 0, 0)'];
const count = 8;

const names = (prefix: string): string[] => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);

function row(prefix: string, style = ''): string {
  const sized = `flex:none;inline-size:120px;block-size:40px;margin:4px;${style}`;
  return names(prefix)
    .map((name) => `<button style="${sized}">${name}</button>`)
    .join('');
}

const some = (prefix: string): string[] => [0, 3, 7].map((n) => `${prefix} ${n}`);

/** Boxes that scroll: direction × writing mode × scroll snap × a sticky part, each turned in one of some ways. */
export function boxes(seed: number): Case[] {
  const all = directions.flatMap((direction) =>
    writingModes.flatMap((mode) =>
      ['none', 'both mandatory'].flatMap((snap) =>
        [false, true].map((sticky) => ({ direction, mode, snap, sticky })),
      ),
    ),
  );
  return all.map(({ direction, mode, snap, sticky }, at) => {
    const transform = transforms[(at + seed) % transforms.length] ?? 'none';
    const head = sticky
      ? '<div style="position:sticky;inset-inline-start:0;flex:none;inline-size:70px;background:tan">head</div>'
      : '';
    const scrolls = `display:flex;overflow:auto;width:300px;height:300px;margin:60px;scroll-snap-type:${snap}`;
    const style = `direction:${direction};writing-mode:${mode};transform:${transform};${scrolls}`;
    const html = `<div style="${style}">${head}${row(`box${at}`, 'scroll-snap-align:center')}</div>`;
    const what = `${direction} ${mode}, snap ${snap}, ${sticky ? 'sticky, ' : ''}${transform}`;
    return { what, html, buttons: names(`box${at}`), clicked: some(`box${at}`) };
  });
}

/** Pages that are wider or higher than the window, in all directions, and by flex boxes that are reversed. */
export const wide: readonly Case[] = directions.flatMap((direction) =>
  writingModes.flatMap((mode) =>
    ['row', 'row-reverse'].map((flow, at) => ({
      what: `page ${direction} ${mode} ${flow}, zoom ${1 + at}`,
      html: `<div style="display:flex;flex-direction:${flow};inline-size:1800px;justify-content:space-between">${row('page')}</div>`,
      buttons: names('page'),
      clicked: some('page'),
      root: `direction:${direction};writing-mode:${mode};zoom:${1 + at}`,
    })),
  ),
);

/** Boxes whose items begin at their end, as chats have them. */
export const snapping: readonly Case[] = directions.flatMap((direction) =>
  ['row-reverse', 'column-reverse'].map((flow) => ({
    what: `box ${direction} ${flow}`,
    html: `<div style="display:flex;flex-direction:${flow};overflow:auto;width:200px;height:90px">${row('back')}</div>`,
    buttons: names('back'),
    clicked: some('back'),
    root: `direction:${direction}`,
  })),
);

const turns = [
  'transform:rotate(30deg)',
  'transform:scale(0.6) rotate(-15deg)',
  'rotate:90deg;scale:0.7',
  'transform:skewY(10deg)',
  'zoom:1.5',
  'transform:rotate(180deg);padding:30px;border:7px solid',
];

interface Framed {
  what: string;
  html: string;
  inner: Case;
}

/** A frame of the same origin in a box, one or both of them turned. */
export const framed: readonly Framed[] = turns.flatMap((turn) =>
  ['', 'transform:rotate(10deg)', 'zoom:0.8'].map((around) => ({
    what: `${turn} in ${around || 'nothing'}`,
    html: `<!doctype html><body><div style="margin:120px;${around}"><iframe style="width:360px;height:300px;${turn}"></iframe>
<p>below it</p></div>`,
    inner: {
      what: 'frame',
      html: `<div style="display:flex;flex-wrap:wrap">${row('in')}</div>`,
      buttons: names('in'),
      clicked: names('in').slice(0, 6),
    },
  })),
);

const log = `<script>addEventListener('click', (event) => { globalThis.met = event.target.textContent; }, true)</script>`;

/** A page of cases, which keeps what was clicked last in \`met\`. */
export const pageOf = (cases: readonly Case[], zoom: number, root = ''): string =>
  `<!doctype html><html style="zoom:${zoom};${root}"><meta charset=utf-8>${log}<body>${cases
    .map(({ html }) => html)
    .join('')}`;
