// The service worker of the console. It shows a page while the server cannot be reached, and stores nothing but that page: the
// console and the answers of the API always come from the server, so that no update and no sign-out is missed.
const store = 'offline-1';
const page = '/console/offline';

addEventListener('install', (event) => {
  skipWaiting();
  event.waitUntil(caches.open(store).then((cache) => cache.add(new Request(page, { cache: 'reload' }))));
  try {
    // Browsers that can do so do not ask the worker about anything but pages.
    const rest = { condition: { not: { requestMode: 'navigate' } }, source: 'network' };
    event.waitUntil(Promise.resolve(event.addRoutes?.(rest)).catch(() => undefined));
  } catch {
    // An older browser asks, and gets no answer.
  }
});

addEventListener('activate', (event) => {
  const others = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== store).map((name) => caches.delete(name)));
  };
  event.waitUntil(others());
});

addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  event.respondWith(fetch(event.request).catch(async () => (await caches.match(page)) ?? Response.error()));
});
