// Pages as they are met every day: each tells in #out, and nowhere else, what was really done in it.

const page = (title: string, body: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><output id="out">nothing</output>
<script>const tell = (text) => { out.textContent = text; };</script>${body}`;

const menus = page(
  'Menus',
  `<style>
    .menu > ul { display: none; position: absolute; margin: 0; padding: 0 }
    .menu:hover > ul { display: block }
    .faded { opacity: 0; visibility: hidden; transition: opacity 0.15s, visibility 0.15s }
    @media (min-width: 10px) { li:hover > .faded { opacity: 1; visibility: visible } }
    .row { .tools { display: none } &:hover .tools { display: inline } }
    .late > div { display: none } .late.open > div { display: block }
  </style>
  <nav><div class="menu"><a href="#products">Products</a><ul>
      <li><a href="#kettles" onclick="tell('kettles')">Kettles</a></li>
      <li><a href="#more">More</a><div class="faded"><button onclick="tell('teapots')">Teapots</button></div></li>
    </ul></div></nav>
  <div class="row" style="margin-top: 120px">Invoice 7 <span tabindex="0" role="button">Open</span>
    <span class="tools"><button onclick="tell('deleted 7')">Delete</button></span></div>
  <div class="late" id="late"><button>Account</button><div>
    <button onclick="tell('signed out')">Sign out</button></div></div>
  <p>Far from all of them</p><button>Elsewhere</button>
  <script>
    late.onmouseenter = () => setTimeout(() => late.classList.add('open'), 100);
    late.onmouseleave = () => late.classList.remove('open');
  </script>`,
);

const feed = page(
  'Feed',
  `<main id="posts"></main><p id="end">Loading</p><script>
    let n = 0, busy = false;
    async function more() {
      if (busy || n >= 200) return;
      busy = true;
      await fetch('/next');
      for (const last = n + 25; n < last; n++)
        posts.insertAdjacentHTML('beforeend', '<article style="height: 90px"><h2>Post ' + (n + 1) +
          '</h2><button onclick="tell(\\'liked ' + (n + 1) + '\\')">Like ' + (n + 1) + '</button></article>');
      if (n >= 200) end.textContent = 'That is all';
      busy = false;
    }
    new IntersectionObserver((seen) => seen[0].isIntersecting && more()).observe(end);
    addEventListener('scroll', () => innerHeight + scrollY > document.body.scrollHeight - 50 && more());
  </script>`,
);

const rows = page(
  'Rows',
  `<div id="list" style="height: 200px; overflow: auto">
    <div id="room" style="height: 150000px; position: relative"></div></div>
  <script>
    let asked = 0;
    const draw = () => {
      const first = Math.floor(list.scrollTop / 30);
      room.innerHTML = Array.from({ length: 8 }, (_, i) => '<div style="position: absolute; top: ' + (first + i) * 30 +
        'px"><button onclick="tell(\\'row ' + (first + i) + '\\')">Row ' + (first + i) + '</button></div>').join('');
    };
    list.onscroll = () => { cancelAnimationFrame(asked); asked = requestAnimationFrame(draw); };
    draw();
  </script>`,
);

const moving = page(
  'Moving',
  `<style>
    @keyframes pulse { from { transform: scale(1) } to { transform: scale(1.15) } }
    #pulse { animation: pulse 0.4s infinite alternate; margin: 40px }
    #head { position: fixed; top: 0; left: 0; right: 0; height: 120px; background: white; border: 1px solid }
    #foot { position: fixed; bottom: 0; left: 0; right: 0; height: 120px; background: white; border: 1px solid }
    #cookies { position: fixed; inset: 0; background: #fffc }
  </style>
  <header id="head">A header that stays</header><footer id="foot">A footer that stays</footer>
  <div style="height: 200px"></div>
  <button id="pulse" onclick="tell('bought')">Buy now</button>
  <button onclick="setTimeout(cover, 50)">Show cookies</button>
  <div style="height: 1500px"></div><button onclick="tell('reached')">Under the header</button>
  <div style="height: 1500px"></div>
  <script>
    const cover = () => document.body.insertAdjacentHTML('beforeend',
      '<div id="cookies" role="dialog" aria-label="Cookies"><p>We use cookies.</p>' +
      '<button onclick="cookies.remove()">Only what is needed</button></div>');
  </script>`,
);

const search = page(
  'Search',
  `<style>#found div { cursor: pointer }</style>
  <label>City <input id="city" autocomplete="off"></label><div id="found"></div>
  <div id="note" contenteditable="true" role="textbox" aria-label="Note" style="min-height: 40px"></div>
  <div id="people"></div>
  <script>
    const all = ['Ghent', 'Geneva', 'Genoa', 'Graz', 'Berlin'];
    let wanted = 0;
    city.oninput = () => {
      const mine = ++wanted;
      setTimeout(() => {
        if (mine !== wanted) return;
        const words = city.value.toLowerCase();
        found.replaceChildren(...all.filter((one) => words !== '' && one.toLowerCase().startsWith(words)).map((one) => {
          const line = document.createElement('div');
          line.textContent = one;
          line.onmousedown = (event) => {
            event.preventDefault();
            city.value = one;
            found.replaceChildren();
            tell('chose ' + one);
          };
          return line;
        }));
      }, 80);
    };
    city.onblur = () => found.replaceChildren();
    note.oninput = () => {
      const asked = /@(\\w*)$/.exec(note.textContent)?.[1];
      people.replaceChildren();
      if (asked === undefined) return;
      people.innerHTML = '<ul role="listbox" aria-label="People">' + ['Ada', 'Alan', 'Grace']
        .filter((one) => one.toLowerCase().startsWith(asked))
        .map((one) => '<li role="option">' + one + '</li>').join('') + '</ul>';
    };
    note.onkeydown = (event) => {
      const first = people.querySelector('li');
      if (event.key === 'Enter' && first !== null) { event.preventDefault(); mention(first.textContent); }
    };
    people.onmousedown = (event) => { event.preventDefault(); mention(event.target.textContent); };
    const mention = (name) => {
      note.innerHTML = note.textContent.replace(/@\\w*$/, '') +
        '<span contenteditable="false" data-person>@' + name + '</span>\\u00a0';
      getSelection().selectAllChildren(note);
      getSelection().collapseToEnd();
      people.replaceChildren();
      tell('mentioned ' + name);
    };
  </script>`,
);

const choices = page(
  'Choices',
  `<style>
    .hidden input { display: none } .clear input { position: absolute; opacity: 0 }
    .dot input { position: absolute; width: 1px; height: 1px; overflow: hidden;
      clip: rect(0 0 0 0); clip-path: inset(50%) }
    .mark { display: inline-block; width: 14px; height: 14px; border: 1px solid }
    input:checked + .mark { background: black }
  </style>
  <form id="form">
    <label class="hidden"><input type="checkbox" name="terms"><span class="mark"></span> Terms</label>
    <label class="clear"><input type="checkbox" name="news"><span class="mark"></span> News</label>
    <label class="dot"><input type="radio" name="size" value="s"><span class="mark"></span> Small</label>
    <label class="dot"><input type="radio" name="size" value="l"><span class="mark"></span> Large</label>
    <label>From <input type="date" name="from" min="2026-01-01"></label>
    <label>At <input type="time" name="at" step="900"></label>
    <label>Month <input type="month" name="month"></label> <label>Week <input type="week" name="week"></label>
    <label>Ink <input type="color" name="ink"></label>
    <label>Price <input type="range" name="price" min="0" max="1" step="0.05" value="0"></label>
    <button>Send</button>
  </form>
  <open-select></open-select> <closed-select></closed-select>
  <script>
    form.onsubmit = (event) => { event.preventDefault(); tell(new URLSearchParams(new FormData(form))); };
    for (const mode of ['open', 'closed'])
      customElements.define(mode + '-select', class extends HTMLElement {
        connectedCallback() {
          const root = this.attachShadow({ mode });
          root.innerHTML = '<button role="combobox" aria-label="Fruit, ' + mode + '" aria-haspopup="listbox" ' +
            'aria-expanded="false" aria-controls="l">None</button><div id="l" role="listbox" hidden></div>';
          const [box, list] = root.children;
          const show = (on) => { box.setAttribute('aria-expanded', on); list.hidden = !on; };
          list.innerHTML = ['Apple', 'Pear', 'Plum'].map((one) => '<div role="option">' + one + '</div>').join('');
          box.onclick = () => setTimeout(() => show(list.hidden), 50);
          list.onclick = (event) => {
            box.textContent = event.target.textContent; show(false);
            tell(mode + ' ' + box.textContent);
          };
        }
      });
  </script>`,
);

const dialogs = page(
  'Dialogs',
  `<button onclick="box.returnValue = ''; box.showModal()">Rename</button>
  <dialog id="box"><form method="dialog"><label>New name <input id="name"></label>
    <button value="no" formnovalidate>Cancel</button><button value="yes">Apply</button></form></dialog>
  <details><summary>Details</summary><button onclick="tell('opened up')">Inside</button></details>
  <button popovertarget="pop">More options</button>
  <div id="pop" popover><button onclick="tell('popped')">Archive</button></div>
  <script>box.onclose = () =>
    tell(box.returnValue === 'yes' ? 'renamed ' + document.getElementById('name').value : 'as it was');</script>`,
);

const app = page(
  'App',
  `<nav><a href="/app/orders">Orders</a> <a href="/app/people">People</a></nav><main id="main">Home</main>
  <label>Comment <textarea id="comment"></textarea></label>
  <script>
    const show = async (path) => {
      main.textContent = 'Loading';
      await fetch('/next');
      setTimeout(() => { document.title = path.slice(5); main.innerHTML = '<h1>' + path.slice(5) + '</h1>'; }, 30);
    };
    document.addEventListener('click', (event) => {
      const link = event.target.closest('a');
      if (link === null) return;
      event.preventDefault();
      history.pushState({}, '', link.href);
      show(location.pathname);
    });
    addEventListener('popstate', () => show(location.pathname));
    let keys = '';
    document.addEventListener('keydown', (event) => {
      if (event.target === comment) {
        if (event.key === 'Enter' && event.ctrlKey) tell('sent ' + comment.value);
        return;
      }
      keys = (keys + event.key).slice(-2);
      if (keys === 'gi') tell('inbox');
      if (event.key === '/') { event.preventDefault(); comment.focus(); }
      if (event.code === 'KeyJ' && event.altKey && event.shiftKey) tell('next one');
    });
  </script>`,
);

const form = page(
  'Form',
  `<form action="/arrived"><label>Query <input name="q"></label><button>Search</button></form>`,
);
const arrived = page('Arrived', '<script>tell(location.search)</script><h1>Results</h1>');

const files = page(
  'Files',
  `<style>#zone { width: 300px; height: 80px; border: 1px dashed } #zone input { display: none }</style>
  <div id="zone"><input type="file" id="many" multiple>
    Drop files here, or <button onclick="many.click()">choose them</button></div>
  <button onclick="one.click()">Attach</button><input type="file" id="one" hidden>
  <script>
    const said = (how, list) => tell(how + ' ' + Array.from(list, (file) => file.name + ':' + file.size).join(' '));
    zone.ondragover = (event) => event.preventDefault();
    zone.ondrop = (event) => { event.preventDefault(); said('dropped', event.dataTransfer.files); };
    many.onchange = () => said('chose', many.files);
    one.onchange = () => said('attached', one.files);
  </script>`,
);

/** The pages, by their paths. */
export const everyday = {
  menus,
  feed,
  rows,
  moving,
  search,
  choices,
  dialogs,
  app,
  form,
  arrived,
  files,
  next: 'more',
};
