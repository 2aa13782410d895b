import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findSaid } from '../../web/build/said.ts'
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

  it('are each loaded with a page that says them', () => {
    const ofAll = new Set(Object.keys(JSON.parse(readFileSync(join(web, 'words/en.json'), 'utf8')) as object))
    const keys = Object.keys(readWords(app, 'en'))
    const said = findSaid(apps.find(each => each.app === app)!, keys)
    const loaded = new Set([...said.frame, ...Object.values(said.pages).flatMap(each => [...each])])
    expect(keys.filter(key => !ofAll.has(key) && !loaded.has(key))).toEqual([])
    // What the frame says is not loaded a second time.
    expect(Object.values(said.pages).flatMap(each => [...each].filter(key => said.frame.has(key)))).toEqual([])
    expect(Object.values(pages).filter(page => !said.frame.has(page.title))).toEqual([])
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

describe('findSaid', () => {
  const launcher = apps.find(({ app }) => app === 'launcher')!
  const keys = Object.keys(readWords('launcher', 'en'))
  const { frame, pages } = findSaid(launcher, keys)

  it('has a page load what it says itself, what its parts say, and all that a template may come to', () => {
    expect([...pages.billing!]).toEqual(expect.arrayContaining(keys.filter(key => /^(?:billing|plan|subscription)\./.test(key))))
    expect(pages.keys!.has('keys.rotate-sure')).toBe(true)
  })

  it('leaves out what other pages say', () => {
    expect([...pages.dashboard!].filter(key => /^(?:billing|households|ways)\./.test(key))).toEqual([])
    expect([...frame].filter(key => /^(?:billing|households|ways)\./.test(key))).toEqual([])
  })

  it('has the frame bring what it loads later too', () => {
    expect(frame.has('palette.field')).toBe(true)
    expect(frame.has('sign-in.ended')).toBe(true)
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
