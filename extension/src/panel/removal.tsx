// Removes a plugin that the person added, after saying what is lost and whether one of its calls is running.
import { announce } from './announcer.tsx';
import { isRunning, type Plugin } from './answers.generated.ts';
import { useAct, useAnswer } from './hooks.ts';
import { ConfirmButton, Failed } from './pieces.tsx';
import { clipped, plural } from './words.ts';

function losses({ tools, settings, folder }: Plugin, running: number): string {
  const lost = [
    tools.length > 0 && `Agents lose its ${plural(tools.length, 'tool')} at once.`,
    running > 0 &&
      `${plural(running, 'call')} of it that ${running === 1 ? 'runs' : 'run'} now will be cancelled.`,
    settings ? 'Its settings are deleted.' : '',
    folder ? `Your folder ${clipped(folder, 200)} stays.` : 'Its files are deleted.',
    'What you allowed for it without asking ends; rules that ask or forbid stay.',
  ];
  return lost.filter(Boolean).join(' ');
}

export function Remove({ plugin }: { plugin: Plugin }) {
  const act = useAct();
  const calls = useAnswer('running', isRunning).value?.calls ?? [];
  const names = new Set(plugin.tools.map(({ name }) => name));
  const running = calls.filter(({ tool }) => names.has(tool)).length;
  const title = clipped(plugin.title || plugin.name, 80);
  const remove = async () => {
    if (!(await act.run('DELETE', `plugins/${encodeURIComponent(plugin.name)}`))) return;
    announce(`${title} is removed.`);
    document.getElementById('tab-plugins')?.focus();
  };
  return (
    <>
      <ConfirmButton
        label="Remove"
        name={`Remove ${title}`}
        question={`Remove ${title}? ${losses(plugin, running)}`}
        yes="Remove"
        disabled={act.busy}
        onYes={() => void remove()}
      />
      <Failed act={act} />
    </>
  );
}
