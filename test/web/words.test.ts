import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apps } from '../../web/serve/apps.ts'
import { languageOf, languages, missingWords, readWords } from '../../web/serve/words.ts'

const web = join(import.meta.dirname, '..', '..', 'web')

describe.each(apps)('the words of $app', ({ app, pages, title }) => {
  it.each(languages)('say in %s all that they say in English', language => {
    expect(missingWords(app, language)).toEqual([])
  })

  it('say every key that its pages and the shell use', () => {
    const files = [...globSync(`${app}/**/*.{ts,tsx}`, { cwd: web }), ...globSync('shell/**/*.{ts,tsx}', { cwd: web })]
    const used = files.flatMap(file => [...readFileSync(join(web, file), 'utf8').matchAll(/\bsay\(\s*'([^']+)'/g)].map(([, key]) => key!))
    const titles = [title, ...Object.values(pages).map(page => page.title)]
    const words = readWords(app, 'en')
    expect([...new Set([...used, ...titles])].filter(key => !(key in words))).toEqual([])
    expect(used.length).toBeGreaterThan(20)
  })

  it('keep their placeholders in the languages that are made for tests', () => {
    // What stands behind `one` or `other` is text of a plural.
    const placeholders = (text: string) => [...text.matchAll(/(?<!\b(?:zero|one|two|few|many|other) )\{(\w+)[,}]/g)].map(([, name]) => name)
    const english = readWords(app, 'en')
    for (const language of ['en-XA', 'ar-XB'] as const)
      for (const [key, text] of Object.entries(readWords(app, language)))
        expect(placeholders(text), `${key} in ${language}`).toEqual(placeholders(english[key]!))
  })
})

describe('languageOf', () => {
  it.each([
    ['de-CH,de;q=0.9', 'de'],
    ['xx', 'en'],
    ['fr, de;q=0.5', 'de'],
    ['en-XA', 'en-XA'],
    ['ar', 'en'],
    [undefined, 'en'],
  ])('answers %s with %s', (header, language) => {
    expect(languageOf(header)).toBe(language)
  })
})
