// Pages of 12,000 elements, of the kinds that people meet.

const page = (title: string, body: string): string =>
  `<!doctype html><title>${title}</title><style>
  .card { border: 1px solid #ccc; margin: 4px; padding: 4px; display: inline-block; width: 200px }
  .open { cursor: pointer }
</style><h1>${title}</h1><p><button id="act" onclick="out.textContent = Number(out.textContent) + 1">Act</button>
<output id="out">0</output></p>${body}`;

const many = (count: number, one: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => one(n)).join('');

/** The pages, by their names. */
export const largePages: Record<string, string> = {
  cards: page(
    'Cards',
    `<div id="cards">${many(
      1500,
      (n) =>
        `<div class="card"><h3>Card ${n}</h3><p>Price <b>${n}</b> of <i>many</i></p><span class="note">note</span>
<a href="/card/${n}">More</a><button>Buy ${n}</button></div>`,
    )}</div>`,
  ),
  table: page(
    'Table',
    `<table><thead><tr><th>Name</th><th>Value</th><th>State</th><th></th></tr></thead><tbody>${many(
      1700,
      (n) =>
        `<tr><td>Row ${n}</td><td>${n}</td><td><span class="tag">open</span></td>
<td><a href="/row/${n}">Edit</a></td></tr>`,
    )}</tbody></table>`,
  ),
  nested: page(
    'Nested',
    many(
      400,
      (n) =>
        `<section><div><div class="open"><div><div><div><span>Title ${n}</span></div></div></div><div><ul>${many(
          5,
          (m) => `<li><div><span>Part ${m}</span> <a href="/part/${n}/${m}">Open</a></div></li>`,
        )}</ul></div></div></div></section>`,
    ),
  ),
  list: page(
    'List',
    `<ul>${many(3000, (n) => `<li><span>Item ${n}</span> <button>Take ${n}</button></li>`)}</ul>`,
  ),
};
