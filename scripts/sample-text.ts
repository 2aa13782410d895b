/**
 * Draws a random sample of the project's English for a reader who sees a sentence and its file name alone:
 *
 *     node scripts/sample-text.ts [--seed N] [--count 60] [--kind docs|docstrings|comments|tests|logs]
 *
 * The seed is printed first; the same seed and the same files draw the same sentences.
 */
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

/** A text and the file that holds it. */
export interface Sentence {
  readonly file: string
  readonly text: string
}

type Read = (text: string) => readonly string[]

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Sentences of prose: a full stop, question mark or colon that ends a line, followed by a capital letter, ends one. */
const sentencesOf = (text: string): readonly string[] =>
  flat(text)
    .split(/(?<=[.!?])\s+(?=[A-Z`*"“@])/)
    .map(flat)
    .filter(sentence => /\w+ \w+ \w+/.test(sentence))

/** Paragraphs, list items and table cells of Markdown, without headings and code. */
const docs: Read = text =>
  text
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)/)
    .filter(block => !/^#|^\|[-| ]+\|$/.test(block.trim()))
    .flatMap(block => (block.trim().startsWith('|') ? block.split(/(?<!\\)\|/) : [block.replace(/^\s*(?:[-*]|\d+\.) /, '')]))
    .flatMap(sentencesOf)

const docstrings: Read = text =>
  [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].flatMap(([, body]) =>
    body!
      .replaceAll(/^\s*\* ?/gm, '')
      .split(/\n(?=@)/)
      .flatMap(sentencesOf),
  )

const comments: Read = text =>
  [...text.matchAll(/(?:^[ \t]*\/\/ (?!biome|@)[^\n]*\n)+/gm)].flatMap(([block]) => sentencesOf(block.replaceAll(/^\s*\/\/ /gm, '')))

/** Names of tests, each behind the names of the groups that it is in. */
const tests: Read = text => {
  const groups: { readonly indent: number; readonly name: string }[] = []
  return [...text.matchAll(/^( *)(describe|it|test)(?:\.\w+)*(?:\([^'"`\n]*\))?\(\s*(['"`])(.+?)\3(?=[,)])/gm)].flatMap(([, indent, what, , name]) => {
    while (groups.length > 0 && groups.at(-1)!.indent >= indent!.length) groups.pop()
    if (what === 'describe') groups.push({ indent: indent!.length, name: name! })
    return what === 'describe' ? [] : [[...groups.map(group => group.name), name!].join(' > ')]
  })
}

const logs: Read = text =>
  [...text.matchAll(/\blog\??\.(?:debug|info|warn|error|fatal)\((?:\{[^\n]*?\},\s*)?(['"`])(.+?)\1\s*[,)]/g)].map(([, , line]) => line!)

/** How each kind of text is found, and in which files. */
export const kinds = {
  docs: { files: /^(?!web\/|node_modules).*\.md$/, read: docs },
  docstrings: { files: /^(?!test\/).*(?<!\.generated)\.tsx?$/, read: docstrings },
  comments: { files: /(?<!\.generated)\.tsx?$/, read: comments },
  tests: { files: /^test\/.*\.tsx?$/, read: tests },
  logs: { files: /^(?!test\/).*(?<!\.generated)\.ts$/, read: logs },
} as const satisfies Record<string, { readonly files: RegExp; readonly read: Read }>

export type TextKind = keyof typeof kinds

/** Lists every text of a kind in the files that git knows. */
export function textsOf(kind: TextKind, root: string): readonly Sentence[] {
  const { files, read } = kinds[kind]
  const known = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  return known.filter(file => files.test(file)).flatMap(file => read(readFileSync(join(root, file), 'utf8')).map(text => ({ file, text })))
}

/** Random numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws `count` different texts; all of them when there are no more. */
export function draw<Value>(values: readonly Value[], count: number, seed: number): readonly Value[] {
  const [left, random] = [[...values], randomOf(seed)]
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(Math.floor(random() * left.length), 1)[0]!)
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, count: { type: 'string', default: '60' }, kind: { type: 'string' } } })
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  console.log(`seed ${seed}`)
  for (const kind of Object.keys(kinds) as TextKind[]) {
    if (values.kind !== undefined && values.kind !== kind) continue
    const texts = textsOf(kind, join(import.meta.dirname, '..'))
    console.log(`\n${kind}: ${values.count} of ${texts.length}`)
    for (const { file, text } of draw(texts, Number(values.count), seed)) console.log(`${basename(file)}: ${text}`)
  }
}
