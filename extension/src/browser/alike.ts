// Elements that style sheets cannot tell apart, but for their place among siblings: of the same tag and class, in
// parents that are alike. Pages of ten thousand elements have a hundred kinds of them, and what is asked of the style
// of one need not be asked of all.
import { attribute, attributes, holder, tag } from './dom.ts';
import { Kind, known } from './moment.ts';

// Attributes that hardly any style sheet asks for.
const silent = new Set('href src srcset for datetime colspan rowspan'.split(' '));

/** The kind of an element; of its own where it has a style or an id of its own. */
export function kindOf(element: Element): Kind {
  const about = known(element);
  if (about.kind === undefined) {
    const around = holder(element);
    about.kind = around === undefined ? new Kind() : kindIn(kindOf(around), element);
  }
  return about.kind;
}

function kindIn(around: Kind, element: Element): Kind {
  let key = tag(element);
  for (const name of attributes(element)) {
    if (name === 'id' || name === 'style') return new Kind();
    if (!silent.has(name)) key += ` ${name}=${attribute(element, name)}`;
  }
  let kind = around.inside.get(key);
  if (kind === undefined) {
    kind = new Kind();
    around.inside.set(key, kind);
  }
  return kind;
}
