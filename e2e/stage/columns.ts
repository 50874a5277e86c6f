// Reads the tables of a look as an agent does: what a row has to act on that is only a reference is called as in the
// row above.

const row = /^ *row(?: "(?:[^"\\]|\\.)*")?(?: \[(?:f\d+)?e\d+\])?(?: [a-z]+)*: /;
const between = /("(?:[^"\\]|\\.)*")| \| /g;
const thing = /(?:(?<=^| )([a-z][a-z0-9]*(?: "(?:[^"\\]|\\.)*")?) |(?<=^|["\]] ))(\[(?:f\d+)?e\d+\])/g;

/** The lines of a look with everything in rows called by its role and name. */
export function inFull(look: string): string {
  let above: string[][] = [];
  return look
    .split('\n')
    .map((line) => {
      const [head] = row.exec(line) ?? [];
      if (head === undefined) {
        above = [];
        return line;
      }
      const names: string[][] = [];
      const cells = cellsOf(line.slice(head.length)).map((cell, column) => {
        const called: string[] = [];
        names.push(called);
        return cell.replaceAll(thing, (_, name: string | undefined, ref: string) => {
          const full = name ?? above[column]?.[called.length] ?? '';
          called.push(full);
          return `${full} ${ref}`;
        });
      });
      above = names;
      return head + cells.join(' | ');
    })
    .join('\n');
}

// The marks between cells are not those in quotes.
const cellsOf = (text: string): string[] =>
  text.replaceAll(between, (all, quoted?: string) => (quoted === undefined ? '\n' : all)).split('\n');
