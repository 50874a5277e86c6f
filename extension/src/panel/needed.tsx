// Permissions of Chrome that a call has needed: shown until the person gives them or turns them down.
import { isApprovals } from './answers.ts';
import { useAnswer } from './hooks.ts';
import { useMissing, useOffer } from './permissions.ts';

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

interface AskedProps {
  why: string;
  label: string;
  onTurn: (on: boolean) => void;
}

const Asked = ({ why, label, onTurn }: AskedProps) => (
  <section class="permission" aria-label={label}>
    <p>{why}</p>
    <div class="buttons">
      <button type="button" class="small" onClick={() => onTurn(false)}>
        No, thanks
      </button>
      <button type="button" class="small primary" onClick={() => onTurn(true)}>
        {label}
      </button>
    </div>
  </section>
);

export function Needed() {
  const [list, turn] = useMissing();
  return (
    <>
      {list.map((permission) => (
        <Asked key={permission} {...texts[permission]} onTurn={(on) => turn(permission, on)} />
      ))}
    </>
  );
}

/** Offered with the first question: nobody sees the number on an icon in time. */
export function NotificationOffer() {
  const { value } = useAnswer('approvals', isApprovals);
  const asked = value !== undefined && value.approvals.length + value.missed.length > 0;
  const [open, turn] = useOffer(asked);
  if (!open) return null;
  return (
    <Asked
      why="A question waits less than a minute. Chrome can show it as a notification while this panel is closed."
      label="Turn on notifications"
      onTurn={turn}
    />
  );
}
