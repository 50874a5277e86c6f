// Permissions of Chrome that a call has needed.
import type { Capability } from '../../panel/capability.ts';
import { Asked } from '../../panel/needed.tsx';
import { useMissing } from '../../panel/permissions.ts';

const texts = {
  cookies: {
    why: 'An agent wants to use browser__cookies: to see, set and remove cookies of the sites you let it.',
    label: 'Allow cookies',
  },
  downloads: {
    why: 'An agent wants to use browser__downloads: to see what was downloaded from the sites you let it.',
    label: 'Allow downloads',
  },
} as const;

function Needed() {
  const [list, turn] = useMissing();
  return (
    <>
      {list.map(({ permission, blocked }) => (
        <Asked
          key={permission}
          {...texts[permission]}
          blocked={blocked}
          onTurn={(on) => turn(permission, on)}
        />
      ))}
    </>
  );
}

export const devtools: Capability = { AboveActing: Needed };
