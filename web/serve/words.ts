import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Languages that people read. */
export const languages = ['en', 'de'] as const
/** Made of English, for tests: longer by two fifths, and from right to left. */
export const madeLanguages = ['en-XA', 'ar-XB'] as const

export type Language = (typeof languages)[number] | (typeof madeLanguages)[number]

/** What is said in one language, by key, as ICU messages. */
export type Words = Readonly<Record<string, string>>

const web = join(import.meta.dirname, '..')

/** Reads what an app says in a language: what all of them say, and what stands beside its own pages. @throws when a key has two meanings */
export function readWords(app: string, language: Language): Words {
  if (language === 'en-XA') return mapped(readWords(app, 'en'), longer)
  if (language === 'ar-XB') return mapped(readWords(app, 'en'), mirrored)
  const files = [`words/${language}.json`, ...globSync(`${app}/**/${language}.json`, { cwd: web }).sort()]
  const words: Record<string, string> = {}
  for (const file of files)
    for (const [key, text] of Object.entries(JSON.parse(readFileSync(join(web, file), 'utf8')) as Words)) {
      if (key in words) throw new Error(`web/${file} says ${key} a second time`)
      words[key] = text
    }
  return words
}

/** Keys of English that another language does not say, and those that it says without English. */
export function missingWords(app: string, language: Language): readonly string[] {
  const [wanted, found] = [readWords(app, 'en'), readWords(app, language)]
  return [...Object.keys(wanted).filter(key => !(key in found)), ...Object.keys(found).filter(key => !(key in wanted))].sort()
}

/** The language that a reader asks for, of those that there are. @param header `Accept-Language` */
export function languageOf(header: string | undefined): Language {
  const asked = (header ?? '').split(',').map(part => part.split(';')[0]!.trim())
  const made = madeLanguages.find(language => language === asked[0])
  if (made) return made
  for (const each of asked) {
    const found = languages.find(language => language === each.toLowerCase().split('-')[0])
    if (found) return found
  }
  return 'en'
}

/** Which way a language is written. */
export const directionOf = (language: Language): 'ltr' | 'rtl' => (language.startsWith('ar') ? 'rtl' : 'ltr')

const mapped = (words: Words, change: (text: string) => string): Words =>
  Object.fromEntries(Object.entries(words).map(([key, message]) => [key, outsideBraces(message, change)]))

/** Changes the text of an ICU message, and neither its placeholders nor what chooses among its forms. */
function outsideBraces(message: string, change: (text: string) => string): string {
  // A form of a plural is a message of its own.
  const forms = /(\b(?:zero|one|two|few|many|other|=\d+)\s*)\{((?:[^{}]|\{[^{}]*\})*)\}/g
  if (/^\{\w+, (?:plural|select)/.test(message)) return message.replace(forms, (_, name: string, text: string) => `${name}{${outsideBraces(text, change)}}`)
  let depth = 0
  return message
    .split(/([{}])/)
    .map(part => {
      if (part === '{') depth++
      const changed = depth === 0 && part !== '}' ? change(part) : part
      if (part === '}') depth--
      return changed
    })
    .join('')
}

const accents: Readonly<Record<string, string>> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', A: 'Á', E: 'É', O: 'Ó' }

const longer = (text: string): string => {
  const accented = text.replace(/[aeiouAEO]/g, letter => accents[letter]!)
  return text.trim() === '' ? text : `${accented}${' ~'.repeat(Math.ceil((text.length * 0.4) / 2))}`
}

/** Letters of an alphabet that is written from right to left, in place of ours. */
const mirrored = (text: string): string => text.replace(/[A-Za-z]/g, letter => String.fromCodePoint(0x0627 + ((letter.toLowerCase().charCodeAt(0) - 97) % 20)))
