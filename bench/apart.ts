import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { signIn } from '../test/kit/client.ts'
import { crossing } from './platform/query.ts'
import { freePort } from './processes.ts'
import { median } from './table.ts'

/** A platform that was started for the measurement, with all its processes. */
interface Platform extends AsyncDisposable {
  ask(): Promise<void>
  /** Returns the processor time so far in ms, of each of its processes by name. */
  cpu(): ReadonlyMap<string, number>
}

const together = 8
const warmUp = 400

/**
 * Measures the platform's query in distributed mode beside one process: processor time of all processes, the database
 * included, for one request.
 */
export async function measureApart({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }): Promise<string> {
  await using embedded = await startPlatform([])
  await using apart = await startPlatform(['apart'])
  for (const { ask } of [embedded, apart]) await load(ask, () => false, warmUp)
  const costs: { readonly embedded: Cost; readonly apart: Cost }[] = []
  for (let round = 0; round < rounds; round++) costs.push({ embedded: await measure(embedded, seconds), apart: await measure(apart, seconds) })
  const whole = (cost: Cost) => [...cost.values()].reduce((sum, ms) => sum + ms, 0)
  const ratios = costs.map(cost => whole(cost.apart) / whole(cost.embedded)).sort((a, b) => a - b)
  const row = (name: string, all: readonly Cost[]) =>
    `| ${name} | ${median(all.map(whole)).toFixed(2)} | ${[...all[0]!.keys()].map(part => `${part} ${median(all.map(cost => cost.get(part) ?? 0)).toFixed(2)}`).join(', ')} |`
  return `| | ms of processor time a request | of it |
| --- | --- | --- |
${row(
  'one process',
  costs.map(cost => cost.embedded),
)}
${row(
  'processes apart',
  costs.map(cost => cost.apart),
)}

Apart ÷ one process: ${median(ratios).toFixed(2)} [${ratios[0]!.toFixed(2)}-${ratios.at(-1)!.toFixed(2)}].`
}

/** Processor time of a request, by process. */
type Cost = ReadonlyMap<string, number>

async function measure({ ask, cpu }: Platform, seconds: number): Promise<Cost> {
  const before = cpu()
  const end = performance.now() + seconds * 1000
  const asked = await load(ask, () => performance.now() > end)
  return new Map([...cpu()].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / asked]))
}

async function load(ask: () => Promise<void>, isOver: () => boolean, most = Number.POSITIVE_INFINITY): Promise<number> {
  let asked = 0
  const work = async () => {
    while (asked < most && !isOver()) {
      asked++
      await ask()
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return asked
}

async function startPlatform(words: readonly string[]): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-apart-'))
  const port = await freePort()
  const settings = {
    NODE_ENV: 'production',
    DATA_DIR: folder,
    PORT: port,
    SANDBOX_PORT: 0,
    LOG_LEVEL: 'fatal',
    EVENT_CARRIER: words.length > 0 ? 'notify' : 'memory',
  }
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const child = spawn('env', [...variables, process.execPath, ...(words.length > 0 ? [] : ['--max-semi-space-size=64']), 'router/main.ts', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ready = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', line => line.startsWith('ready in') && ready.resolve())
  await Promise.race([ready.promise, once(child, 'exit').then(() => Promise.reject(new Error(`the platform ${words.join(' ')} did not start`)))])
  const url = `http://localhost:${port}`
  const { token } = await signIn(url)
  const body = JSON.stringify({ query: crossing })
  return {
    async ask() {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body,
      })
      const text = await response.text()
      if (response.status !== 200 || text.includes('"errors"')) throw new Error(text)
    },
    cpu() {
      const costs = new Map<string, number>()
      for (const { name, ms } of family(child.pid!)) costs.set(name, (costs.get(name) ?? 0) + ms)
      return costs
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns a process and all its descendants, each with its name and processor time in ms. */
function family(pid: number): readonly { readonly name: string; readonly ms: number }[] {
  const stats = new Map<number, { readonly parent: number; readonly ms: number; readonly name: string }>()
  for (const each of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${each}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const words = readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0').filter(Boolean)
      // Ticks are hundredths of a second. What ended since counts with its parent.
      stats.set(Number(each), { parent: Number(fields[1]), ms: 10 * [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0), name: nameOf(words) })
    } catch {
      // It ended meanwhile.
    }
  }
  const found: { name: string; ms: number }[] = []
  const visit = (parent: number) => {
    const { name, ms } = stats.get(parent)!
    found.push({ name, ms })
    for (const [child, stat] of stats) if (stat.parent === parent) visit(child)
  }
  visit(pid)
  return found
}

function nameOf(words: readonly string[]): string {
  const program = words.findIndex(word => word.endsWith('router/main.ts'))
  if (program >= 0) return words.slice(program + 1).at(-1) ?? 'node'
  return /sandbox/.test(words.join(' ')) ? 'sandbox' : /postgres/.test(words[0] ?? '') ? 'postgres' : (words[0] ?? '')
}
