// Writes the lines of a page, one for each thing: what is displayed, by role and name, and what can be acted on.
import { shownOnHover } from './act/hovering.ts';
import { areasOf, attribute, content, has, hasSome, line, matches, tag, within } from './dom.ts';
import {
  adjoin,
  drawsKeys,
  isCutOff,
  isDrawn,
  isDrawnBeside,
  isMovedAway,
  isReplaced,
  isScroller,
  isSeen,
  isShown,
  mayStandApart,
  pointer,
  rendered,
  visible,
} from './drawn.ts';
import { wordsAround } from './generated.ts';
import { isHidden, isHiddenText, isHiddenThing, isVaried, type Keeper } from './kept.ts';
import {
  containers,
  holdsAll,
  holdsThings,
  inlineTags,
  isWhole,
  onlyLabelled,
  onlyNamed,
  skipped,
} from './kinds.ts';
import type { Line, Options, Part } from './lines.ts';
import { onScreen, type Told } from './longlists.ts';
import { isPage } from './moment.ts';
import { labelOf, nameOf } from './names.ts';
import { reference, referenceOf, remember } from './references.ts';
import { isDataTable, textFields } from './roles.ts';
import { sayState } from './states.ts';
import {
  isPartOf,
  isPlaceOf,
  namesAField,
  roleWord,
  sayThing,
  type Thing,
  thingName,
  thingOf,
} from './things.ts';
import { named, saysAlready, sayText } from './words.ts';

interface Piece {
  text: string; // of the page when quoted is missing
  thing?: Element; // whose words these are; missing for text
  inline: boolean; // may stand within a sentence
  ref?: string;
  parts?: Part[]; // of a text: what stands where
  more?: string; // that is said behind it
}

const fields = new Set(['input', 'select', 'textarea']);
const deepest = 300; // elements in elements, before the stack is too small

/** What is written later, because it is nested too deeply. */
export interface Deep {
  element: Element;
  around: string;
}

export class Writer {
  readonly lines: Line[] = [];
  readonly #options: Options;
  readonly #root: Element | undefined;
  readonly #keeper: Keeper | undefined;
  readonly #deep: Deep[];
  #depth = 0;
  #level = 0; // of elements in elements, as opposed to lines in lines
  #run: Piece[] = [];
  #owner: Element | undefined; // of the run
  #muted = 0; // within words that were said already
  #inRow = false;

  constructor(options: Options, root: Element | undefined, keeper: Keeper | undefined, deep: Deep[] = []) {
    this.#options = options;
    this.#root = root;
    this.#keeper = keeper;
    this.#deep = deep;
  }

  /** Everything of an element; cursor is the one over what it stands in. */
  visit(element: Element, around: string): void {
    const name = tag(element);
    if (this.#options.time?.ended() === true) return;
    if (skipped.has(name) || element === globalThis.tabrelayMark) return;
    if (hasSome(element) && (isAriaHidden(element) || has(element, 'inert'))) return;
    if (this.#level >= deepest) {
      this.#defer(element, around);
      return;
    }
    this.#level++;
    const keeper = this.#muted > 0 || inlineTags.has(name) ? undefined : this.#keeper;
    const kept = keeper?.of(element, around, this.#depth);
    if (kept !== undefined) {
      this.flush();
      for (const one of kept) this.lines.push(one);
    } else if (keeper === undefined) this.#write(element, name, around);
    else {
      this.flush();
      keeper.keep(element, around, this.#depth, this.lines, () => this.#write(element, name, around));
    }
    this.#level--;
  }

  #defer(element: Element, around: string): void {
    if (this.#options.everything === true) this.#deep.push({ element, around });
    else if (rendered(element)) {
      this.flush();
      const ref = reference(element);
      this.#line(`… more, nested very deeply [${ref}]`, element, ref);
    }
  }

  #write(element: Element, name: string, around: string): void {
    if (isVaried(element, name)) this.#keeper?.vary();
    if (!isDrawn(element)) this.#keeper?.pass(element, isHidden);
    if (!rendered(element)) {
      this.#standIn(element);
      return;
    }
    const cursor = pointer(element);
    if (!visible(element)) {
      this.#children(element, cursor); // what is in it can be visible again
      return;
    }
    const inline = inlineTags.has(name);
    const boxed = inline && this.#run.length > 0 && mayStandApart(element);
    if (boxed && !adjoin(element.previousSibling, element)) this.#part();
    if (!inline) this.flush();
    this.#describe(element, thingOf(element, cursor, around), cursor);
    if (boxed && !adjoin(element, element.nextSibling)) this.#part();
    if (!inline) this.flush();
  }

  // What is drawn as a box is no part of the word before it, or behind it.
  #part(): void {
    const last = this.#run.at(-1);
    if (last !== undefined && last.thing === undefined && !last.text.endsWith(' ')) last.text += ' ';
  }

  #describe(element: Element, thing: Thing, cursor: string): void {
    const { role } = thing;
    if (role === 'iframe') this.#frame(element, thing);
    else if (role === 'heading' && !thing.acts) this.#together(roleWord(thing), element, cursor);
    else if (role === 'row') this.#row(element, thing, cursor);
    else if ((role === 'table' && !isDataTable(element)) || role === 'rowgroup')
      this.#children(element, cursor);
    else if (thing.acts) this.#operable(element, thing, cursor);
    else if (role === 'img') this.#picture(element, thing, cursor);
    else if (tag(element) === 'math') this.#formula(element);
    else if (isWhole(role, element)) this.#push({ text: sayThing(thing), thing: element, inline: false });
    else if (containers.has(role) || (onlyLabelled.has(role) && labelOf(element) !== ''))
      this.#container(element, thing, cursor);
    else if (namesAField(element)) this.#mute(element, cursor);
    else if (isScroller(element) && !isPage(element)) this.#scroller(element, thing, cursor);
    else if (role !== 'separator') this.#children(element, cursor);
    if (has(element, 'usemap') && tag(element) === 'img') this.#areas(element);
  }

  // Parts of a picture that lead somewhere: they have no box of their own.
  #areas(picture: Element): void {
    this.#keeper?.vary();
    for (const area of areasOf(picture)) {
      if (!has(area, 'href') && !has(area, 'onclick')) continue;
      this.#push({
        text: sayThing({ element: area, role: 'link', acts: true }),
        thing: area,
        inline: true,
        ref: reference(area),
      });
    }
  }

  // Words that are said already; things among them are not.
  #mute(element: Element, cursor: string): void {
    this.#muted++;
    this.#children(element, cursor);
    this.#muted--;
  }

  // Something a person can act on.
  #operable(element: Element, thing: Thing, cursor: string): void {
    const { role } = thing;
    // Editors take their text in through a dot, and what a button opens is often a field in one.
    const field = textFields.has(role) || isVaried(element, tag(element));
    const unused =
      (textFields.has(role) || role === 'listbox') && fields.has(tag(element)) && isReplaced(element);
    if (!isSeen(element) || unused || (isCutOff(element) && !field)) {
      this.#keeper?.pass(element, isHiddenThing);
      return;
    }
    const inline = role === 'link' || (inlineTags.has(tag(element)) && (role === '' || role === 'img'));
    const drawing = tag(element) === 'svg'; // what is drawn in it can be acted on by itself
    const whole = holdsAll(role);
    const holds = holdsThings(role, element);
    const below = (holds ? this.#below(element, cursor) : []).filter((one) => !isPartOf(thing, one));
    const refs = below.filter((one) => one.ref !== undefined || / \[(?:f\d+)?e\d+\]/.test(one.text));
    const [only] = refs;
    if (refs.length === 1 && only !== undefined && isPlaceOf(thing, only.element)) {
      this.flush();
      this.lines.push(only);
      return;
    }
    const said = sayThing(thing, this.#options.mostOfValue);
    const ref = referenceOf(element);
    const all = whole || (refs.length > 0 && (drawing || thingName(thing).length > 160));
    const told = all ? below : below.filter((one) => refs.includes(one) || !saysAlready(said, one.text));
    if (refs.length === 0 && told.length < 2 && !whole) {
      const text = [said, ...told.map((one) => one.text)].join(': ');
      this.#push({ text, thing: element, inline, ...(ref !== undefined && { ref }) });
      return;
    }
    this.flush();
    this.#line(said, element, ref);
    for (const one of told) {
      const text = refs.includes(one) ? withoutSaid(one.text, said) : one.text;
      this.lines.push({ ...one, text, depth: one.depth + 1 });
    }
  }

  // The lines of what is in an element, on their own.
  #below(element: Element, cursor: string): Line[] {
    const inner = new Writer(this.#options, this.#root, this.#keeper, this.#deep);
    inner.#depth = this.#depth;
    inner.#level = this.#level;
    inner.#inRow = this.#inRow;
    inner.#children(element, cursor);
    inner.flush();
    // They become a part of its line, or of one around it.
    for (const one of inner.lines) if (one.element !== element) this.#keeper?.include(one.element);
    return inner.lines;
  }

  // Something that holds others.
  #container(element: Element, thing: Thing, cursor: string): void {
    const { role } = thing;
    const name = role === 'tooltip' ? '' : nameOf(element); // which would be all that stands in it
    this.flush();
    if (onlyNamed.has(role) && name === '') {
      if (isScroller(element)) this.#scroller(element, thing, cursor);
      else this.#children(element, cursor);
      return;
    }
    const scrolls = isScroller(element);
    const ref = scrolls ? reference(element) : undefined;
    if (scrolls) this.#keeper?.vary();
    const at = this.lines.length;
    const modality =
      attribute(element, 'aria-modal') === 'true' || (role === 'dialog' && matches(element, ':modal'));
    let said = role;
    if (name !== '') said += ` ${named(name)}`;
    if (ref !== undefined) {
      remember(ref, said);
      said += ` [${ref}] scrolls`;
    }
    if (modality) said += ' modal';
    this.#line(`${said}${sayState(thing)}`, element, ref);
    this.#depth++;
    this.#children(element, cursor);
    this.flush();
    this.#depth--;
    this.#shorten(at, name);
    const head = this.lines[at];
    if (modality && head !== undefined) this.lines[at] = { ...head, modal: true };
  }

  // A container with one line in it becomes that line; one with none is left out, unless it has a name.
  #shorten(at: number, name: string): void {
    const [head, only] = this.lines.slice(at);
    if (head === undefined) return;
    if (only === undefined) {
      if (name === '' || this.#options.interactive === true) this.lines.pop();
      return;
    }
    if (this.lines.length - at > 2) return;
    if (name !== '' && only.text === named(name)) {
      this.#keeper?.include(only.element);
      this.lines.pop();
    } else if (only.frame !== true) {
      this.lines.length = at;
      this.#keeper?.include(head.element);
      this.lines.push({ ...only, depth: head.depth, text: `${head.text}: ${only.text}` });
    }
  }

  #scroller(element: Element, thing: Thing, cursor: string): void {
    this.#keeper?.vary();
    this.flush();
    const at = this.lines.length;
    const ref = reference(element);
    const name = nameOf(element);
    const word = thing.role === '' || thing.role === 'paragraph' ? 'area' : thing.role;
    const said = `${word}${name === '' ? '' : ` ${named(name)}`}`;
    remember(ref, said);
    this.#line(`${said} [${ref}] scrolls`, element, ref);
    this.#depth++;
    this.#children(element, cursor);
    this.flush();
    this.#depth--;
    if (this.lines.length === at + 1) this.lines.pop();
  }

  // Words and the things among them on one line: a heading, a cell.
  #together(word: string, element: Element, cursor: string): void {
    const pieces = this.#pieces(element, cursor);
    const said = pieces === '' ? named(nameOf(element)) : withLabel(labelOf(element), pieces, ': ');
    if (said === '""' || (this.#options.interactive === true && !said.includes('['))) return;
    this.flush();
    this.#line(`${word} ${said}`, element);
  }

  #pieces(element: Element, cursor: string): string {
    return this.#below(element, cursor)
      .map(({ text }) => text)
      .join(' ');
  }

  #row(element: Element, thing: Thing, cursor: string): void {
    this.flush();
    const cells: string[] = [];
    let alone = false; // things of a row that is none stand for themselves
    this.#inRow = true;
    this.#keeper?.enter(element);
    for (const cell of content(element)) {
      if (typeof cell === 'string') continue;
      if (!rendered(cell) || attribute(cell, 'aria-hidden') === 'true') continue;
      const role = attribute(cell, 'role');
      if (!/^t[dh]$/.test(tag(cell)) && !/cell|header/.test(role ?? '')) alone = true;
      const over = pointer(cell);
      const one = thingOf(cell, over, cursor);
      const below = this.#below(cell, over);
      const inner = below.map(({ text }) => text).join(' ');
      const [only] = below;
      const isPlace = below.length === 1 && only?.ref !== undefined && isPlaceOf(one, only.element);
      const sorts = has(cell, 'aria-sort'); // by itself, or by what has its name in it
      if (!one.acts || !isSeen(cell) || (sorts && inner.includes(`${named(thingName(one))} [`)))
        cells.push(withLabel(labelOf(cell), inner, ' ', one.role) + (sorts ? sayState(one) : ''));
      else if (isPlace) cells.push(inner);
      else {
        const said = sayThing(one);
        cells.push(inner.includes(' [') || !saysAlready(said, inner) ? `${said} ${inner}` : said);
      }
    }
    this.#keeper?.leave(element);
    this.#inRow = false;
    while (cells.at(-1) === '') cells.pop();
    if (this.#options.interactive === true && !thing.acts && !cells.some((cell) => cell.includes('[')))
      return;
    if (cells.length === 0 && !thing.acts) return;
    if (alone && cells.length <= 1 && !thing.acts) {
      this.#children(element, cursor);
      return;
    }
    const own = thing.acts || attribute(element, 'aria-selected') === 'true';
    const away = waiting(element);
    const ref = thing.acts || away > 0 ? reference(element) : undefined;
    const more = away > 0 ? ` (${away} more on hover)` : '';
    const all = cells.join(' | ');
    const name = labelOf(element);
    const label = name === '' || saysAlready(all, named(name)) ? '' : ` ${named(name)}`;
    const head = `row${label}${ref === undefined ? '' : ` [${ref}]`}${own ? sayState(thing) : ''}`;
    this.#line(`${head}: ${all}${more}`, element, ref);
  }

  #picture(element: Element, thing: Thing, cursor: string): void {
    const name = nameOf(element);
    if (name !== '' && this.#options.interactive !== true && !this.#isSaid(name))
      this.#push({ text: `img ${named(name)}`, thing: element, inline: true });
    if (tag(element) === 'svg' || attribute(element, 'role') === null) this.#children(element, cursor);
    else if (thing.role === 'img' && tag(element) !== 'img') return;
  }

  #formula(element: Element): void {
    const name = nameOf(element);
    if (name === '' || this.#muted > 0 || this.#options.interactive === true) return;
    if (isShown(element) || isDrawnBeside(element))
      this.#push({ text: `math ${sayText(name)}`, thing: element, inline: true });
    else if (isDrawn(element)) this.#keeper?.pass(element, isHiddenText);
  }

  #frame(element: Element, thing: Thing): void {
    this.#keeper?.vary();
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return;
    this.flush();
    const name = thingName({ ...thing, acts: false });
    const ref = reference(element);
    this.lines.push({
      depth: this.#depth,
      text: `frame${name === '' ? '' : ` ${named(name)}`} [${ref}]`,
      element,
      ref,
      frame: true,
    });
  }

  // How much in an element is displayed only while the pointer is over it, behind what it says itself. A row counts its
  // own, and of what is not displayed what is around it.
  #onHover(element: Element, nodes: readonly (Element | string)[]): void {
    if (this.#muted > 0 || this.#inRow || !visible(element)) return;
    const away = nodes.filter((one) => typeof one !== 'string' && isOnHover(one));
    const [first] = away;
    if (first === undefined || typeof first === 'string') return;
    const count = away.reduce(
      (sum, one) => sum + (typeof one === 'string' ? 0 : Math.max(1, within(one, hoverItems).length)),
      0,
    );
    const said = `(${count} more on hover)`;
    const last = this.#run.at(-1);
    const before = this.lines.at(-1);
    if (last !== undefined) last.more = said;
    else if (before !== undefined && element.contains(before.element))
      this.lines[this.lines.length - 1] = { ...before, text: `${before.text} ${said}` };
  }

  // What is not displayed itself, and is there by something else: a field for files that a button opens.
  #standIn(element: Element): void {
    if (!(element instanceof HTMLInputElement) || element.type === 'hidden') return;
    const label = Array.from(element.labels ?? []).find((one) => visible(one));
    if (label !== undefined || element.type !== 'file') return;
    this.#push({
      text: `${sayThing({ element, role: 'file', acts: true })} hidden`,
      thing: element,
      inline: false,
    });
  }

  #children(element: Element, cursor: string): void {
    const nodes = content(element);
    this.#keeper?.enter(element);
    const told = this.#options.everything === true ? undefined : onScreen(element, nodes, this.#root);
    const [before, after] = wordsAround(element);
    if (before !== '') this.#text(before, element);
    for (const node of nodes) {
      if (typeof node === 'string') this.#text(node, element);
      else {
        if (told !== undefined && !told.items.has(node)) continue;
        this.visit(node, cursor);
      }
    }
    if (after !== '') this.#text(after, element);
    this.#onHover(element, nodes);
    if (told !== undefined && this.#options.interactive !== true) this.#count(element, told);
    this.#keeper?.leave(element);
  }

  #text(text: string, element: Element): void {
    if (this.#muted > 0 || this.#options.interactive === true) return;
    const words = line(text);
    const last = this.#run.at(-1);
    if (words === '') {
      if (last !== undefined && last.thing === undefined && !last.text.endsWith(' ')) last.text += ' ';
      return;
    }
    if (!isShown(element)) {
      if (isDrawn(element)) this.#keeper?.pass(element, isHiddenText);
      return;
    }
    if (element instanceof HTMLDetailsElement && !element.open) return;
    this.#own(element);
    if (last?.parts !== undefined) {
      if (last.parts.at(-1)?.element !== element) last.parts.push({ element, from: last.text.length });
      last.text += /^\s/.test(text) || / $/.test(last.text) ? ` ${words}` : words;
    } else this.#run.push({ text: words, inline: true, parts: [{ element, from: 0 }] });
    const end = this.#run.at(-1);
    if (end?.thing === undefined && end !== undefined && /\s$/.test(text)) end.text += ' ';
  }

  #push(piece: Piece): void {
    if (!piece.inline) this.flush();
    if (piece.thing !== undefined) this.#own(piece.thing);
    this.#run.push(piece);
    if (!piece.inline) this.flush();
  }

  // A line is that of the first whose words it has.
  #own(element: Element): void {
    this.#owner ??= element;
    if (this.#owner !== element) this.#keeper?.include(element);
  }

  #isSaid(name: string): boolean {
    return (
      this.#run.some(({ text }) => text.includes(name)) ||
      (this.lines.at(-1)?.text.includes(named(name)) ?? false)
    );
  }

  #line(text: string, element: Element, ref?: string): void {
    this.lines.push({ depth: this.#depth, text, element, ...(ref !== undefined && { ref }) });
  }

  /** Ends the line of text there is. */
  flush(): void {
    const run = this.#run;
    const owner = this.#owner;
    this.#run = [];
    this.#owner = undefined;
    if (run.length === 0 || owner === undefined) return;
    if (!run.some(({ thing }) => thing === undefined)) {
      for (const piece of run) this.#piece(piece, owner);
      return;
    }
    const said = run.map((piece) => this.#said(piece));
    const [only] = run;
    if (run.length === 1 && only !== undefined) this.#piece(only, owner);
    else this.#line(said.join(' '), owner);
  }

  #said({ text, thing, more }: Piece): string {
    const said = thing === undefined ? this.#quoted(text) : text;
    return more === undefined ? said : `${said} ${more}`;
  }

  #quoted(text: string): string {
    return sayText(text, this.#options.everything === true || this.#options.mostOfValue !== undefined);
  }

  // One piece of a run on a line of its own.
  #piece(piece: Piece, owner: Element): void {
    const { thing, ref, parts = [] } = piece;
    this.#line(this.#said(piece), thing ?? parts[0]?.element ?? owner, ref);
    const said = this.lines.at(-1);
    if (said !== undefined && parts.length > 1) said.parts = parts;
  }

  #count(element: Element, { others }: Told): void {
    this.#keeper?.vary();
    this.flush();
    const ref = reference(element);
    this.#line(`… ${others} more, not on the screen [${ref}]`, element, ref);
  }
}

const text = /(?<=^|\] |" )("(?:[^"\\]|\\.)*")(?: |$)/g;

// A line of things without the words among them that the line above has.
function withoutSaid(line: string, above: string): string {
  const left = line.replaceAll(text, (part, words: string) => (saysAlready(above, words) ? '' : part));
  return left.trim() === '' ? line : left.trim();
}

// The words in something with a label: the label before them where one of both says more than the other.
function withLabel(label: string, words: string, between: string, role = ''): string {
  if (label === '' || saysAlready(words, named(label))) return words;
  const said = role === '' ? named(label) : `${role} ${named(label)}`;
  return !words.includes(' [') && saysAlready(said, words) ? said : `${said}${between}${words}`;
}

const isAriaHidden = (element: Element): boolean =>
  attribute(element, 'aria-hidden') === 'true' && !drawsKeys(element);

const hoverItems = 'a[href], button, [role=button], [role=menuitem], li';
const isOnHover = (element: Element): boolean =>
  !(rendered(element) && visible(element)) && shownOnHover(element) && !isTip(element);
const isTip = (element: Element): boolean =>
  attribute(element, 'role') === 'tooltip' || /tool-?tip|\btip/i.test(attribute(element, 'class') ?? '');

// Links and buttons of a row that are outside of the page, or not displayed, until a pointer is over the row.
const waiting = (row: Element): number =>
  within(row, 'a[href], button').filter((one) => isMovedAway(one) || (!visible(one) && shownOnHover(one)))
    .length;
