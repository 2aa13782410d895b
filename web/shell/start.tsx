import type { LocalizedString } from '@internationalized/string'
import { createRootRoute, createRoute, createRouter, Outlet, RouterProvider } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import { RouterProvider as AriaRouterProvider, I18nProvider } from 'react-aria-components'
import { createRoot } from 'react-dom/client'
import { type Client, Provider } from 'urql'
import { takeMover } from './address.tsx'
import { ShellContext } from './context.ts'
import { createClient } from './data/client.ts'
import { createLive } from './data/live.ts'
import { FrameDocument } from './frame/frame.generated.ts'
import { Frame } from './frame/frame.tsx'
import { Lost } from './frame/lost.tsx'
import type { FindRecords } from './frame/palette/match.ts'
import { readTheme, setTheme } from './frame/theme.ts'
import type { AppPages } from './pages.ts'
import { base, language, locale } from './place.ts'
import { Refused } from './session/refused.tsx'
import { CodeRefused, followOtherTabs, leaveForSignIn, type Session, SignedOut } from './session/session.ts'
import { takeWords } from './words.ts'
import { registerWorker } from './worker/register.ts'

/** Words, by language. */
type Words = Readonly<Record<string, () => Promise<{ readonly default: Record<string, LocalizedString> }>>>

/** What an app brings. */
export interface App {
  readonly pages: AppPages
  /** What its frame says; each page brings its own. */
  readonly words: Words
  /** The modules of the table of pages, by their names. */
  readonly modules: Readonly<Record<string, () => Promise<PageModule>>>
  readonly session: Session
  /** What stands at the beginning of the bar. @default the organization's name */
  readonly place?: ComponentType
  /** What the app has to say on every page, above it. @default nothing */
  readonly notice?: ComponentType
  /** What finds records of the app for the command palette. @default its pages alone are found */
  readonly records?: FindRecords
}

/** What a page brings: itself, and what it will read, so that the first page reads it while the shell is still being made. */
export interface PageModule {
  readonly default: ComponentType
  /** What it says beside the frame; the build adds it. */
  readonly said?: Words
  warm?(client: Client): void
}

/** Draws an app in place of what the server drew. Until its words and its first page are there, that stays. */
export async function start({ pages, words, modules, session, place, notice, records }: App): Promise<void> {
  setTheme(readTheme())
  reloadAfterUpgrade()
  followOtherTabs()
  const live = createLive(session)
  const client = createClient(session, live)
  const root = createRootRoute({
    component: () => (
      <Frame pages={pages} place={place ?? null} notice={notice ?? null} records={records ?? null}>
        <Suspense>
          <Outlet />
        </Suspense>
      </Frame>
    ),
    notFoundComponent: Lost,
  })
  const loaded = new Map<string, ComponentType>()
  const routes = Object.entries(pages.pages).flatMap(([name, { paths }]) => {
    const Later = lazy(() => modules[name]!().then(withWords))
    const component = () => {
      const Now = loaded.get(name) ?? Later
      return <Now />
    }
    return paths.map(path => createRoute({ getParentRoute: () => root, path: path.replace(/:(\w+)/g, '$$$1'), component }))
  })
  const first = document.documentElement.dataset.page?.split('.')[1] ?? ''
  const loading = modules[first]?.()
  const page = loading?.then(withWords)
  // Whoever is not signed in leaves before anything is asked of the graph.
  const signedIn = session.token().then(() => true, leave)
  // What the page reads does not wait for its words.
  warm(client, pages, first, loading, signedIn)
  const [, module, isIn] = await Promise.all([load(words), page, signedIn])
  if (module) loaded.set(first, module.default)
  if (!isIn) return createRoot(document.getElementById('content')!).render(<Refused start={pages.start} />)
  const router = createRouter({
    routeTree: root.addChildren(routes),
    basepath: base || '/',
    parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: values => {
      const text = new URLSearchParams(values as Record<string, string>).toString()
      return text === '' ? '' : `?${text}`
    },
  })
  takeMover((href, isReplacing) => {
    // A token that would end on the next page is fetched anew on the way to it.
    if (session.endsSoon?.()) location.assign(href)
    else if (isReplacing) router.history.replace(href)
    else router.history.push(href)
  })
  await router.load()
  sessionStorage.removeItem('supergraph.reloaded')
  createRoot(document.getElementById('app')!).render(
    <I18nProvider locale={locale}>
      <AriaRouterProvider navigate={href => router.history.push(href)}>
        <Provider value={client}>
          <ShellContext value={{ session, live }}>
            <RouterProvider router={router} />
          </ShellContext>
        </Provider>
      </AriaRouterProvider>
    </I18nProvider>,
  )
  if (pages.installs) registerWorker()
}

/** Takes words in the language of the page. */
const load = async (words: Words): Promise<void> => takeWords((await (words[language] ?? words.en)!()).default)

/** Takes what a page says, before it is drawn. */
async function withWords(module: PageModule): Promise<PageModule> {
  if (module.said) await load(module.said)
  return module
}

/** Reads what the frame and the first page will read as soon as it is known who is signed in, while both are still being drawn. */
function warm(client: Client, pages: AppPages, first: string, page: Promise<PageModule> | undefined, signedIn: Promise<boolean>): void {
  // Whoever waits for these is told what failed.
  const nothing = () => {}
  void signedIn.then(isIn => {
    if (isIn) void client.query(FrameDocument, {}).toPromise()
  }, nothing)
  void Promise.all([page, signedIn]).then(([module, isIn]) => {
    // A code leads to any page of the app: only the one that it led to is read.
    const isHere = pages.pages[first]?.paths.some(path => `${base}${path}` === location.pathname)
    if (isIn && isHere) module?.warm?.(client)
  }, nothing)
}

/** @returns false where a code was refused: the page says so. Whoever is not signed in leaves for good. */
async function leave(error: unknown): Promise<false> {
  if (error instanceof CodeRefused) return false
  if (!(error instanceof SignedOut)) throw error
  leaveForSignIn()
  // The document is on its way out: nothing more is drawn.
  return new Promise(() => {})
}

/** After an upgrade a file of the former build may be gone: the page is loaded once more, and has the new ones. */
function reloadAfterUpgrade(): void {
  addEventListener('vite:preloadError', event => {
    if (sessionStorage.getItem('supergraph.reloaded')) return
    sessionStorage.setItem('supergraph.reloaded', '1')
    event.preventDefault()
    location.reload()
  })
}
