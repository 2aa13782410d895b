import { readConfig } from '../../config.ts'
import { openPlatformDatabase } from '../../db/embedded.ts'
import { systemClock } from '../../platform/clock.ts'
import { isId } from '../../platform/ids.ts'
import { openFactOperator } from '../../platform/jobs/facts/operator.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { StartError } from '../../start-error.ts'

// `npm run facts -- list | retry [ID] | drop ID`: facts that are not delivered, in the database of DATABASE_URL or of the platform that runs in
// the data folder. What is retried is told within 15 s, by the processes that run.
const usage = 'npm run facts -- list | retry [ID] | drop ID: what one subgraph has to tell another and could not yet'
const stack = new AsyncDisposableStack()
try {
  const [verb = 'list', id, ...more] = process.argv.slice(2)
  if (!['list', 'retry', 'drop'].includes(verb) || more.length > 0 || (verb === 'list' && id) || (verb === 'drop' && !id)) throw new StartError(usage)
  if (id && !isId(id)) throw new StartError(`${id} is no id: take one of npm run facts -- list`)
  const sequelize = await openPlatformDatabase(readConfig(undefined, { secrets: false }), stack)
  const facts = await openFactOperator(sequelize, listedSlugs)
  if (verb === 'list') {
    const undelivered = await facts.list()
    if (undelivered.length === 0) console.log('every fact is delivered')
    for (const { from, receiver, id, kind, subject, at, attempts, state, failure } of undelivered)
      console.log(`${id}  ${state}  ${kind}  ${from} -> ${receiver}  ${subject}  ${at.toISOString()}  ${attempts} tries${failure ? `  ${failure}` : ''}`)
  } else if (verb === 'retry') console.log(`${await facts.retry(id ?? null, systemClock.now())} are told again within 15 s`)
  else console.log(`${await facts.drop(id!, systemClock.now())} given up`)
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await stack.disposeAsync()
}
