import { resolve } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../config.ts'
import { type DataFile, dataFiles, readDataFiles } from '../db/backup/data-files.ts'
import { dump } from '../db/backup/dump.ts'
import { checkBackup, writeBackup } from '../db/backup/file.ts'
import { checkConnection } from '../db/connect.ts'
import { hasCluster } from '../db/embedded/cluster.ts'
import { runningDatabase, startPostgres } from '../db/embedded.ts'
import { lockFolder } from '../db/lock.ts'
import { version } from '../router/start/process/welcome.ts'
import { StartError } from '../start-error.ts'

// `npm run backup -- FILE`: writes what belongs to the platform into one file, from the database of DATABASE_URL or of the data folder,
// whether the platform runs or not.
const stack = new AsyncDisposableStack()
try {
  const { databaseUrl, dataDir, calledFrom, authSecret, encryptionKeys } = readConfig(undefined, { secrets: false })
  const [name, ...rest] = process.argv.slice(2)
  if (!name || rest.length > 0 || name.startsWith('-')) throw new StartError('npm run backup -- FILE: the file to write, which is not there yet')
  const path = resolve(calledFrom, name)
  if (databaseUrl) await checkConnection(databaseUrl)
  const url = databaseUrl ?? (await openEmbedded(dataDir))
  // Configured keys are kept elsewhere; generated ones are not in use.
  const configured = authSecret !== null && encryptionKeys !== null
  const files: DataFile[] = [...(configured ? [] : [dataFiles.keys]), dataFiles.demo, dataFiles.sandbox]
  await writeBackup(path, dump({ url, version: version(), now: new Date(), files, dataDir }))
  const { end } = await checkBackup(path)
  const hasKeys = readDataFiles(dataDir, files).some(({ file }) => file === dataFiles.keys)
  console.log(`${path}: ${end.rows} rows, read again and whole; readable by you alone (mode 0600)`)
  console.log(
    hasKeys
      ? 'It holds the keys too (keys.json), so whoever has the file has every stored token: keep it as you keep a password.'
      : 'It does not hold AUTH_SECRET and ENCRYPTION_KEYS: keep them elsewhere, or stored tokens cannot be read again.',
  )
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await stack.disposeAsync()
}

/** The database of the data folder: that of the platform that runs there, else started for this. */
async function openEmbedded(folder: string): Promise<string> {
  if (!hasCluster(folder)) throw new StartError(`${folder} holds no database: DATA_DIR names the folder, or DATABASE_URL a database of your own`)
  try {
    const lock = await lockFolder(folder)
    stack.defer(() => lock.release())
  } catch (error) {
    const running = runningDatabase(folder)
    if (running) return running
    throw error
  }
  const postgres = await startPostgres({ folder, log: pino({ level: 'silent' }) })
  stack.defer(() => postgres.stop())
  return postgres.url
}
