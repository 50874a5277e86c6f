// What is read of a page, and how much of it.

/** What a reader is asked; each uses what it understands. */
export interface Reading {
  offset: number; // entries or characters that were answered before
  limit: number; // entries
  maxChars: number;
  valueChars: number; // of what a field holds
  links: boolean; // where the links of an article lead
  contains: string; // words in a link or its address
  index?: number | undefined; // of a table
  caption?: string | undefined;
  depth: number; // the lowest level of a heading
  minSize: number; // of a picture, in pixels
}

/** How large an answer may be, in bytes; undefined where the relay does not say. */
export interface Room {
  maxBytes?: number | undefined;
  isSecret?: (field: Element) => boolean; // what else stays in the page
}
