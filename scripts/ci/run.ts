/**
 * Runs what a change must pass and ends with `N passed, N failed, N skipped`. `.ci/run` installs, then starts this; it says how to call it.
 * Long items begin only where they end within 55 minutes, and on a slow machine every other step only where it ends within 80: what is left
 * out is named, and counted as skipped.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isInstalled, run } from './commands.ts'
import { chapters, graphApart, journeys, long, longTests, replicas, type Step, type TestFiles } from './lists.ts'
import { freePort, type Platform, startPlatform } from './platform.ts'
import { type Runs, takeTurns } from './rotation.ts'
import { runTests } from './tests.ts'

const limitSeconds = 55 * 60
/** Whoever runs this may end it after 90 minutes, and a run without its last line says nothing. */
const lastSeconds = 80 * 60
const runsPath = 'scripts/ci/runs.json'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { passed: { type: 'string', default: '0' }, began: { type: 'string' } },
})
const beganAt = values.began ? Number(values.began) * 1000 : Date.now()
const work = mkdtempSync(join(tmpdir(), 'ci-'))
process.on('exit', () => rmSync(work, { recursive: true, force: true }))

const counts = { passed: Number(values.passed), failed: 0, skipped: 0 }
const elapsed = () => Math.round((Date.now() - beganAt) / 1000)
const heading = (name: string) => console.log(`\n== ${name} (${elapsed()} s)`)
const skip = (name: string, why: string) => {
  counts.skipped++
  console.log(`skipped: ${name}: ${why}`)
}

/** Says whether a step ends in time; otherwise it is skipped. */
function fits(name: string, seconds: number): boolean {
  const isInTime = elapsed() + seconds <= lastSeconds
  if (!isInTime) skip(name, `${seconds} s do not fit into 80 minutes`)
  return isInTime
}

function check(name: string, isGood: boolean): boolean {
  if (isGood) counts.passed++
  else counts.failed++
  console.log(`${isGood ? 'ok   ' : 'FAIL '} ${name}`)
  return isGood
}

/** What failed at first and passed when it was tried again: named at the end, for somebody has to look at it. */
const unstable: string[] = []

/** Runs a step, a second time where it failed, and counts it as one. @returns whether it ended well; null when it was skipped */
async function take({ name, seconds, command, env, needs = [] }: Step): Promise<boolean | null> {
  heading(name)
  const missing = needs.filter(program => !isInstalled(program))
  if (missing.length > 0) {
    skip(name, `${missing.join(', ')} is not installed`)
    return null
  }
  if (!fits(name, seconds)) return null
  const first = await run(command, { seconds, env })
  const again = first.exitCode !== 0 && elapsed() + seconds < limitSeconds
  if (again) heading(`${name}, a second time, for it ended with ${first.exitCode}`)
  const { exitCode } = again ? await run(command, { seconds, env }) : first
  if (again && exitCode === 0) unstable.push(name)
  return check(exitCode === 0 ? name : `${name} (exit ${exitCode})`, exitCode === 0)
}

/** More files than a busy machine makes fail: these are not tried again. */
const maxFilesTriedAgain = 24

/**
 * Runs test files and counts each test. Files with a failure run a second time, one after another, and that run counts: with two cores for
 * everything a time limit of a test may pass while another file works. What passed only then is named at the end. Files that do not begin
 * in time are named and counted as skipped.
 */
async function takeTests({ name, seconds, args, env }: TestFiles): Promise<void> {
  heading(name)
  const first = await runTests(args, { seconds, folder: work, env })
  counts.passed += first.passed
  counts.skipped += first.skipped
  for (const file of first.leftOut) skip(file, `${seconds} s were not enough for it`)
  if (first.problem) check(`${name}: ${first.problem}`, false)
  const { failedFiles, failedTests } = first
  if (failedFiles.length === 0) return
  if (failedFiles.length > maxFilesTriedAgain) {
    counts.failed += failedTests.length
    console.log(`FAIL  ${failedFiles.length} test files, too many for a second try`)
    return
  }
  heading(`${failedFiles.length} files a second time`)
  const again = await runTests(['--no-file-parallelism', ...failedFiles], { seconds: 900, folder: work, env })
  const stillFail = [...again.failedTests, ...again.leftOut]
  for (const test of stillFail) console.log(`FAIL  ${test}`)
  counts.failed += stillFail.length
  counts.passed += Math.max(0, failedTests.length - stillFail.length)
  unstable.push(...failedTests.filter(test => !stillFail.includes(test)))
  if (again.problem) check(`${name}, at the second try: ${again.problem}`, false)
}

async function takeJourneys(): Promise<void> {
  const { name, seconds } = journeys
  if (!isInstalled('chromium')) skip(name, 'chromium is not installed')
  else if (fits(name, seconds) && (await take({ name: 'npm run build:web', seconds: 120, command: ['npm', 'run', 'build:web'] }))) await takeTests(journeys)
}

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** Tests that a change since a commit reaches, by the imports of each test file. */
function testsOfChange(base: string): readonly string[] {
  const listed = execFileSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'list', '--changed', base, '--filesOnly'], { encoding: 'utf8' })
  return listed.split('\n').filter(path => path.endsWith('.test.ts') && !longTests.includes(path))
}

/** The chapters that a change since a commit touches: those of its subgraphs, all where it touches what these stand on. */
function chaptersOfChange(base: string): readonly string[] {
  const paths = git('diff', '--name-only', base).split('\n')
  const product = paths.filter(path => /^(?:config|db|platform|router|sandbox|subgraphs|carriers)\//.test(path))
  const slugs = product.map(path => /^subgraphs\/(\w+)\//.exec(path)?.[1])
  return chapters.embedded.filter(chapter => slugs.some(slug => slug === undefined || slug === chapter))
}

const trialPath = '../shared/tools/accept.mjs'

/** Runs one chapter. @returns null when it came to no end; a check that a slow machine left no time for has not failed */
async function tryOnce(name: string, platform: Platform, env: Readonly<Record<string, string>>) {
  const { output } = await run([process.execPath, trialPath, name, platform.url], { seconds: 260, env })
  const totals = /^(\d+) passed, (\d+) failed$/m.exec(output)
  if (!totals) return null
  const notTried = [...output.matchAll(/^FAIL {2}(.+): not tried: the chapter's three minutes are over$/gm)].map(match => match[1]!)
  return { passed: Number(totals[1]), failed: Number(totals[2]) - notTried.length, notTried }
}

/** Runs chapters of the trial that lies beside the repository, and counts each of its checks. */
async function tryFromOutside(platform: Platform, vendorPort: number, names: readonly string[]): Promise<void> {
  if (!existsSync(trialPath)) {
    for (const name of names) skip(`trial from outside, ${name}`, 'it is not part of this repository and does not lie beside it')
    return
  }
  for (const name of names) {
    heading(`trial from outside, ${name}`)
    if (!fits(`trial from outside, ${name}`, 260)) continue
    const env = { DATA_DIR: platform.data, VENDOR_PORT: String(vendorPort) }
    const first = await tryOnce(name, platform, env)
    const counted = first?.failed === 0 ? first : await tryOnce(name, platform, env)
    if (counted !== first && counted?.failed === 0) unstable.push(`trial from outside, ${name}`)
    if (counted) {
      counts.passed += counted.passed
      counts.failed += counted.failed
      for (const sentence of counted.notTried) skip(`trial from outside, ${sentence}`, 'the three minutes of its chapter were over')
    } else check(`trial from outside, ${name}, came to no end`, false)
  }
}

/** Starts a platform, does something with it, stops it; each end is counted. */
async function withPlatform(
  name: string,
  command: readonly string[],
  use: (platform: Platform, vendorPort: number) => Promise<void> = async () => {},
  folder?: string,
) {
  heading(name)
  if (!fits(name, 90)) return
  // The chapter `repairs` starts a model vendor on this port.
  const vendorPort = await freePort()
  const data = join(work, `data-${counts.passed}-${counts.failed}`)
  const platform = await startPlatform(command, { data, folder, env: { OUTBOUND_ALLOW: `http://localhost:${vendorPort}` } })
  if (!check(`${name} on an empty data folder is ready`, platform !== null)) return
  await use(platform!, vendorPort)
  check(`${name}: TERM leaves nothing running`, await platform!.stop())
}

/** A copy of what is committed or not ignored, without installed packages. */
function copyOfProject(name: string): string {
  const copy = join(work, name)
  mkdirSync(copy)
  for (const path of git('ls-files', '--cached', '--others', '--exclude-standard').split('\n'))
    if (existsSync(path)) cpSync(path, join(copy, path), { verbatimSymlinks: true })
  return copy
}

const isGood = async (name: string, seconds: number, command: readonly string[], folder?: string): Promise<boolean> => {
  heading(name)
  if (!fits(name, seconds)) return false
  return check(name, (await run(command, { seconds, folder })).exitCode === 0)
}

/** What runs in production has the packages that run alone: those of deploy/Dockerfile. */
async function leanInstallation(): Promise<void> {
  const copy = copyOfProject('lean')
  if (await isGood('npm ci --omit=dev in a copy', 480, ['npm', 'ci', '--omit=dev', '--prefer-offline'], copy))
    await withPlatform('every process without what development needs', ['npm', 'run', 'start:apart'], undefined, copy)
}

/** npm before 11.8 links no bin `node` when several packages claim it; scripts/link-node.cjs does it then. */
async function oldestNpm(): Promise<void> {
  const oldest = 'npm@10.8.2'
  // Started by its own path, so that signals reach it without npx in between.
  const { output } = await run(['npx', '--yes', '-p', oldest, '-c', 'command -v npm'], { seconds: 60 })
  const npm = output.trim().split('\n').at(-1)!
  const copy = copyOfProject('old')
  if (!(await isGood(`${oldest} ci in a copy`, 480, [npm, 'ci', '--prefer-offline'], copy))) return
  const version = await run([join(copy, 'node_modules/.bin/node'), '--version'], { seconds: 10 })
  check(`${oldest}: scripts run on Node 26`, version.output.startsWith('v26.'))
  await withPlatform(`${oldest} start`, [npm, 'start'], undefined, copy)
}

/** A server of another hand for the storage driver. It is not among our packages: it takes a newer Node than npm runs on here. */
async function installS3Server(): Promise<void> {
  const folder = join(work, 's3')
  const command = ['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '@20minutes/s3rver@5.0.0']
  if (await isGood('an S3 server to try storage against', 120, command)) process.env.S3RVER = join(folder, 'node_modules/@20minutes/s3rver/lib/s3rver.js')
}

async function change(base: string): Promise<void> {
  await take({ name: 'npm run check', seconds: 480, command: ['npm', 'run', 'check'] })
  const files = testsOfChange(base)
  if (files.length > 0) await takeTests({ name: `tests of what changed since ${base}`, seconds: 660, args: files })
  const names = chaptersOfChange(base)
  if (names.length > 0) await withPlatform('npm start', ['npm', 'start'], (platform, vendorPort) => tryFromOutside(platform, vendorPort, names))
}

async function full(): Promise<void> {
  await take({ name: 'npm run check', seconds: 480, command: ['npm', 'run', 'check'] })
  await installS3Server()
  await takeTests({
    name: 'npm test, without the long tests',
    seconds: 2100,
    args: longTests.flatMap(path => ['--exclude', path]),
  })
  if (!isInstalled('nats-server')) skip(graphApart.name, 'nats-server is not installed')
  else if (fits(graphApart.name, graphApart.seconds)) await takeTests(graphApart)
  await take({ name: 'npm run generate, for the REST document', seconds: 120, command: ['npm', 'run', 'generate'] })
  await takeJourneys()
  const hasExamples = (await take({ name: 'examples: npm ci', seconds: 240, command: ['npm', 'ci', '--prefix', 'examples'] })) === true
  const walk = async (name: string, command: readonly string[]) => {
    if (hasExamples) await take({ name, seconds: 120, command })
    else skip(name, 'the packages of examples are not installed')
  }
  await withPlatform('npm start', ['npm', 'start'], async (platform, vendorPort) => {
    await tryFromOutside(platform, vendorPort, chapters.embedded)
    const command = ['npm', 'test', '--prefix', 'examples', '--', platform.url]
    await walk("a newcomer's walk: Apollo Client, urql, graphql-request, a generated REST client, curl", command)
  })
  await withPlatform('two of each process', ['npm', 'run', 'start:apart', '--', '--replicas', replicas], async (platform, vendorPort) => {
    await walk("a newcomer's walk over two of each process", ['npm', 'run', 'walk', '--prefix', 'examples', '--', platform.url])
    await tryFromOutside(platform, vendorPort, chapters.apart)
  })
  await leanInstallation()
  await oldestNpm()
}

async function longItems(items: readonly Step[]): Promise<void> {
  const runs: Record<string, string> = { ...(JSON.parse(readFileSync(runsPath, 'utf8')) as Runs) }
  for (const item of items) if ((await take(item)) !== null) runs[item.name] = new Date().toISOString()
  // A developer who runs this before a commit commits this file with it.
  const current = long.flatMap(({ name }) => (runs[name] ? [[name, runs[name]]] : []))
  writeFileSync(runsPath, `${JSON.stringify(Object.fromEntries(current), null, 2)}\n`)
}

const [list, ...names] = positionals
if (list === 'change') await change(names[0] ?? 'HEAD~1')
else if (list === 'long') await longItems(long.filter(({ name }) => names.length === 0 || names.includes(name)))
else {
  await full()
  const { chosen, leftOut } = takeTurns(long, JSON.parse(readFileSync(runsPath, 'utf8')), limitSeconds - elapsed())
  await longItems(chosen)
  for (const { name, seconds } of leftOut) skip(name, `${seconds} s do not fit into this run`)
}
for (const name of unstable) console.log(`unstable: passed at its second try alone: ${name}`)
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(counts.failed === 0 ? 0 : 1)
