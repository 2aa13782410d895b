import { readConfig } from '../config.ts'
import { openPlatformDatabase } from '../db/embedded.ts'
import { rewriteSecrets } from '../db/secrets.ts'
import { createCipher } from '../platform/cipher.ts'
import { openKeys } from '../router/start/keys.ts'
import { StartError } from '../start-error.ts'

// `npm run secrets:rewrite`: encrypts everything at rest with the first of ENCRYPTION_KEYS, in the database of DATABASE_URL or of the platform
// that runs in the data folder, while it runs. What ends it early does no harm: the next run goes on.
const stack = new AsyncDisposableStack()
try {
  if (process.argv.length > 2) throw new StartError('npm run secrets:rewrite takes no more words')
  const config = readConfig(undefined, { secrets: false })
  if (!config.encryptionKeys)
    throw new StartError('ENCRYPTION_KEYS: missing: set what the platform has, the new key in front of those that it replaces, such as k2:…,k1:…')
  const { encryptionKeys } = openKeys({ ...config, authSecret: config.authSecret ?? 'of no use here' })
  const sequelize = await openPlatformDatabase(config, stack)
  const newest = encryptionKeys[0].id
  const done = await rewriteSecrets(sequelize, createCipher(encryptionKeys), newest, ({ column, written }) =>
    console.log(`${column.table}.${column.column}: ${written} so far`),
  )
  const closed = done.filter(each => each.closed.length > 0)
  for (const { column, closed: keys } of closed)
    console.error(
      `${column.table}.${column.column}: ${keys.length} or more do not open with any of ENCRYPTION_KEYS (${keys.slice(0, 5).join(', ')}): put the key back that they were sealed with, and run it again`,
    )
  console.log(
    `${done.reduce((sum, { written }) => sum + written, 0)} values are encrypted with ${newest} now${closed.length > 0 ? '' : ': nothing needs any other key'}`,
  )
  if (closed.length > 0) process.exitCode = 1
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await stack.disposeAsync()
}
