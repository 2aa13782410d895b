import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSchema } from 'graphql'
import { coordinatesIn } from '../../router/metrics/usage/coordinates.ts'
import { deprecationsIn } from '../../router/metrics/usage/deprecations.ts'
import type { CoordinateUse } from '../../router/metrics/usage/store.ts'
import { apiFile } from '../../schema/compose.ts'
import { clientsInWords } from '../../schema/released/judge.ts'
import { openRecord } from '../../schema/released/record.ts'
import { readDays } from '../../schema/released/words.ts'
import { StartError } from '../../start-error.ts'

// `npm run schema:usage`: which clients use which fields, arguments, input fields and enum values, or which nobody uses.
const usage = 'npm run schema:usage -- [--days 30] [--client NAME] [--coordinate Post.copy] [--unused] [--json]'
const root = join(import.meta.dirname, '../..')
const stack = new AsyncDisposableStack()
try {
  const { days, client, coordinate, unused, json } = readWords()
  const api = buildSchema(await readFile(join(root, apiFile), 'utf8'))
  const { since, until, firstDay, store } = await openRecord(days, stack)
  const uses = await store.read({ since: firstDay, client, coordinates: coordinate === undefined ? undefined : [coordinate] })
  const period = { since: since.toISOString(), until: until.toISOString(), days }
  if (unused) {
    const used = new Set(uses.map(each => each.coordinate))
    const left = coordinatesIn(api).filter(each => !used.has(each) && (coordinate === undefined || each === coordinate))
    if (json) console.log(JSON.stringify({ ...period, unused: left }))
    else for (const each of left) console.log(each)
  } else {
    // Conditions of fragments are recorded to judge changes: they are no use of a field.
    const coordinates = byCoordinate(uses.filter(each => coordinate !== undefined || each.coordinate.includes('.')))
    const deprecated = deprecationsIn(api)
    if (json) console.log(JSON.stringify({ ...period, coordinates: coordinates.map(each => ({ ...each, deprecated: deprecated.has(each.coordinate) })) }))
    else
      for (const { coordinate, count, clients, lastUsedAt } of coordinates)
        console.log(`${coordinate}  ${count}  ${clientsInWords(clients)}  last ${lastUsedAt.toISOString().slice(0, 10)}`)
  }
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 2
} finally {
  await stack.disposeAsync()
}

function readWords() {
  try {
    const { values } = parseArgs({
      options: {
        days: { type: 'string', default: '30' },
        client: { type: 'string' },
        coordinate: { type: 'string' },
        unused: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
    return { ...values, days: readDays(values.days) }
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}: ${usage}`)
  }
}

/** Adds uses up by coordinate, most used first. */
function byCoordinate(uses: readonly CoordinateUse[]) {
  return [...Map.groupBy(uses, ({ coordinate }) => coordinate)]
    .map(([coordinate, group]) => ({
      coordinate,
      count: group.reduce((sum, { count }) => sum + count, 0),
      lastUsedAt: group.reduce((last, each) => (each.lastUsedAt > last ? each.lastUsedAt : last), group[0]!.lastUsedAt),
      clients: group.map(({ client, version, operations, count, lastUsedAt }) => ({ name: client, version, operations, count, lastUsedAt })),
    }))
    .sort((one, other) => other.count - one.count || (one.coordinate < other.coordinate ? -1 : 1))
}
