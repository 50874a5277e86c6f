// How a person gets tabrelay onto this computer: one line for each system, this one's first.
import { Copyable } from './pieces.tsx';

interface Way {
  system: string;
  line: string;
  needs: string;
}

const linux: Way = {
  system: 'Linux',
  line: 'npx tabrelay up',
  needs: 'Needs Node 18 or newer. There are also packages for Debian and Fedora.',
};
const macOS: Way = {
  system: 'macOS',
  line: 'brew install --cask tabrelay/tap/tabrelay && tabrelay up',
  needs: 'Needs Homebrew. With Node 18 or newer, “npx tabrelay up” does the same.',
};
const windows: Way = {
  system: 'Windows',
  line: 'winget install tabrelay.tabrelay',
  needs:
    'Then open a new terminal and run “tabrelay up”. With Node 18 or newer, “npx tabrelay up” does both.',
};
const ways = [linux, macOS, windows];

/** The way for the system of this browser; of one that is none of the three, that of Linux. */
export function wayOf(platform: string): Way {
  if (/^win/i.test(platform)) return windows;
  if (/^mac/i.test(platform)) return macOS;
  return linux;
}

const Line = ({ way }: { way: Way }) => (
  <>
    <Copyable text={way.line} name={`The line for ${way.system}`} />
    <p class="quiet">{way.needs}</p>
  </>
);

export function Ways() {
  const own = wayOf(navigator.platform);
  return (
    <>
      <p>Open a terminal on this computer ({own.system}), paste this line and press Enter:</p>
      <Line way={own} />
      <details>
        <summary>Another system</summary>
        {ways
          .filter((way) => way !== own)
          .map((way) => (
            <div key={way.system}>
              <h4>{way.system}</h4>
              <Line way={way} />
            </div>
          ))}
      </details>
    </>
  );
}
