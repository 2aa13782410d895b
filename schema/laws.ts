import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { circlesOf, type Import, importsOf } from './circles.ts'
import { functionsIn } from './source/functions.ts'
import { inFile, type Mistake } from './source/mistake.ts'
import { takeApart } from './source/source-text.ts'

/** Files that may be longer than the rest, each with the reason why dividing it would help nobody. */
export const longFiles: Readonly<Record<string, string>> = {}

/**
 * Files whose long functions are from before there was a limit, and how many each has. The list only shrinks: who divides one lowers its number or
 * takes the row away, and no row is added.
 */
export const longFunctions: Readonly<Record<string, number>> = {
  'config.ts': 1,
  'platform/jobs/poller.ts': 1,
  'platform/outbound/stream.ts': 1,
  'router/access/authenticate.ts': 1,
  'router/access/callers/services.ts': 1,
  'router/apart/server.ts': 1,
  'router/door/app.ts': 1,
  'router/door/websocket.ts': 1,
  'router/engine/apollo/stock.ts': 1,
  'router/engine/native/native.ts': 1,
  'router/engine/native/prepare.ts': 1,
  'router/engine/plan/apart/pool.ts': 1,
  'router/engine/shape/shape.ts': 1,
  'router/engine/transport/embedded.ts': 1,
  'router/engine/transport/remote.ts': 1,
  'router/engine/transport/socket.ts': 1,
  'router/live/shared/channel.ts': 1,
  'router/metrics/operations.ts': 1,
  'router/router.ts': 1,
  'router/start/apart/start.ts': 1,
  'subgraphs/identity/definition.ts': 1,
  'subgraphs/providers/ai/chat/stream/anthropic.ts': 1,
  'subgraphs/providers/email/message/deliver.ts': 1,
  'subgraphs/providers/engines/spend/calls.ts': 1,
  'subgraphs/publishing/network/facebook/adapter.ts': 1,
  'subgraphs/publishing/network/instagram/adapter.ts': 1,
  'subgraphs/publishing/stores/connection.ts': 1,
  'web/shell/data/live.ts': 1,
}

const mostLines = 400
const maxFunctionLines = 120
const mostEntries = 16
const notOurs = /^(?:node_modules|coverage|dist|\..*)$/
const vagueNames = /^(?:index|utils?|helpers?|common|manager|service)(?:\.[cm]?[jt]sx?)?$/
const typeScript = /\.tsx?$/

interface TextLaw {
  readonly code: string
  /** Folders, and files, in which the law holds. */
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

/** Checks the laws of the house that a linter's patterns cannot say. @returns one mistake for each breach, none when all hold */
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

/** The breaches of one TypeScript file. */
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

/** What a file of subgraphs/ or platform/ imports, or addresses, where it must not. @param code the source without the content of its literals */
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

/** What makes a file of `stores/` a store: the shared ways to SQL, or a piece of SQL for another one. */
const sql = /\/(?:platform\/sql|store)\/|\b(?:select|insert into|delete from|is null)\b/

/** A file of `stores/` that has nothing to do with SQL. */
const storeMistakes = (file: string, source: string): Mistake[] =>
  /^subgraphs\/[^/]+\/stores\//.test(file) && !sql.test(takeApart(source).literals)
    ? [inFile(file, 'STORE_WITHOUT_SQL', 'holds no SQL: what several nouns need is an engine, what one needs stands in its folder')]
    : []

/** What a file of `stores/` or `engines/` imports of its subgraph from above it: an engine knows stores and engines, a store no engine. */
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
 * What access, the engine and the door show each other, by their folders: the files that the other two may import. Whatever else is
 * in there is nobody's but their own, and that of who puts them together.
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

/** What one of access, engine and door imports of the inside of another. */
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

/** What runs on the server of `web/`, or where it is built; everything else runs in browsers. */
const webServer = /^web\/(?:serve|build)(?:\/|\.ts$)/
/** What each part of `web/` may import beside itself; an app knows no other app. */
const webBelow: Readonly<Record<string, readonly string[]>> = { design: [], shell: ['design'], words: [] }

/** What a file of `web/` imports that the browser must not have, or that is another app's. */
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

/** Functions of product code that are too long; tests, benches and the sandbox may say everything in one. */
function longFunctionsIn(file: string, code: string): Mistake[] {
  if (/^(?:test|bench|sandbox)\//.test(file)) return []
  const long = functionsIn(code).filter(({ lines }) => lines > maxFunctionLines)
  const allowed = longFunctions[file] ?? 0
  if (long.length < allowed) return [inFile('schema/laws.ts', 'EXCEPTION_UNUSED', `${file} has ${long.length} long functions: lower its number`)]
  return long.slice(allowed).map(({ name, line, lines }) => ({
    ...inFile(file, 'FUNCTION_TOO_LONG', `${name} has ${lines} lines, more than ${maxFunctionLines}: divide it, or make a class of a closure with state`),
    line,
  }))
}

/** Lines that hold code or a literal; comments and blank lines are free. */
const linesOfCode = (source: string): number => {
  const { code, literals } = takeApart(source)
  const text = literals.split('\n')
  return code.split('\n').filter((line, index) => line.trim() !== '' || text[index]!.trim() !== '').length
}
