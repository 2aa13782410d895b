import { pino } from 'pino'
import { readConfig } from '../config.ts'
import { checkConnection, connect } from '../db/connect.ts'
import { removeDemoFile } from '../db/demo-file.ts'
import { findDemo, removeDemo } from '../db/demo-removal.ts'
import { hasCluster } from '../db/embedded/cluster.ts'
import { startPostgres } from '../db/embedded.ts'
import { lockFolder } from '../db/lock.ts'
import { StartError } from '../start-error.ts'
import { agreed, saysYes } from './consent.ts'

// `npm run demo:remove [-- --yes]`: removes the demo accounts and what is theirs from the database of DATABASE_URL or of the data folder.
const log = pino({ level: 'silent' })
const stack = new AsyncDisposableStack()
try {
  const { databaseUrl, dataDir } = readConfig(undefined, { secrets: false })
  const yes = saysYes('npm run demo:remove')
  const url = databaseUrl ?? (await openEmbedded(dataDir))
  if (databaseUrl) await checkConnection(databaseUrl)
  const { sequelize, close } = connect({ url, poolSize: 1, log })
  stack.defer(close)
  const found = await findDemo(sequelize)
  if (found.accounts.length === 0) console.log('the database holds no demo accounts')
  else {
    const slugs = found.organizations.map(({ slug }) => slug).join(', ') || 'none'
    const question = `Remove the accounts ${found.accounts.join(', ')}, and the organizations in which there is nobody else (${slugs}) with all their data? They cannot be got back.`
    if (!yes && !(await agreed(question, `${question} Without a terminal to ask on, say npm run demo:remove -- --yes`)))
      throw new StartError('nothing was removed')
    const gone = await removeDemo(sequelize)
    removeDemoFile(dataDir)
    console.log(`removed ${gone.accounts.length} demo accounts and the organizations ${gone.organizations.map(({ slug }) => slug).join(', ') || 'of nobody'}`)
    if (gone.shared.length > 0) console.log(`these stay, because they have other members: ${gone.shared.join(', ')}`)
  }
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await stack.disposeAsync()
}

/** Starts the database of the data folder, which no platform may use meanwhile. */
async function openEmbedded(dataDir: string): Promise<string> {
  if (!hasCluster(dataDir)) throw new StartError(`${dataDir} holds no database: DATA_DIR names the folder, or DATABASE_URL a database of your own`)
  const lock = await lockFolder(dataDir)
  stack.defer(() => lock.release())
  const postgres = await startPostgres({ folder: dataDir, log })
  stack.defer(() => postgres.stop())
  return postgres.url
}
