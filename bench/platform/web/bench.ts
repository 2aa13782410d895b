/**
 * Prints the size and loading time of pages, beside their budgets, as Markdown tables: `npm run bench:web -- [URL]`.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { readBuilt } from '../../../web/serve/built.ts'
import { interactionBudget, measureInteractions, measureJourneys } from './interactions.ts'
import { measureTimes, timeBudgets } from './times.ts'
import { weightsOf } from './weights.ts'

const built = readBuilt()
if (!built) {
  console.error('The pages are not built: run npm run build:web.')
  process.exit(1)
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
const mark = (isKept: boolean) => (isKept ? 'kept' : 'over')

const weights = weightsOf(built)
console.log(
  table(
    ['page', 'kB, gzip', 'budget', ''],
    weights.map(({ name, script, budget }) => [name, script.toFixed(1), String(budget), mark(script <= budget)]),
  ),
)
let isOver = weights.some(({ script, budget }) => script > budget)

const url = process.argv[2]
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path => existsSync(path))
if (!url || !executablePath) {
  console.log(`\nTimes are left out: ${url ? 'there is no Chromium' : 'name a running platform with demo data, npm run bench:web -- http://localhost:4000'}.`)
} else {
  const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
  try {
    const isKept = [await printTimes(url, browser), await printInteractions(url, browser)]
    isOver ||= isKept.includes(false)
    const journeys = await measureJourneys(url, browser)
    console.log(
      `\n${table(
        ['at the edge of a network: 4 × slower, 400 kbit/s, 400 ms, 390 px', 'ms'],
        journeys.map(({ name, ms }) => [name, ms.toFixed(0)]),
      )}`,
    )
  } finally {
    await browser.close()
  }
}
process.exit(isOver ? 1 : 0)

/** @returns whether all times are within their budgets */
async function printTimes(url: string, browser: Browser): Promise<boolean> {
  const times = await measureTimes(url, browser)
  const kept = ({ lcp, cls, operations, requests }: (typeof times)[number]) =>
    lcp <= timeBudgets.lcp && cls <= timeBudgets.cls && operations <= timeBudgets.operations && requests <= timeBudgets.requests
  console.log(
    `\n${table(
      [
        'page, 4 × slower, 10 Mbit/s, 40 ms',
        `LCP ms (${timeBudgets.lcp})`,
        `CLS (${timeBudgets.cls})`,
        `operations (${timeBudgets.operations})`,
        `requests (${timeBudgets.requests})`,
        '',
        'ready at 400 kbit/s, 400 ms, first, ms',
        'again, ms',
      ],
      times.map(each => [
        ...[each.name, each.lcp.toFixed(0), each.cls.toFixed(3), String(each.operations), String(each.requests), mark(kept(each))],
        ...[each.slow.toFixed(0), each.slowAgain.toFixed(0)],
      ]),
    )}`,
  )
  return times.every(kept)
}

/** @returns whether all interactions are within their budget */
async function printInteractions(url: string, browser: Browser): Promise<boolean> {
  const interactions = await measureInteractions(url, browser)
  const kept = ({ inp }: (typeof interactions)[number]) => inp <= interactionBudget
  console.log(
    `\n${table(
      ['what a person does, 4 × slower', `INP ms (${interactionBudget})`, ''],
      interactions.map(each => [each.name, String(each.inp), mark(kept(each))]),
    )}`,
  )
  return interactions.every(kept)
}
