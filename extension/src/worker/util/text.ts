const maxText = 80;

/** Plain words: one line, without control and direction characters, at most so long. */
export function plain(text: string, most = maxText): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}
