import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../config.ts'
import { hasCluster, readCluster, removeLeftovers } from '../db/embedded/cluster.ts'
import { findOrphan, stopServer } from '../db/embedded/server.ts'
import { lockFolder } from '../db/lock.ts'
import { StartError } from '../start-error.ts'
import { agreed, saysYes } from './consent.ts'

// `npm run reset [-- --yes]`: removes what a development platform stores in its data folder, and no other files there.
try {
  const { environment, databaseUrl, dataDir } = readConfig()
  const yes = saysYes('npm run reset')
  if (environment !== 'development') throw new StartError(`npm run reset works in development only, and ENVIRONMENT is ${environment}`)
  if (databaseUrl)
    throw new StartError('npm run reset empties the embedded database only: drop the one of DATABASE_URL by its own means, or unset DATABASE_URL')
  if (ours(dataDir).length === 0) throw new StartError(`${dataDir} holds nothing of the platform: DATA_DIR names the folder to reset`)
  // The lock is held to the end: no platform runs on the folder, and none can start while it is emptied.
  const lock = await lockFolder(dataDir)
  try {
    const question = `Remove the database, the generated keys, the stored media and the state of the sandbox in ${dataDir}? They cannot be got back.`
    const unasked = `nothing was removed from ${dataDir}: without a terminal to ask on, say npm run reset -- --yes`
    if (!yes && !(await agreed(question, unasked))) throw new StartError('nothing was removed')
    await removeLeftovers(lock.folder)
    const orphan = hasCluster(lock.folder) ? await findOrphan(readCluster(lock.folder)) : null
    if (orphan) await stopServer(orphan)
    for (const name of ours(lock.folder)) await rm(join(lock.folder, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  } finally {
    lock.release()
  }
  console.log(`${dataDir} is empty: npm start makes everything anew`)
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

/** What a platform leaves in its data folder: database, generated keys, facts of the demo, the link for the first account, state of the sandbox, stored media. */
function ours(folder: string): string[] {
  const known =
    /^(?:postgres|postgresql-.*|keys\.json|service-tokens\.json|gateway-tokens\.json|demo\.json|setup-link(?:\.new)?|sandbox|storage)$|^(?:keys|service-tokens|gateway-tokens|demo)\.json\.new$/
  return existsSync(folder) ? readdirSync(folder).filter(name => known.test(name)) : []
}
