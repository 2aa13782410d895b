import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { AppPages } from '../shell/pages.ts'

const web = join(import.meta.dirname, '..')

/** Which words an app loads when. Keys that neither names are said by the server alone. */
export interface Said {
  /** Keys that the frame says, on every page. */
  readonly frame: ReadonlySet<string>
  /** Keys that only the page says, by its name in the table of pages. */
  readonly pages: Readonly<Record<string, ReadonlySet<string>>>
}

/**
 * Finds the keys of an app's words that its frame and each of its pages may say: those that stand as a literal in the sources that they are
 * made of, and all that begin as a template there does (`kind.${kind}`).
 * @param keys all that the app may say
 */
export function findSaid({ entry, pages }: AppPages, keys: readonly string[]): Said {
  const modules = Object.values(pages).map(({ module }) => module)
  const frame = keysOf(sourcesOf(entry, new Set(modules)), keys)
  return {
    frame,
    pages: Object.fromEntries(
      Object.entries(pages).map(([name, { module }]) => [name, new Set([...keysOf(sourcesOf(module), keys)].filter(key => !frame.has(key)))]),
    ),
  }
}

/** The sources that a module is made of, those that it loads later too. @param without modules that are left out, with what they alone import */
function sourcesOf(module: string, without: ReadonlySet<string> = new Set()): readonly string[] {
  const seen = new Set<string>()
  const waiting = [module]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const imported = [...sourceOf(path).matchAll(/^(?!import type).*?\b(?:from |import\(|import )'(\.[^']+\.tsx?)'/gm)].map(([, to]) => to!)
    waiting.push(...imported.map(to => normalize(join(dirname(path), to))).filter(to => !without.has(to)))
  }
  return [...seen].map(sourceOf)
}

const sources = new Map<string, string>()

function sourceOf(path: string): string {
  const source = sources.get(path) ?? readFileSync(join(web, path), 'utf8')
  sources.set(path, source)
  return source
}

function keysOf(sources: readonly string[], keys: readonly string[]): ReadonlySet<string> {
  const literals = new Set(sources.flatMap(source => [...source.matchAll(/['"`]([\w.-]+)['"`]/g)].map(([, literal]) => literal!)))
  const beginnings = new Set(sources.flatMap(source => [...source.matchAll(/`([\w-]+\.[\w.-]*)\$\{/g)].map(([, beginning]) => beginning!)))
  return new Set(keys.filter(key => literals.has(key) || [...beginnings].some(beginning => key.startsWith(beginning))))
}
