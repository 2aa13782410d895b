import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bundled, bundle } from './build/bundle.ts'
import { pack } from './build/pack.ts'
import { apps } from './serve/apps.ts'
import { type Built, dist, readBuilt } from './serve/built.ts'
import { type Language, languages, missingWords } from './serve/words.ts'

/**
 * Builds the pages into `web/dist/`: scripts and styles under hashed names, each packed as brotli and gzip too, and `built.json`, which
 * says what each page begins with. Files of the build before stay, for pages that are open. Started by `scripts/build-web.cjs`.
 * @param stamp of what it is built from
 */
async function build(stamp: string): Promise<void> {
  const missing = [...apps.map(({ app }) => app), 'marketing'].flatMap(app =>
    languages.flatMap(language => missingWords(app, language).map(key => `${app}: ${key} in ${language}`)),
  )
  if (missing.length > 0) throw new Error(`words are missing:\n  ${missing.join('\n  ')}`)
  const bundled = await bundle()
  const before = readBuilt()?.files ?? []
  const files = [...bundled.files.keys()].sort()
  await mkdir(join(dist, 'assets'), { recursive: true })
  const kept = new Set([...before, ...files].map(name => name))
  for (const name of await readdir(join(dist, 'assets'))) if (!kept.has(name.replace(/\.(?:br|gz)$/, ''))) await rm(join(dist, 'assets', name))
  await pack(join(dist, 'assets'), bundled.files)
  await writeFile(join(dist, 'built.json'), `${JSON.stringify(builtOf(bundled, stamp), null, 1)}\n`)
}

/** What a build tells of itself. */
export function builtOf({ files, chunkOf, style, login, worker, site, embed, icons, closureOf }: Bundled, stamp: string): Built {
  const pages = apps.flatMap(({ app, entry, pages }) =>
    Object.entries(pages).map(([name, { module }]) => {
      const wordsIn = (language: Language) => [chunkOf(`words:${app}:${language}`), chunkOf(`words:${app}.${name}:${language}`)]
      const words = { en: wordsIn('en'), de: wordsIn('de'), 'en-XA': wordsIn('en-XA'), 'ar-XB': wordsIn('ar-XB') }
      return [`${app}.${name}`, { entry: chunkOf(entry), chunks: closureOf([chunkOf(entry), chunkOf(module)]), words }] as const
    }),
  )
  return { stamp, style, login, worker, site, embed, icons, files: [...files.keys()].sort(), pages: Object.fromEntries(pages) }
}

if (import.meta.main) {
  const began = performance.now()
  await build(process.argv[2] ?? '')
  console.log(`web/dist is built (${((performance.now() - began) / 1000).toFixed(1)} s)`)
}
