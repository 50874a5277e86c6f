// Offers of Chrome permissions, shown until the person grants or declines them.
import { isApprovals } from './answers.generated.ts';
import { useAnswer } from './hooks.ts';
import { blockedWords, useOffer } from './permissions.ts';

interface AskedProps {
  why: string;
  label: string;
  onTurn: (on: boolean) => void;
  /** A policy of the browser does not let the person turn it on. */
  blocked?: boolean;
}

export const Asked = ({ why, label, onTurn, blocked = false }: AskedProps) => (
  <section class="permission" aria-label={label}>
    <p>{why}</p>
    {blocked && <p role="status">{blockedWords}</p>}
    <div class="buttons">
      <button type="button" class="small" onClick={() => onTurn(false)}>
        {blocked ? 'OK' : 'No, thanks'}
      </button>
      {!blocked && (
        <button type="button" class="small primary" onClick={() => onTurn(true)}>
          {label}
        </button>
      )}
    </div>
  </section>
);

/** Offered from the first question on: the badge of the icon alone is easily missed. */
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
