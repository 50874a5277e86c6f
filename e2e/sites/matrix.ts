// Small widgets of two things each, in every combination of how they are drawn, what they stand in, how a script
// listens to them, and which styles say that they can be pressed. The page keeps a log of what was really pressed.

/** The things of each widget. */
export const spots = ['star', 'trash'] as const;
type SpotName = (typeof spots)[number];

const dot = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const stop = 'event.stopPropagation();';
const shape = '<circle cx="8" cy="8" r="7"/>';
const spot = (tag: string, name: SpotName, kind: string, inner = '', more = ''): string =>
  `<${tag} class="spot ${kind} ${name}" data-spot="${name}"${more}>${inner}</${tag}>`;

/** How a thing is drawn. */
const pictures: Record<string, (name: SpotName) => string> = {
  words: (name) => spot('span', name, 'words', name),
  'words in bold': (name) => spot('b', name, 'words', name),
  'a picture with a name': (name) =>
    spot('img', name, 'icon', '', ` alt="${name}" src="${dot}"`).replace('</img>', ''),
  'a picture without one': (name) =>
    spot('img', name, 'icon', '', ` alt="" src="${dot}"`).replace('</img>', ''),
  'a background': (name) => spot('span', name, 'icon back'),
  'a mask': (name) => spot('i', name, 'icon mask'),
  'a sprite': (name) => spot('span', name, 'icon sprite'),
  'content of its own': (name) => spot('span', name, 'icon made'),
  'content before it': (name) => spot('i', name, 'icon before'),
  'a letter of a font': (name) => spot('i', name, 'icon glyph'),
  'a drawing': (name) => spot('span', name, 'icon', `<svg width="16" height="16">${shape}</svg>`),
  'a drawing alone': (name) => spot('svg', name, 'icon', shape, ' width="16" height="16"'),
  'a coloured box': (name) => spot('div', name, 'icon cell'),
};

type Wrap = (inside: string) => string;

/** What the things stand in. */
const wrappers: Record<string, Wrap> = {
  'a box': (inside) => `<div class="row">${inside}</div>`,
  'a box with words': (inside) => `<div class="row">Letter ${inside}</div>`,
  'an item of a list': (inside) => `<ul><li class="row">Letter ${inside}</li></ul>`,
  'boxes in boxes': (inside) => `<div class="row"><div><div>${inside}</div></div></div>`,
  'a row of a table': (inside) => `<table><tr class="row"><td>Letter<td>${inside}</table>`,
  'a box that takes the focus': (inside) => `<div class="row" tabindex="0">Letter ${inside}</div>`,
  'turned boxes': (inside) => `<div class="row turned">Letter <div>${inside}</div></div>`,
  'a shadow root': (inside) =>
    `<div class="row">Letter <s-box><template shadowrootmode="open"><style>${looks}</style>${inside}</template>
</s-box></div>`,
};

const each = (what: string): string =>
  `for (const one of spotsIn(ROOT)) { const { spot } = one.dataset; ${what} }`;
const forAll = (what: string): string =>
  `ROOT.addEventListener("click", (e) => { const one = e.composedPath().find((at) => at.dataset?.spot); ${what} });`;

/** How a script listens; ROOT stands for the widget's row, ID for its number. */
const listeners: Record<string, string> = {
  'an attribute': each(`one.setAttribute("onclick", "${stop} did(ID, '" + spot + "')");`),
  'a listener each': each(`one.addEventListener("click", (event) => { ${stop} did(ID, spot); });`),
  'a press': each('one.addEventListener("pointerdown", () => did(ID, spot));'),
  'one for all, and for the row': forAll('did(ID, one?.dataset.spot ?? "row");'),
};

/** Which styles say that something can be pressed: of the row, and of the things. */
const pointers: Record<string, string> = {
  'of the row': 'row-points',
  'of the things': 'spots-point',
  'of both': 'row-points spots-point',
  'of the things under the pointer': 'spots-point-late',
  'of the row, and another look of the things': 'row-points spots-change',
};

const looks = `.words { display: inline-block; padding: 2px 6px }
.icon { display: inline-block; width: 16px; height: 16px; margin: 2px 6px }
.back { background: url(${dot}) } .mask { background: #333; mask: url(${dot}) }
.sprite { background: url(${dot}) } .sprite.trash { background-position: -16px 0 }
.made { content: url(${dot}) } .before::before { content: url(${dot}) }
.glyph::before { content: "\\e001" } .glyph.trash::before { content: "\\e002" }
.cell.star { background: #c33 } .cell.trash { background: #3a3 }
.spots-point .spot, :host-context(.spots-point) .spot { cursor: pointer }
.spots-point-late .spot:hover, :host-context(.spots-point-late) .spot:hover { cursor: pointer }
.spots-change .spot:hover, :host-context(.spots-change) .spot:hover { background-color: #eee }`;

export interface Combination {
  id: number;
  picture: string;
  wrapper: string;
  listener: string;
  pointer: string;
}

/** Every combination that there is. */
export const combinations: readonly Combination[] = Object.keys(pictures)
  .flatMap((picture) =>
    Object.keys(wrappers).flatMap((wrapper) =>
      Object.keys(listeners).flatMap((listener) =>
        Object.keys(pointers).map((pointer) => ({ picture, wrapper, listener, pointer })),
      ),
    ),
  )
  .map((one, id) => ({ id, ...one }));

function widget({ id, picture, wrapper, pointer }: Combination): string {
  const inside = spots.map((name) => pictures[picture]?.(name) ?? '').join(' ');
  return `<div class="widget ${pointers[pointer]}" id="w${id}">${wrappers[wrapper]?.(inside)}</div>`;
}

/** A page with some of the combinations. */
export function matrixPage(some: readonly Combination[]): string {
  const scripts = some.map(({ id, listener }) =>
    (listeners[listener] ?? '')
      .replaceAll('ROOT', `document.querySelector("#w${id} .row")`)
      .replaceAll('ID', `${id}`),
  );
  return `<!doctype html><meta charset="utf-8"><title>Matrix</title>
<style>.widget { padding: 4px } ul { list-style: none } h4, p { margin: 2px }
.turned { width: 140px; margin: 12px; transform: rotate(4deg) }
.row { padding: 6px; background: #f4f4f4 } .row-points .row { cursor: pointer } ${looks}</style>
${some.map(widget).join('\n')}
<script>
const log = [];
const did = (id, spot) => log.push(id + ' ' + spot);
const spotsIn = (root) => [...root.querySelectorAll('[data-spot]'),
  ...[...root.querySelectorAll('s-box')].flatMap((host) => [...host.shadowRoot.querySelectorAll('[data-spot]')])];
${scripts.join('\n')}
</script>`;
}
