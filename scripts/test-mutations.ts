/**
 * Tries the tests: changes the code in one place at a time and looks whether a test notices.
 *
 *     npm run test:mutations -- PATH…          sources, or folders of them; without any, everything in test/mutations/scope.ts
 *     npm run test:mutations -- --changed      what differs from what was measured last, for MINUTES at the most (--minutes 10)
 *
 * What was found is kept in test/mutations/measured.json, file by file with a digest of its text, and belongs into the commit of the
 * change. Exits with 1 when an area has fewer of its mutants killed than the floor. Whoever changes tests alone measures by PATH.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { type Area, areas, floor } from '../test/mutations/scope.ts'

interface Measured {
  /** Of the text that was measured. */
  readonly digest: string
  readonly killed: number
  readonly mutants: number
}

const project = join(import.meta.dirname, '..')
const recordPath = join(project, 'test/mutations/measured.json')
const record: Record<string, Measured> = JSON.parse(readFileSync(recordPath, 'utf8'))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean', default: false }, minutes: { type: 'string', default: '10' } },
})

const digestOf = (path: string): string =>
  createHash('sha256')
    .update(readFileSync(join(project, path)))
    .digest('base64url')
    .slice(0, 16)

const sources = globSync('{carriers,config,platform,router,subgraphs}/**/*.ts', { cwd: project })
  .filter(path => !path.endsWith('.generated.ts'))
  .sort()
const areaOf = (path: string): Area | undefined => areas.find(area => area.sources.test(path))
const inScope = sources.filter(areaOf)
for (const path of Object.keys(record)) if (!inScope.includes(path)) delete record[path]

const isNamed = (path: string) => positionals.some(named => path === named || path.startsWith(`${named.replace(/\/$/, '')}/`))
const isDue = (path: string) => record[path] !== undefined && record[path].digest !== digestOf(path)
const unmeasured = inScope.filter(path => !record[path])
const chosen = inScope.filter(path => (values.changed ? isDue(path) : positionals.length === 0 || isNamed(path)))
if (chosen.length === 0 && !values.changed) {
  console.error(`nothing of ${positionals.join(', ')} is measured: test/mutations/scope.ts says what is`)
  process.exit(1)
}

/** The tests that speak of a source. */
function testsOf(path: string): readonly string[] {
  const rows = Object.entries(areaOf(path)!.tests).filter(([begin]) => path.startsWith(begin))
  return rows.sort(([a], [b]) => b.length - a.length)[0]![1]
}

/** What became of each mutant of a source. @throws when its tests fail before anything is changed */
const tryMutants = (path: string) =>
  new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', join(project, 'test/mutations/words.ts')],
    ignorers: ['words'],
    vitest: { configFile: 'test/mutations/vitest.config.ts', related: false },
    mutate: [path],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    reporters: ['clear-text'],
    clearTextReporter: { logTests: false, reportScoreTable: false, reportTests: false, allowColor: false },
    allowConsoleColors: false,
    logLevel: 'warn',
    warnings: { unknownOptions: true, preprocessorErrors: true, unserializableOptions: true, slow: false },
    tempDirName: '.data/mutations',
    ignorePatterns: ['.data', 'bench', 'docs'],
    // This TypeScript has no such interface as Stryker would read the configuration with.
    tsconfigFile: 'none',
  } as ConstructorParameters<typeof Stryker>[0]).runMutationTest()

const deadline = performance.now() + Number(values.minutes) * 60_000
const left: string[] = []
for (const path of chosen.sort((a, b) => readFileSync(join(project, a)).length - readFileSync(join(project, b)).length)) {
  if (values.changed && performance.now() > deadline) {
    left.push(path)
    continue
  }
  process.env.MUTATION_TESTS = JSON.stringify(testsOf(path))
  const mutants = await tryMutants(path).catch(error => {
    // The suite itself reports a flaky test; here it would end the measurement of all other mutations.
    console.log(`${path}: before anything was changed: ${error instanceof Error ? error.message : error} It is tried once more.`)
    return tryMutants(path)
  })
  const counted = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout' || status === 'Survived' || status === 'NoCoverage')
  const killed = counted.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  record[path] = { digest: digestOf(path), killed, mutants: counted.length }
  writeFileSync(recordPath, `${JSON.stringify(Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`)
  const late = counted.filter(({ status }) => status === 'Timeout').length
  console.log(`${path}: ${killed} of ${counted.length} killed${late > 0 ? `, ${late} of them by taking too long` : ''}`)
}
if (values.changed && unmeasured.length > 0) console.log(`never measured, so not held to the floor yet: ${unmeasured.join(', ')}`)
if (left.length > 0) console.log(`not measured within ${values.minutes} minutes, as they stand: ${left.join(', ')}`)

let low = false
for (const { name, sources: belongs } of areas) {
  const files = Object.entries(record).filter(([path]) => belongs.test(path))
  const [killed, mutants] = files.reduce(([k, m], [, one]) => [k + one.killed, m + one.mutants], [0, 0])
  const score = mutants === 0 ? 100 : (100 * killed) / mutants
  const below = score < floor
  low ||= below
  console.log(`${below ? 'FAIL ' : 'ok   '} ${name}: ${killed} of ${mutants} mutants killed, ${score.toFixed(1)} % (floor ${floor})`)
}
process.exit(low ? 1 : 0)
