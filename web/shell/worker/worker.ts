/**
 * Keeps the documents and files of the pages, so that they open without a network and say that they are offline. What the graph or a route
 * answers is never kept: every other address goes to the network as if this were not here. Push messages of the platform are shown, and lead
 * to what they are about.
 */
interface Fetching extends Event {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Pushed extends Lasting {
  readonly data: { json(): unknown } | null
}
interface Pressed extends Lasting {
  readonly notification: { readonly data: unknown; close(): void }
}
declare const skipWaiting: () => Promise<void>
declare const clients: { claim(): Promise<void>; openWindow(url: string): Promise<unknown> }
declare const registration: { showNotification(title: string, options: { readonly tag: string; readonly data: unknown }): Promise<void> }

const [files, documents] = ['supergraph.files', 'supergraph.documents']
/** How many files, and how many documents, are kept: of more the oldest go. */
const maxKept = 200

/** Keeps an answer where the browser has space for it: without it the page is there all the same. */
async function keepAnswer(name: string, key: RequestInfo, answer: Response): Promise<void> {
  try {
    const cache = await caches.open(name)
    await cache.put(key, answer)
    const kept = await cache.keys()
    for (const old of kept.slice(0, Math.max(0, kept.length - maxKept))) await cache.delete(old)
  } catch {}
}

addEventListener('install', () => void skipWaiting())
addEventListener('activate', event => (event as Lasting).waitUntil(clients.claim()))
addEventListener('fetch', event => {
  const { request } = event as Fetching
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (pathname.startsWith('/assets/')) (event as Fetching).respondWith(file(request))
  else if (request.mode === 'navigate' && !/\/(?:login|callback)$/.test(pathname)) (event as Fetching).respondWith(shell(request))
})

addEventListener('push', event => (event as Pushed).waitUntil(show((event as Pushed).data?.json())))
addEventListener('notificationclick', event => {
  const { notification } = event as Pressed
  notification.close()
  ;(event as Pressed).waitUntil(clients.openWindow(String(notification.data)))
})

/** Shows a message of the platform; the same one again replaces what is shown of it. */
async function show(message: unknown): Promise<void> {
  const { id, title, url } = message as { readonly id: string; readonly title: string; readonly url: string }
  await registration.showNotification(title, { tag: id, data: url })
}

/** A file of the build never changes under its name. */
async function file(request: Request): Promise<Response> {
  const kept = await caches.match(request)
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok) await keepAnswer(files, request, answer.clone())
  return answer
}

/** A document comes from the network; without one the kept one of its address, which holds nothing of anybody. */
async function shell(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  try {
    const answer = await fetch(request)
    if (answer.ok && !answer.redirected && /^text\/html/.test(answer.headers.get('content-type') ?? '')) await keepAnswer(documents, pathname, answer.clone())
    return answer
  } catch (error) {
    const kept = await (await caches.open(documents)).match(pathname)
    if (kept) return kept
    throw error
  }
}
