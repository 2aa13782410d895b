import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin, type Rollup } from 'vite'
import { tokensCss } from '../design/css.ts'
import { apps } from '../serve/apps.ts'
import { type Language, languages, madeLanguages, readWords, type Words } from '../serve/words.ts'
import { drawIcons } from './icons.ts'
import { findSaid } from './said.ts'

const require = createRequire(import.meta.url)
const { compileStrings } = require('@internationalized/string-compiler') as {
  compileStrings(messages: Readonly<Record<string, string>>, options: { format: 'esm' }): string
}

const web = join(import.meta.dirname, '..')

/** What a build consists of. */
export interface Bundled {
  /** Content by name of file. */
  readonly files: ReadonlyMap<string, string | Uint8Array>
  readonly style: string
  readonly login: string
  readonly worker: string
  readonly site: string
  /** What puts the public chat on any page. */
  readonly embed: string
  /** Of installed apps, by size. */
  readonly icons: Readonly<Record<192 | 512, string>>
  /** The file of a module, by its path from `web/`, or of words (see `ownModules`). @throws when it is in no file of its own */
  chunkOf(module: string): string
  /** Files and all that they import before they run. */
  closureOf(files: readonly string[]): readonly string[]
}

/** Bundles every app, the script of sign-in and the style sheet. Nothing in it says from which machine or when. */
export async function bundle(): Promise<Bundled> {
  const [main, login, worker, site, embed, icons] = await Promise.all([
    run({ ...Object.fromEntries(apps.map(({ app, entry }) => [app, entry])), style: 'design/style/all.css' }, 'es'),
    run({ login: 'shell/session/login.ts' }, 'iife'),
    run({ worker: 'shell/worker/worker.ts' }, 'iife'),
    run({ site: 'marketing/site.ts' }, 'iife'),
    run({ embed: 'agents/chat/embed/chat.ts' }, 'iife'),
    drawIcons(),
  ])
  const output = [...main, ...login, ...worker, ...site, ...embed]
  const chunks = output.filter(each => each.type === 'chunk')
  const byName = new Map(chunks.map(chunk => [chunk.fileName, chunk]))
  const named = (fileName: string) => fileName.replace(/^assets\//, '')
  const style = output.find(({ fileName }) => fileName.endsWith('.css'))
  if (!style) throw new Error('the build made no style sheet')
  const dropped = (fileName: string) => /\bstyle-[\w-]+\.js$/.test(fileName)
  return {
    files: new Map([
      ...output.filter(({ fileName }) => !dropped(fileName)).map(each => [named(each.fileName), each.type === 'chunk' ? each.code : each.source] as const),
      ...Object.values(icons),
    ]),
    site: named(site.find(({ type }) => type === 'chunk')!.fileName),
    embed: named(embed.find(({ type }) => type === 'chunk')!.fileName),
    worker: named(worker.find(({ type }) => type === 'chunk')!.fileName),
    icons: { 192: icons[192][0], 512: icons[512][0] },
    style: named(style.fileName),
    login: named(chunks.find(({ name }) => name === 'login')!.fileName),
    chunkOf(module) {
      const id = module.startsWith('words:') ? `\0${module}` : join(web, module)
      const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId === id)
      if (!chunk) throw new Error(`${module} is in no file of its own`)
      return named(chunk.fileName)
    },
    closureOf(files) {
      const found = new Set<string>()
      const add = (fileName: string) => {
        if (found.has(named(fileName))) return
        found.add(named(fileName))
        for (const next of byName.get(fileName)?.imports ?? []) add(next)
      }
      for (const file of files) add(`assets/${file}`)
      return [...found]
    },
  }
}

async function run(input: Readonly<Record<string, string>>, format: 'es' | 'iife'): Promise<(Rollup.OutputChunk | Rollup.OutputAsset)[]> {
  const built = await build({
    root: web,
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'error',
    mode: 'production',
    plugins: [ownModules(), plainModules(), fewLanguages(), noAddresses()],
    // Their own: what else they would say in development.
    define: { 'process.env.NODE_ENV': '"production"' },
    // Production's, whatever NODE_ENV says: tests measure what people load.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    resolve: { conditions: ['module', 'browser', 'production'] },
    build: {
      write: false,
      target: ['chrome123', 'firefox120', 'safari17.5'],
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(input).map(([name, path]) => [name, join(web, path)])),
        output: {
          format,
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          assetFileNames: 'assets/[name]-[hash][extname]',
          ...(format === 'es' && { codeSplitting: fewFiles() }),
        },
      },
    },
  })
  return (Array.isArray(built) ? built : [built]).flatMap(each => ('output' in each ? each.output : []))
}

/**
 * What several pages use lies in few files for all apps, by what pages of the launcher have a use for: those of its rail, its others, none. One
 * more is each app's own. Otherwise the bundler makes a file of every set of pages that share something, some thirty a page. Modules of one page,
 * and those that a page begins with, stay in files of their own.
 */
function fewFiles(): Rollup.CodeSplittingOptions {
  const modules = apps.flatMap(({ entry, pages }) => [entry, ...Object.values(pages).map(({ module }) => module)])
  const begins = new Set(modules.map(module => join(web, module)))
  const appOf = (id: string) => apps.find(({ app }) => id.startsWith(join(web, app, '/')))?.app
  const { entry, pages } = apps.find(({ app }) => app === 'launcher')!
  const closureOf = (modules: readonly string[]) => closureFrom(modules.map(module => join(web, module)))
  const ofRail = closureOf([entry, ...Object.values(pages).flatMap(({ module, icon }) => (icon ? module : []))])
  // Keys are much for one page, and other apps have that page too.
  const ofOthers = closureOf(Object.entries(pages).flatMap(([name, { module }]) => (name === 'keys' ? [] : module)))
  const isShared = (id: string) => !appOf(id) && !id.startsWith('\0words:')
  return {
    minShareCount: 2,
    // A file takes along what its modules import, but for what one of a higher priority has.
    groups: [
      { name: (id, context) => (ofRail(each => context.getModuleInfo(each)).has(id) ? 'parts' : null), test: isShared, priority: 4 },
      { name: (id, context) => (ofOthers(each => context.getModuleInfo(each)).has(id) ? 'work-parts' : null), test: isShared, priority: 3 },
      { name: 'more-parts', test: isShared, priority: 2 },
      { name: id => `${appOf(id)}-parts`, test: id => appOf(id) !== undefined && !begins.has(id), priority: 1 },
    ],
  }
}

/** Finds modules and all that they import before they run; the graph of modules is looked at once. */
function closureFrom(begins: readonly string[]) {
  let found: ReadonlySet<string> | null = null
  return (infoOf: (id: string) => { readonly importedIds: readonly string[] } | null): ReadonlySet<string> => {
    if (found) return found
    const seen = new Set<string>()
    const waiting = [...begins]
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (seen.has(id)) continue
      seen.add(id)
      waiting.push(...(infoOf(id)?.importedIds ?? []))
    }
    found = seen
    return found
  }
}

/**
 * Modules that are made: `words:<app>:<language>` is what the frame of an app says, `words:<app>.<page>:<language>` what a page says beside it,
 * `words:<app>` leads to the former and the export `said` of a page's module to the latter. `tokens.css` is the tokens.
 */
function ownModules(): Plugin {
  const begins = new Map(apps.flatMap(({ app, pages }) => Object.entries(pages).map(([name, { module }]) => [join(web, module), `${app}.${name}`] as const)))
  const loaders = (of: string) =>
    `{ ${[...languages, ...madeLanguages].map(each => `${JSON.stringify(each)}: () => import('words:${of}:${each}')`).join(', ')} }`
  const words = createWords()
  return {
    name: 'own-modules',
    enforce: 'pre',
    resolveId: id => (/^words:/.test(id) ? `\0${id}` : undefined),
    load(id) {
      const [, app, page, language] = /^\0words:(\w+)(?:\.([\w-]+))?(?::([\w-]+))?$/.exec(id) ?? []
      if (!app) return
      return language ? compileStrings(words(app, page, language as Language), { format: 'esm' }) : `export default ${loaders(app)}`
    },
    transform(code, id) {
      if (id.endsWith('/design/style/all.css')) return `${code}\n${tokensCss()}`
      const page = begins.get(id)
      return page && `${code}\nexport const said = ${loaders(page)}`
    },
  }
}

/** Finds what the frame of an app says in a language, or one of its pages beside it; the sources are read once for all of them. */
function createWords(): (app: string, page: string | undefined, language: Language) => Words {
  const wordsIn = memoized((key: string) => {
    const [app, language] = key.split(':') as [string, Language]
    return readWords(app, language)
  })
  const saidBy = memoized((app: string) => findSaid(apps.find(each => each.app === app)!, Object.keys(wordsIn(`${app}:en`))))
  return (app, page, language) => {
    const keys = page === undefined ? saidBy(app).frame : saidBy(app).pages[page]!
    return Object.fromEntries(Object.entries(wordsIn(`${app}:${language}`)).filter(([key]) => keys.has(key)))
  }
}

function memoized<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>()
  return key => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

/**
 * Gives React, which is CommonJS, the form of a module, and the uploads the browser's own URL: otherwise every page loads the bundler's
 * converter, a request more.
 */
function plainModules(): Plugin {
  return {
    name: 'plain-modules',
    enforce: 'pre',
    resolveId: (id, importer) => (/^(?:react|react\/jsx-runtime|url-parse)$/.test(id) && importer !== `\0plain:${id}` ? `\0plain:${id}` : undefined),
    load(id) {
      const [, name] = /^\0plain:(.+)$/.exec(id) ?? []
      if (!name) return
      if (name === 'url-parse') return 'export default URL'
      return `import all from '${name}'\nexport default all\nexport const { ${Object.keys(require(name) as object).join(', ')} } = all`
    },
  }
}

/** Leaves the texts of React Aria out that are in none of our languages: of each of its thirty it would bring all. */
function fewLanguages(): Plugin {
  const kept = /^(?:en-US|de-DE|ar-AE)$/
  return {
    name: 'few-languages',
    enforce: 'pre',
    load(id) {
      const [, language] = /\/intl\/\w+\/([a-z]{2}-[A-Z]{2})\.m?js$/.exec(id) ?? []
      if (language && !kept.test(language)) return 'export default undefined'
    },
  }
}

/** Takes the address out that TanStack's router puts where a document has no origin: no bundle names a host. */
function noAddresses(): Plugin {
  return {
    name: 'no-addresses',
    transform: (code, id) => (id.includes('@tanstack') ? code.replaceAll(/(['"`])http:\/\/localhost\1/g, '$1http://page.invalid$1') : undefined),
  }
}
