// Shows the counter as it is now, so that a person sees what the agent did without reloading.
const shown = document.querySelector('#count');

async function refresh() {
  if (document.hidden) return;
  const response = await fetch('/api/counters/demo');
  if (response.ok) shown.textContent = String((await response.json()).value);
}

setInterval(refresh, 1000);
document.addEventListener('visibilitychange', refresh);
