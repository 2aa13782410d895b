/**
 * Prints the size and loading time of pages, beside their budgets, as Markdown tables: `npm run bench:web -- [URL]`.
 */
import { existsSync } from 'node:fs'
import { readBuilt } from '../../../web/serve/built.ts'
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
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(path => existsSync(path))
if (!url || !browser) {
  console.log(`\nTimes are left out: ${url ? 'there is no Chromium' : 'name a running platform with demo data, npm run bench:web -- http://localhost:4000'}.`)
} else {
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
      ],
      times.map(each => [each.name, each.lcp.toFixed(0), each.cls.toFixed(3), String(each.operations), String(each.requests), mark(kept(each))]),
    )}`,
  )
  isOver ||= !times.every(kept)
}
process.exit(isOver ? 1 : 0)
