/** Measures publishing and prints Markdown tables: see `npm run bench:publishing -- --help`. */
import { cpus, loadavg, release } from 'node:os'
import { parseArgs } from 'node:util'
import { loadCore, pinMyself } from '../processes.ts'

const usage = `npm run bench:publishing -- [chapter] [flags]

Chapters (delivery unless one is named):
  delivery   100 due posts a second for a minute, and as many as go, beside bare jobs of pg-boss
  lists      every list, count and sweep on a million posts
  rest       a thread by GET /api/posts?threadId= beside the same operation by GraphQL
  upload     a film of 1 GiB by tus, in one process and apart

Flags:
  --seconds N        how long posts are due (default 60)
  --rate N           how many a second (default 100)
  --small            lists: a fiftieth of the rows
  --only REGEXP      lists: only operations whose name matches; upload: only one process, or apart
  --plans            lists: writes the plans of what takes too long to standard error
  --help             says this

bench/README.md tells what is measured and how.`

const options = {
  seconds: { type: 'string', default: '60' },
  rate: { type: 'string', default: '100' },
  small: { type: 'boolean', default: false },
  only: { type: 'string' },
  plans: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const { values, positionals } = parseArgs({ allowPositionals: true, options })
const [chapter = 'delivery'] = positionals
const only = values.only === undefined ? undefined : new RegExp(values.only)
const chapters: Readonly<Record<string, () => Promise<string>>> = {
  async delivery() {
    const { measureDelivery } = await import('./delivery.ts')
    return measureDelivery({ rate: Number(values.rate), seconds: Number(values.seconds) })
  },
  async rest() {
    const { measureRest } = await import('./rest.ts')
    return measureRest({ rounds: 7 })
  },
  async upload() {
    const { measureUpload } = await import('./upload.ts')
    return measureUpload(only)
  },
  async lists() {
    const [{ measureLists }, { million }] = await Promise.all([import('./lists.ts'), import('../../test/subgraphs/publishing/tables/rows.ts')])
    const size = values.small ? { brands: 20, postsABrand: 100, postsOfOne: 2_000, elsewhere: 160, overdue: 400 } : million
    return measureLists({ size, runs: 40, plans: values.plans, only })
  },
}
if (values.help || !chapters[chapter]) {
  console.log(usage)
  process.exit(values.help ? 0 : 1)
}
// The measured process has the other core.
await pinMyself(loadCore)
const { default: setUp } = await import('../../test/kit/run/global-setup.ts')
const stop = await setUp()
let failed = false
try {
  const [load] = loadavg()
  console.log(
    `# ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}, Node ${process.version}, load ${load!.toFixed(1)}\n`,
  )
  console.log(`## Publishing: ${chapter}\n\n${await chapters[chapter]()}\n`)
} catch (error) {
  failed = true
  console.error(error)
} finally {
  await stop()
}
process.exit(failed ? 1 : 0)
