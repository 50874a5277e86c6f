// Colours as people say them.

const greyish = 0.12; // saturation below which a colour is black, grey or white

const hues: readonly (readonly [upTo: number, word: string])[] = [
  [14, 'red'],
  [40, 'orange'],
  [68, 'yellow'],
  [165, 'green'],
  [195, 'turquoise'],
  [255, 'blue'],
  [290, 'purple'],
  [345, 'pink'],
  [360, 'red'],
];

/** A word for a colour as the browser computed it; '' for one that is not seen, or of another form. */
export function colourWord(colour: string): string {
  const [, ...parts] = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(colour) ?? [];
  const [red = 0, green = 0, blue = 0, alpha = 1] = parts.map((part) =>
    part === undefined ? 1 : Number(part),
  );
  if (parts.length === 0 || alpha < 0.05) return '';
  return wordOf(red / 255, green / 255, blue / 255);
}

function wordOf(red: number, green: number, blue: number): string {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  const lightness = (most + least) / 2;
  const range = most - least;
  if (range < greyish) return lightness > 0.95 ? 'white' : lightness < 0.12 ? 'black' : 'grey';
  const hue = hueOf([red, green, blue], most, range);
  const word = hues.find(([upTo]) => hue <= upTo)?.[1] ?? 'red';
  if (word === 'orange' && lightness < 0.4) return 'brown';
  return lightness > 0.8 ? `light ${word}` : lightness < 0.25 ? `dark ${word}` : word;
}

function hueOf([red, green, blue]: readonly [number, number, number], most: number, range: number): number {
  const sixth =
    most === red
      ? (green - blue) / range
      : most === green
        ? 2 + (blue - red) / range
        : 4 + (red - green) / range;
  return (sixth * 60 + 360) % 360;
}
