import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { apiFile, releasedFile } from '../../schema/compose.ts'
import { breakingBetween } from '../../schema/released/changes.ts'
import { judge, judgedInWords } from '../../schema/released/judge.ts'
import { openRecord } from '../../schema/released/record.ts'
import { readDays } from '../../schema/released/words.ts'
import { lineOf, StartError } from '../../start-error.ts'

// `npm run schema:check`: which breaking changes clients would notice, by the recorded use. Exit 0: none, 1: some, 2: it cannot be said.
const usage = 'npm run schema:check -- [--against FILE] [--proposed FILE] [--days 30] [--json]'
const root = join(import.meta.dirname, '../..')
const stack = new AsyncDisposableStack()
try {
  const { against, proposed, days, json } = readWords()
  const [before, after] = await Promise.all([read(against, releasedFile), read(proposed, apiFile)])
  const changes = await breakingBetween(before, after)
  const { since, firstDay, store } = await openRecord(days, stack)
  const judged = judge(changes, await store.touching(firstDay, [...new Set(changes.flatMap(({ touches }) => touches ?? []))]))
  const inUse = judged.filter(({ used }) => used).length
  if (json) {
    const breaking = judged.map(({ change: { kind, coordinate, message }, ...use }) => ({ kind, coordinate, message, ...use }))
    console.log(JSON.stringify({ days, breaking, inUse, unused: judged.length - inUse }))
  } else {
    for (const each of judged) console.log(judgedInWords(each, days))
    console.log(`${judged.length} breaking changes: ${inUse} in use, ${judged.length - inUse} unused`)
  }
  if (Date.now() - since.getTime() < days * 86_400_000 - 60_000) console.error(`use is recorded since ${since.toISOString()}, which is less than ${days} days`)
  process.exitCode = inUse > 0 ? 1 : 0
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 2
} finally {
  await stack.disposeAsync()
}

function readWords() {
  try {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ options: { against: text, proposed: text, days: { ...text, default: '30' }, json: { type: 'boolean', default: false } } })
    return { ...values, days: readDays(values.days) }
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}: ${usage}`)
  }
}

/** Reads a schema from a file of the command line, which is meant from where npm was called, or else from one of ours. */
async function read(given: string | undefined, ours: string): Promise<GraphQLSchema> {
  const file = given === undefined ? join(root, ours) : resolve(process.env.INIT_CWD ?? process.cwd(), given)
  try {
    return buildSchema(await readFile(file, 'utf8'))
  } catch (error) {
    throw new StartError(`${given ?? ours} is no readable schema: ${lineOf(error)}`, error)
  }
}
