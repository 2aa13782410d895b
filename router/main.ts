/**
 * Entry point of the platform. It is small, because only modules that are imported after opening the compile cache are
 * cached. The start itself is in `start/`.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const packages = join(import.meta.dirname, '..', 'node_modules')
const cache = existsSync(packages) ? openCacheFolder(join(packages, '.cache', 'supergraph')) : null
if (cache) enableCompileCache(cache)

try {
  const { run } = await import('./start/run.ts')
  await run(process.argv.slice(2))
} catch (error) {
  // None of the program's modules that report errors could be loaded.
  const missing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' && /^Cannot find package '([^']+)'/.exec((error as Error).message)
  if (!missing) throw error
  console.error(`the package ${missing[1]} is not installed: run npm ci`)
  process.exit(1)
}

/**
 * Opens the folder for compiled code. The code is run without being compared with its source, so the folder must be
 * accessible to this user only.
 * @returns null when it cannot be: then nothing is cached, and starts take longer
 */
function openCacheFolder(folder: string): string | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid())) return null
    if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
    return folder
  } catch {
    return null
  }
}
