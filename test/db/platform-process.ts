// A program of its own for tests that kill one: locks a data folder, starts its PostgreSQL, says so in one line of JSON.
// `kill -TERM` stops it in order; the word `uncaught` as second argument makes it fall over once it is up.
import { pino } from 'pino'
import { startPostgres } from '../../db/embedded.ts'
import { lockFolder } from '../../db/lock.ts'
import { StartError } from '../../start-error.ts'

const [folder = '', end = 'wait'] = process.argv.slice(2)
try {
  const lock = await lockFolder(folder)
  const postgres = await startPostgres({ folder, log: pino({ level: 'silent' }) })
  process.once('SIGTERM', async () => {
    await postgres.stop()
    lock.release()
    process.exit(0)
  })
  process.once('uncaughtException', () => {
    postgres.killNow()
    process.exit(2)
  })
  console.log(JSON.stringify({ url: postgres.url, recovered: postgres.recovered, lockRecovered: lock.recovered }))
  if (end === 'uncaught') setImmediate(() => Promise.reject(new Error('nobody expects this')))
  setInterval(() => {}, 60_000)
} catch (error) {
  console.error(error instanceof StartError ? error.message : error)
  process.exit(1)
}
