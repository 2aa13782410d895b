import { pino } from 'pino'
import { type EmbeddedPostgres, startPostgres } from '../../../db/embedded.ts'
import { endServers, openRunFolder, removeRunFolder, runFolderVariable } from './folder.ts'
import { easeSignIn, filledVariable, makeTemplate, serverVariable } from './template.ts'

/** What a database that nobody needs tomorrow may leave out. */
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', autovacuum: 'off', max_connections: '200' }

/** Starts one PostgreSQL for the whole run, migrates the template once, and tells the workers its address. */
export default async function setup(): Promise<() => Promise<void>> {
  let folder: string | undefined
  let postgres: EmbeddedPostgres | undefined
  try {
    folder = await openRunFolder()
    postgres = await startPostgres({ folder, log: pino({ level: 'silent' }), settings })
    process.once('exit', postgres.killNow)
    await easeSignIn(postgres.url)
    process.env[filledVariable] = JSON.stringify(await makeTemplate(postgres.url))
    process.env[serverVariable] = postgres.url
    process.env[runFolderVariable] = folder
    return () => close(folder, postgres)
  } catch (error) {
    await close(folder, postgres)
    // If this threw, vitest would report "No test files found" and wait ten seconds.
    console.error(`the tests cannot start: ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  }
}

async function close(folder: string | undefined, postgres: EmbeddedPostgres | undefined): Promise<void> {
  await postgres?.stop()
  if (!folder) return
  endServers(folder)
  removeRunFolder(folder)
}
