/** Text search configurations of PostgreSQL by language. */
const configs: Readonly<Record<string, string>> = {
  ar: 'arabic',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  hu: 'hungarian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  nb: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sv: 'swedish',
  tr: 'turkish',
}

/** The configuration for a language tag: that of its language; `english` for none, `simple` for languages that PostgreSQL does not stem. */
export const searchConfigOf = (language: string | null): string =>
  language === null ? 'english' : (configs[language.toLowerCase().split('-')[0]!] ?? 'simple')
