import { type LocalizedString, LocalizedStringDictionary, LocalizedStringFormatter } from '@internationalized/string'
import { language } from './place.ts'

let known: Record<string, LocalizedString> = {}
let formatter: LocalizedStringFormatter<string, LocalizedString> | null = null

/** Takes more of what the app says in the language of the page; nothing can be said before. */
export function takeWords(words: Record<string, LocalizedString>): void {
  known = { ...known, ...words }
  formatter = new LocalizedStringFormatter(language, new LocalizedStringDictionary({ [language]: known }, language))
}

/** Says what stands under a key in the language of the page. @param values what its placeholders stand for */
export const say = (key: string, values?: Readonly<Record<string, string | number>>): string => formatter!.format(key, values)

/** Says what stands under a key that the graph may have made up since; where nothing does, another text. */
export const sayIfKnown = (key: string, otherwise: string): string => (key in known ? say(key) : otherwise)
