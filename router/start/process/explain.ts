import { lineOf, StartError, systemCodeOf } from '../../../start-error.ts'

/**
 * Returns one line with cause and remedy for a failure of the environment: the database, the disk, the installation.
 * Any other error is a mistake of ours and is returned unchanged.
 * @param wayOut a further remedy for a database that this version cannot use; null for none
 */
export function explain(error: unknown, wayOut: string | null = null): unknown {
  if (error instanceof StartError) return error.about === 'schema' && wayOut ? new StartError(`${error.message}; or ${wayOut}`, error) : error
  for (const each of causesOf(error)) {
    const sentence = sentenceFor(systemCodeOf(each), each as Error & NodeJS.ErrnoException)
    if (sentence) return new StartError(wayOut && otherTables.has(systemCodeOf(each)) ? `${sentence}; or ${wayOut}` : sentence, error)
  }
  return error
}

/** Yields an error and its causes; Sequelize keeps the driver's error as `parent`. */
function* causesOf(error: unknown): Generator<unknown> {
  for (let each = error, turn = 0; each && turn < 5; turn++) {
    yield each
    const { parent, cause } = each as { parent?: unknown; cause?: unknown }
    each = parent ?? cause
  }
}

/** SQL states for an unknown column, table, function or type: the tables are not those of the migrations. */
const otherTables = new Set(['42703', '42P01', '42883', '42704'])

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EISDIR: 'a folder is in its place',
  ENOTDIR: 'a part of the path is a file',
}

function sentenceFor(code: string, error: Error & NodeJS.ErrnoException): string | null {
  const line = lineOf(error)
  if (otherTables.has(code))
    return `the database has other tables than this version makes (${line}): a migration was changed after it ran, or another program made them; restore a backup, or use a database of its own`
  switch (code) {
    case '42501':
    // PostgreSQL treats a schema that the user may not use as missing.
    case '3F000':
      return `the user of the database may not do what the platform needs (${line}): ${rightFor(line)}`
    case '25006':
      return `the database takes no writes (${line}): it is a replica, or was made read-only; name the one that takes them`
    case '53100':
      return `the disk of the database is full (${line}): make room there`
    case '53300':
      return 'the database has no free connection: end what holds them, or raise its max_connections'
    case '55P03':
    case '57014':
      return `the database did not get on in time (${line}): another program holds what this one needs; end that, and start again`
    case '57P01':
    case '57P02':
    case '57P03':
      return `the database went away during the start (${line}): start again when it is back`
    case 'EMFILE':
    case 'ENFILE':
      return 'too many files are open: raise the limit (ulimit -n)'
    case 'ERR_MODULE_NOT_FOUND': {
      const name = /^Cannot find package '([^']+)'/.exec(line)?.[1]
      return name ? `the package ${name} is not installed: run npm ci` : null
    }
  }
  const reason = reasons[code]
  return reason && error.path
    ? `${error.path} cannot be ${error.syscall === 'open' ? 'opened' : 'written'} (${reason}): make that possible, or set DATA_DIR to another folder`
    : null
}

/** Returns the privilege that an administrator must grant after a refusal of PostgreSQL, as far as it says. */
function rightFor(line: string): string {
  const database = /for database "?([^"]+?)"?$/.exec(line)?.[1]
  return database ? `as its administrator, grant create on database ${database} to it` : 'make it the owner of what is there, or name a database of its own'
}
