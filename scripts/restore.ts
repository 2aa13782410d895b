import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { readConfig } from '../config.ts'
import { dataFiles } from '../db/backup/data-files.ts'
import { checkBackup } from '../db/backup/file.ts'
import { restore } from '../db/backup/restore.ts'
import { checkConnection } from '../db/connect.ts'
import { startPostgres } from '../db/embedded.ts'
import { lockFolder } from '../db/lock.ts'
import { armCrash } from '../platform/crash.ts'
import { StartError } from '../start-error.ts'
import { endSessionsSql } from '../subgraphs/identity/session/put-back.ts'
import { overdueToDraftsSql } from '../subgraphs/publishing/post/overdue.ts'

// `npm run restore -- FILE [--end-sessions] [--overdue-as-drafts]`: puts what `npm run backup` wrote into the empty database of DATABASE_URL, or
// into an empty data folder.
const directory = join(import.meta.dirname, '..', 'db', 'migrations')
const stack = new AsyncDisposableStack()
try {
  const { databaseUrl, dataDir, calledFrom, authSecret, encryptionKeys, crashAt } = readConfig(undefined, { secrets: false })
  armCrash(crashAt)
  const { name, asDrafts, ending } = readWords()
  const path = resolve(calledFrom, name)
  const { header, end } = await checkBackup(path)
  // The lock is held to the end: no platform runs on the folder, and none can start on half of it.
  const lock = await lockFolder(dataDir)
  stack.defer(() => lock.release())
  if (databaseUrl) await checkConnection(databaseUrl)
  const then = [...(asDrafts ? [overdueToDraftsSql(new Date())] : []), ...(ending ? endSessionsSql : [])]
  const { files, changed } = await restore({ url: databaseUrl ?? (await openEmbedded(dataDir)), path, header, directory, dataDir, then })
  console.log(`${end.rows} rows of ${header.madeAt} are in ${databaseUrl ? 'the database of DATABASE_URL' : dataDir}`)
  if (files.length > 0) console.log(`in ${dataDir}: ${files.join(', ')}`)
  if (asDrafts) console.log(`posts that were due, and are drafts now: ${changed.get('publishing.posts') ?? 0}`)
  if (ending) console.log(`sessions that were ended, and one-time codes and signing keys with them: ${changed.get('identity.sessions') ?? 0}`)
  else console.log('Sessions, one-time codes and signing keys that were ended or used since are good again: --end-sessions ends them.')
  if (!files.includes(dataFiles.keys) && !(authSecret && encryptionKeys))
    console.log(
      'The file holds no keys: set AUTH_SECRET and ENCRYPTION_KEYS of the platform that was backed up before you start, or stored tokens cannot be read.',
    )
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await stack.disposeAsync()
}

function readWords(): { name: string; asDrafts: boolean; ending: boolean } {
  const how = 'npm run restore -- FILE [--end-sessions] [--overdue-as-drafts]: the file that npm run backup wrote'
  const options = { 'overdue-as-drafts': { type: 'boolean' }, 'end-sessions': { type: 'boolean' } } as const
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options })
    if (positionals.length === 1) return { name: positionals[0]!, asDrafts: values['overdue-as-drafts'] ?? false, ending: values['end-sessions'] ?? false }
  } catch (error) {
    throw new StartError(how, error)
  }
  throw new StartError(how)
}

async function openEmbedded(folder: string): Promise<string> {
  const postgres = await startPostgres({ folder, log: pino({ level: 'silent' }) })
  stack.defer(() => postgres.stop())
  return postgres.url
}
