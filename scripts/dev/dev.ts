import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { watchProject } from './watch.ts'

/**
 * `npm run dev`: the platform, again after each change of what it is made of. Before a restart the derived files are generated
 * where a change asks for it, and the program is loaded once for trial; with a mistake the platform that runs goes on, and the
 * next save tries again. Words of the command line are the platform's.
 */
const root = join(import.meta.dirname, '../..')
const folders = ['subgraphs', 'platform', 'carriers', 'router', 'db', 'sandbox', 'schema', 'config']

const isDerived = (path: string) => /\.generated\.ts$|^schema\/(?:subgraphs\/.*|supergraph|api)\.graphql$/.test(path)
/** What `npm run generate` reads: contracts, operations, the list of subgraphs, rows, settings, and its own code. */
const isInput = (path: string) => !isDerived(path) && /\.(?:graphql|yaml)$|^codegen\.ts$|\/table\.ts$|^(?:schema|config|router\/rest)\/.*\.ts$/.test(path)
const counts = (path: string) => /(?:^|\/)[^./][^/]*\.(?:ts|graphql|sql|yaml)$/.test(path) && path !== 'schema/api.released.graphql'

const watcher = watchProject(root, { folders, counts })
let platform: ChildProcess | null = null
let ending = false

process.on('SIGINT', () => void end('SIGINT'))
process.on('SIGTERM', () => void end('SIGTERM'))
process.on('SIGHUP', () => void end('SIGHUP'))
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const npm = process.ppid
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== npm && void end('SIGTERM'), 300).unref()

start()
// Picks up changes made while nothing was watching; files written by this program count like any others.
await generate()

/** Changes that are not running yet: a mistake in one file holds up the others. */
const pending = new Set<string>()
while (!ending) {
  const changed = await watcher.changes()
  for (const path of changed) pending.add(path)
  say(`${listing(changed)} changed`)
  const sound = await isSound(changed)
  if (ending) break
  if (!sound) {
    say(`${platform ? 'the platform goes on as it was' : 'nothing runs'}; the next save tries again`)
    continue
  }
  pending.clear()
  await stop('SIGTERM')
  start()
}

/** Generates as long as inputs change, then loads the program; false when either fails, which has then been shown. */
async function isSound(changed: readonly string[]): Promise<boolean> {
  for (let fresh: readonly string[] = [...pending, ...changed]; fresh.some(isInput); fresh = watcher.look()) {
    for (const path of fresh) pending.add(path)
    if (!(await generate())) return false
  }
  const { status, output } = await runNode(['scripts/trial.ts'])
  if (status !== 0) show(output.split('\n').filter(line => !/^ {4}at |^Node\.js v|^$/.test(line)))
  return status === 0
}

async function generate(): Promise<boolean> {
  const { status, output } = await runNode(['schema/generate.ts'])
  const lines = output.trim().split('\n')
  if (status !== 0) show(lines)
  else for (const line of lines.filter(each => /^(?:wrote|removed|warning)/.test(each))) say(line)
  return status === 0
}

function start(): void {
  // Runs under npm's process, so that it ends if this one is killed.
  const env = { ...process.env, npm_lifecycle_event: process.env.npm_lifecycle_event ?? 'dev' }
  const child = spawn(process.execPath, ['--max-semi-space-size=64', 'router/main.ts', ...process.argv.slice(2)], { cwd: root, env, stdio: 'inherit' })
  platform = child
  child.once('exit', status => {
    if (platform !== child) return
    platform = null
    if (ending) return
    // The command only printed its usage.
    if (status === 0) process.exit(0)
    say('the platform has ended; the next save tries again')
  })
}

/** Ends the platform and waits until it is gone. */
async function stop(signal: NodeJS.Signals): Promise<void> {
  const child = platform
  if (!child) return
  platform = null
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

async function end(signal: NodeJS.Signals): Promise<void> {
  // The platform itself handles a second Ctrl-C.
  if (ending) return
  ending = true
  watcher.close()
  await stop(signal)
  process.exit(0)
}

/** Runs a program of the project to its end. */
async function runNode(words: readonly string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, output: output.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '') }
}

function show(lines: readonly string[]): void {
  console.error(['', ...lines.map(line => `  ${line}`), ''].join('\n'))
}

function say(sentence: string): void {
  console.log(`dev: ${sentence}`)
}

/** A few names; of many their number. */
function listing(paths: readonly string[]): string {
  return paths.length <= 3 ? paths.join(', ') : `${paths.slice(0, 2).join(', ')} and ${paths.length - 2} more`
}
