// What is kept of a page between two looks is what a look that keeps nothing would tell, whatever the page did.
import { expect, test } from '@playwright/test';
import { pageCode } from '../stage/page-code.ts';

const code = () =>
  pageCode(
    `import { lines } from './tree.ts';
   const indented = (all) => all.map(({ depth, text }) => ' '.repeat(depth) + text).join('\\n');
   globalThis.look = (anew) => indented(lines(document, { anew }));`,
  );

const html = `<!doctype html><title>Changing</title><style>
.gone, .gone + .follows { display: none } .pale { opacity: 0 }
.unseen { visibility: hidden } .seen { visibility: visible }
.open { cursor: pointer } .long { overflow: auto; height: 40px } .few .item { font-weight: bold }
main:has(.marked) .shy { display: none } .dot { position: absolute; width: 1px; height: 1px; overflow: hidden }
.icon::before { content: "*" } .bare { display: contents }
</style><main></main>`;

/** Changes the page in some way; n chooses which. */
function change(seed: number): void {
  let state = seed * 2654435761;
  const chance = (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return (state >>> 8) % below;
  };
  const pick = <T>(all: ArrayLike<T>): T | undefined => all[chance(all.length)];
  const main = document.querySelector('main');
  if (main === null) return;
  const every = Array.from(main.querySelectorAll<HTMLElement>('*'));
  for (const host of every.slice())
    if (host.shadowRoot) every.push(...host.shadowRoot.querySelectorAll<HTMLElement>('*'));
  const one = (every.length > 0 ? pick(every) : undefined) ?? main;
  const classes = 'gone pale unseen seen open long few marked dot icon bare item shy follows'.split(' ');
  const tags =
    'div div section p span b ul li button a h2 table tr td label input select article details summary nav slot'.split(
      ' ',
    );
  const make = (): HTMLElement => {
    const made = document.createElement(pick(tags) ?? 'div');
    if (chance(3) === 0) made.className = pick(classes) ?? '';
    if (chance(4) === 0) made.setAttribute('aria-label', `label ${seed}`);
    if (made instanceof HTMLAnchorElement) made.href = `/${seed}`;
    if (chance(2) === 0) made.append(`text ${seed}`);
    if (chance(3) === 0) made.append(document.createElement('button'), ` more ${seed} `);
    return made;
  };
  switch (chance(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      every.length > 120 ? one.replaceWith(make()) : one.append(make());
      break;
    case 5:
      one.before(make());
      break;
    case 6:
      one.classList.toggle(pick(classes) ?? '');
      break;
    case 7:
      one.textContent = `said ${seed}`;
      break;
    case 8:
      if (one.firstChild instanceof Text) one.firstChild.data = `new ${seed}`;
      break;
    case 9:
      one.toggleAttribute(pick(['hidden', 'inert', 'open', 'disabled', 'draggable']) ?? '');
      break;
    case 10:
      if (one instanceof HTMLInputElement) one.value = `value ${seed}`;
      else one.setAttribute('role', pick(['button', 'list', 'group', 'none', 'row', 'region']) ?? '');
      break;
    case 11:
      {
        const empty = /^(?:DIV|SECTION|ARTICLE|P)$/.test(one.tagName) && one.childNodes.length === 0;
        const host = empty ? one : document.createElement('div');
        if (host.shadowRoot === null)
          host.attachShadow({
            mode: 'open',
          }).innerHTML = `<div>in ${seed} <slot></slot></div><button>root ${seed}</button>`;
        if (host !== one) one.append(host);
      }
      break;
    case 12:
      one.focus();
      break;
    default:
      pick(every)?.append(one.cloneNode(true));
  }
}

test('what is kept between looks is what a look without it tells', async ({ page }) => {
  const script = await code();
  const rounds = Number(process.env.TABRELAY_ROUNDS ?? 2000);
  for (let start = 0; start < rounds; start += 200) {
    await page.setContent(html);
    await page.addScriptTag({ content: script });
    await page.addScriptTag({ content: `globalThis.change = ${change.toString()}` });
    const different = await page.evaluate((from) => {
      const look: (anew: boolean) => string = Reflect.get(globalThis, 'look');
      const alter: (seed: number) => void = Reflect.get(globalThis, 'change');
      for (let n = from; n < from + 200; n++) {
        try {
          alter(n);
        } catch {
          // it cannot be put there
        }
        const kept = look(false);
        const anew = look(true);
        if (kept !== anew) return { n, kept, anew };
      }
      return undefined;
    }, start);
    expect(different?.kept, `after change ${different?.n}`).toBe(different?.anew);
  }
});

// Each with what changes it from afar: no change is made in what the line of it was written from.
const fromAfar: Record<string, [body: string, change: string]> = {
  'a word of a sentence hidden by a sheet': [
    '<main><i id="a">x</i><div><p>Some <b class="shy">shy</b> words</p></div></main>',
    'a.className = "marked"',
  ],
  'a word of a button hidden by a sheet': [
    '<main><i id="a">x</i><div><button>Some <b class="shy">shy</b> words</button></div></main>',
    'a.className = "marked"',
  ],
  'a cell hidden by a sheet': [
    '<main><i id="a">x</i><table><tr><th>A<th>B<tr><td>one<td><b class="shy">two</b></table></main>',
    'a.className = "marked"',
  ],
  'the words of a label that names a button': [
    '<main><p><label for="b" id="a">Send</label></p><div><button id="b"></button></div></main>',
    'a.firstChild.data = "Drop"',
  ],
  'a label that comes late': [
    '<main><p id="a"></p><div><button id="b">it</button></div></main>',
    'a.innerHTML = "<label for=b>Send</label>"',
  ],
  'a header that is moved into an article': [
    '<main></main><div><header id="b"><p>one</p><p>two</p></header></div><article id="a">x</article>',
    'a.append(b)',
  ],
  'a root within a thing that nobody sees, which has a word of a name': [
    `<main><div><button>Open <span role="button" class="dot"><i id="a"></i></span></button></div></main>
<script>{ const host = document.createElement('div'); a.append(host);
host.attachShadow({ mode: 'open' }).innerHTML = '<b>this</b>';
globalThis.word = host.shadowRoot.firstChild.firstChild }</script>`,
    'word.data = "that"',
  ],
  'a root that an empty thing without an extent gets': [
    '<main><div><div id="a" draggable="true"></div><p>x</p></div></main>',
    'a.attachShadow({ mode: "open" }).innerHTML = "<button>Root</button>"',
  ],
};

for (const [what, [body, change]] of Object.entries(fromAfar))
  test(`${what} is not kept`, async ({ page }) => {
    await page.setContent(html.replace('<main></main>', body));
    await page.addScriptTag({ content: await code() });
    const { before, kept, anew } = await page.evaluate((alter) => {
      const look: (anew: boolean) => string = Reflect.get(globalThis, 'look');
      look(true);
      const seen = look(false);
      // biome-ignore lint/security/noGlobalEval: a change to the page of this test
      globalThis.eval(alter);
      return { before: seen, kept: look(false), anew: look(true) };
    }, change);
    expect(kept).toBe(anew);
    expect(anew).not.toBe(before);
  });
