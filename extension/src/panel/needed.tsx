// Permissions of Chrome that a call has needed: shown until the person gives them or turns them down.
import { useMissing } from './permissions.ts';

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

export function Needed() {
  const [list, turn] = useMissing();
  return (
    <>
      {list.map((permission) => (
        <section key={permission} class="permission" aria-label={texts[permission].label}>
          <p>{texts[permission].why}</p>
          <div class="buttons">
            <button type="button" class="small" onClick={() => turn(permission, false)}>
              No, thanks
            </button>
            <button type="button" class="small primary" onClick={() => turn(permission, true)}>
              {texts[permission].label}
            </button>
          </div>
        </section>
      ))}
    </>
  );
}
