import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { circlesOf, type Import, importsOf } from './circles.ts'
import { functionsIn } from './source/functions.ts'
import { inFile, type Mistake } from './source/mistake.ts'
import { takeApart } from './source/source-text.ts'

/** Exceptions from the maximum file length, each with a reason. */
export const longFiles: Readonly<Record<string, string>> = {}

const mostLines = 400
const maxFunctionLines = 120
const mostEntries = 16
const notOurs = /^(?:node_modules|coverage|dist|\..*)$/
const vagueNames = /^(?:index|utils?|helpers?|common|manager|service)(?:\.[cm]?[jt]sx?)?$/
const typeScript = /\.tsx?$/

interface TextLaw {
  readonly code: string
  /** Folders, and files, to which the law applies. */
  readonly holdsIn: RegExp
  readonly part: 'code' | 'literals'
  readonly pattern: RegExp
  readonly text: string
}

const textLaws: readonly TextLaw[] = [
  {
    code: 'IMPORT_NOT_LITERAL',
    holdsIn: typeScript,
    part: 'code',
    pattern: /(?<![.\w])import\(\s*[^'"\s)]/g,
    text: 'import() takes a plain string: the import laws cannot follow anything else',
  },
  {
    code: 'TIME_IN_SQL',
    holdsIn: /^(?:subgraphs|platform)\//,
    part: 'literals',
    pattern: /(?<![.\w])(?:now\(\s*\)|(?:current|local)_?(?:timestamp|date|time)\b|(?:clock|statement|transaction)_timestamp\b)/gi,
    text: 'time is a bound parameter in SQL: take it from the clock, or tests cannot set it',
  },
  {
    code: 'ASYNC_GENERATOR',
    holdsIn: /^(?:router\/(?:engine|live|door)|subgraphs|platform)\//,
    part: 'code',
    pattern: /\basync\s+function\s*\*|\basync\s*\*\s*[\w[#]/g,
    text: 'an async generator that waits keeps its listener until the next event: write an iterator whose return() settles a pending next()',
  },
  {
    code: 'FLOATING_POINT',
    holdsIn: /^subgraphs\/payments\//,
    part: 'code',
    pattern: /\bparseFloat\b|\.to(?:Fixed|Precision)\(|\bMath\.(?:round|floor|ceil|trunc|fround)\b|(?<![\w.])\d[\d_]*\.\d+\b|\b\d[\d_]*e[+-]?\d+\b/g,
    text: 'money is whole minor units as bigint: nothing in payments is counted with fractions',
  },
  {
    code: 'FLOATING_POINT_IN_SQL',
    holdsIn: /^subgraphs\/payments\//,
    part: 'literals',
    pattern: /::\s*(?:float[48]?|real|double precision|numeric|decimal)\b/gi,
    text: 'money is whole minor units as bigint: nothing in payments is counted with fractions',
  },
]

/** Checks the repository's rules that the linter cannot express. @returns one mistake for each violation */
export async function broken(root: string): Promise<readonly Mistake[]> {
  const mistakes: Mistake[] = []
  const imports: Import[] = []
  await visitFolder(root, '', mistakes, imports)
  mistakes.push(...circlesOf(imports))
  for (const file of Object.keys(longFiles)) {
    const text = await readFile(join(root, file), 'utf8').catch(() => null)
    if (text === null || linesOfCode(text) <= mostLines)
      mistakes.push(inFile('schema/laws.ts', 'EXCEPTION_UNUSED', `${file} needs no exception from the length of files any more`))
  }
  return mistakes
}

async function visitFolder(root: string, folder: string, mistakes: Mistake[], imports: Import[]): Promise<void> {
  const entries = (await readdir(join(root, folder), { withFileTypes: true }))
    .filter(({ name }) => !notOurs.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const counted = entries.filter(entry => entry.isDirectory() || (typeScript.test(entry.name) && !entry.name.endsWith('.generated.ts')))
  // Tools expect their files at the root, and there may be many tests.
  if (folder !== '' && !folder.startsWith('test') && counted.length > mostEntries) {
    mistakes.push(inFile(folder, 'FOLDER_TOO_FULL', `holds ${counted.length} entries, more than ${mostEntries}: some of them are a noun of their own`))
  }
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (vagueNames.test(entry.name)) mistakes.push(inFile(path, 'NAME_SAYS_NOTHING', 'name it after the noun or the promise inside'))
    if (entry.isDirectory()) await visitFolder(root, path, mistakes, imports)
    else if (typeScript.test(entry.name)) {
      const source = await readFile(join(root, path), 'utf8')
      // Tests may import anything.
      if (!path.startsWith('test/')) imports.push(...importsOf(path, source, takeApart(source).code))
      if (!entry.name.endsWith('.generated.ts')) mistakes.push(...breachesIn(path, source))
    }
  }
}

/** Returns the violations of one TypeScript file. */
export function breachesIn(file: string, source: string): readonly Mistake[] {
  const mistakes: Mistake[] = []
  const parts = takeApart(source)
  for (const { code, holdsIn, part, pattern, text } of textLaws) {
    if (!holdsIn.test(file)) continue
    for (const match of parts[part].matchAll(pattern)) {
      const before = source.slice(0, match.index).split('\n')
      mistakes.push({ file, line: before.length, column: before.at(-1)!.length + 1, code, text })
    }
  }
  for (const imports of [foreignImports, layerImports, insideImports, webImports]) mistakes.push(...imports(file, source, parts.code))
  mistakes.push(...storeMistakes(file, source))
  mistakes.push(...longFunctionsIn(file, parts.code))
  const lines = linesOfCode(source)
  if (lines > mostLines && !file.startsWith('test/') && !(file in longFiles)) {
    const sentence = `has ${lines} lines of code, more than ${mostLines}: divide it, or give schema/laws.ts the reason why not`
    mistakes.push(inFile(file, 'FILE_TOO_LONG', sentence))
  }
  return mistakes
}

/**
 * Returns forbidden imports and references of a file of subgraphs/ or platform/. @param code the source without the
 * content of its literals
 */
function foreignImports(file: string, source: string, code: string): Mistake[] {
  const [own, inside] = /^(?:platform\/|subgraphs\/[^/]+(\/)?)/.exec(file) ?? []
  if (!own) return []
  const text = file.startsWith('platform/')
    ? 'platform/ knows no domain and imports nothing of ours but its own files'
    : inside
      ? 'a subgraph imports its own folder, subgraphs/*.ts, subgraphs/store/, subgraphs/http/, subgraphs/wiring/ and platform/: the entity of another is a key, its data a field to ask for (platform/ask.ts)'
      : 'what all subgraphs share stands on platform/ and knows none of them'
  const mistakes: Mistake[] = []
  for (const { to, at } of importsOf(file, source, code)) {
    const allowed =
      to.startsWith('platform/') ||
      (!file.startsWith('platform/') && /^subgraphs\/(?:store\/(?:filter\/)?|http\/|wiring\/)?[^/]+$/.test(to)) ||
      (inside && to.startsWith(own))
    if (!allowed) mistakes.push(mistakeAt(file, source, at, 'IMPORT_ACROSS', text))
  }
  return mistakes
}

/** Matches what makes a file of `stores/` a store: shared SQL modules, or SQL text. */
const sql = /\/(?:platform\/sql|store)\/|\b(?:select|insert into|delete from|is null)\b/

/** A file of `stores/` that has nothing to do with SQL. */
const storeMistakes = (file: string, source: string): Mistake[] =>
  /^subgraphs\/[^/]+\/stores\//.test(file) && !sql.test(takeApart(source).literals)
    ? [inFile(file, 'STORE_WITHOUT_SQL', 'holds no SQL: what several nouns need is an engine, what one needs stands in its folder')]
    : []

/**
 * Returns a store's or engine's imports from higher layers: engines may import stores and engines, stores no engine.
 */
function layerImports(file: string, source: string, code: string): Mistake[] {
  const [, own, layer] = /^(subgraphs\/[^/]+\/)(stores|engines)\//.exec(file) ?? []
  if (!own) return []
  const isAbove = (to: string): boolean =>
    layer === 'engines'
      ? to.startsWith(own) && !/^(?:(?:stores|engines)\/|(?:registration|ask\.generated)\.ts$)/.test(to.slice(own.length))
      : to.startsWith(`${own}engines/`)
  const text =
    layer === 'engines'
      ? 'an engine imports stores, engines, registration.ts, ask.generated.ts, shared code and platform/: what a noun or the context has, it takes as an argument'
      : 'engines import stores: what both need stands in the store'
  return [...importsOf(file, source, code)].filter(({ to }) => isAbove(to)).map(({ at }) => mistakeAt(file, source, at, 'IMPORT_LAYER', text))
}

/**
 * Files that access, engine and door may import from each other, by folder. Other files are internal, except for the
 * composition root.
 */
const fronts: Readonly<Record<string, readonly string[]>> = {
  'router/access/': [
    'address.ts',
    'authenticate.ts',
    'browser.ts',
    'callers/claim.ts',
    'decision.ts',
    'parameters.ts',
    'refusal.ts',
    'rules.ts',
    'sharing.ts',
    'strip.ts',
  ],
  'router/engine/': ['engine.ts', 'gateway.ts', 'data/in-flight.ts'],
  'router/door/': [],
}

/** Returns imports of internal files between access, engine and door. */
function insideImports(file: string, source: string, code: string): Mistake[] {
  const own = Object.keys(fronts).find(folder => file.startsWith(folder))
  if (!own) return []
  const mistakes: Mistake[] = []
  for (const { to, at } of importsOf(file, source, code)) {
    const other = Object.keys(fronts).find(folder => to.startsWith(folder))
    if (!other || other === own || fronts[other]!.includes(to.slice(other.length))) continue
    const shown = fronts[other]!.length > 0 ? `is ${fronts[other]!.join(', ')}` : 'is nothing'
    mistakes.push(mistakeAt(file, source, at, 'IMPORT_INSIDE', `this is the inside of ${other}: what it shows to ${own} ${shown}`))
  }
  return mistakes
}

/** Matches code of `web/` for its server or build; everything else runs in browsers. */
const webServer = /^web\/(?:serve|build)(?:\/|\.ts$)/
/** Parts of `web/` that each part may import; an app imports no other app. */
const webBelow: Readonly<Record<string, readonly string[]>> = { design: [], shell: ['design'], words: [] }

/** Returns imports of a file of `web/` that browsers must not have, or that belong to another app. */
function webImports(file: string, source: string, code: string): Mistake[] {
  const part = /^web\/([^/]+)\//.exec(file)?.[1]
  if (!part || webServer.test(file)) return []
  const allowed = [part, ...(webBelow[part] ?? ['design', 'shell'])]
  const mistakes: Mistake[] = []
  for (const { to, at } of importsOf(file, source, code))
    if (!allowed.some(each => to.startsWith(`web/${each}/`)))
      mistakes.push(
        mistakeAt(
          file,
          source,
          at,
          'IMPORT_WEB',
          `web/${part}/ imports ${allowed.map(each => `web/${each}/`).join(', ')} alone: an app knows no other, and nothing of the server`,
        ),
      )
  return mistakes
}

function mistakeAt(file: string, source: string, at: number, code: string, text: string): Mistake {
  const before = source.slice(0, at).split('\n')
  return { file, line: before.length, column: before.at(-1)!.length, code, text }
}

/** Returns product functions above the maximum length; tests, benches and the sandbox are exempt. */
function longFunctionsIn(file: string, code: string): Mistake[] {
  if (/^(?:test|bench|sandbox)\//.test(file)) return []
  const long = functionsIn(code).filter(({ lines }) => lines > maxFunctionLines)
  return long.map(({ name, line, lines }) => ({
    ...inFile(file, 'FUNCTION_TOO_LONG', `${name} has ${lines} lines, more than ${maxFunctionLines}: divide it, or make a class of a closure with state`),
    line,
  }))
}

/** Counts lines with code or a literal, without comments and blank lines. */
const linesOfCode = (source: string): number => {
  const { code, literals } = takeApart(source)
  const text = literals.split('\n')
  return code.split('\n').filter((line, index) => line.trim() !== '' || text[index]!.trim() !== '').length
}
