import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkMigrations } from '../db/migrate.ts'
import { generate, staleFiles } from './generate.ts'
import { broken } from './laws.ts'
import { listingMistakes } from './listed.ts'
import { openapiOf } from './openapi.ts'
import { releaseAge } from './released/age.ts'
import { noticedChanges } from './released/api.ts'
import { brokenRoutes } from './released/routes.ts'
import { inFile, type Mistake, printMistake } from './source/mistake.ts'

/**
 * Generates a project again and compares it with the working tree, which stays unchanged.
 * @returns mistakes of the sources, else one for each file that differs, is missing, or has lost its source
 */
export async function drift(root: string): Promise<readonly Mistake[]> {
  const { files, mistakes } = await generate(root)
  if (mistakes.length > 0) return mistakes
  const drifted = [...(await differing(root, files))]
  for (const file of await staleFiles(root, files)) drifted.push(inFile(file, 'GENERATED_STALE', 'has no source any more: npm run generate removes it'))
  if (drifted.length > 0) return drifted
  // Routes depend on generated files, so they can be described only if those are current.
  const routes = await openapiOf(root)
  return [...routes.mistakes, ...(await differing(root, routes.files))]
}

/** Returns the files that differ from those in a project. */
async function differing(root: string, files: ReadonlyMap<string, string>): Promise<readonly Mistake[]> {
  const drifted: Mistake[] = []
  for (const [file, wanted] of files) {
    const found = await readFile(join(root, file), 'utf8').catch(() => null)
    if (found === null) drifted.push(inFile(file, 'GENERATED_MISSING', 'is not there: npm run generate makes it'))
    else if (found !== wanted)
      drifted.push({ ...inFile(file, 'GENERATED_DRIFT', 'differs from a fresh generation: npm run generate'), line: firstDifference(found, wanted) })
  }
  return drifted
}

function firstDifference(found: string, wanted: string): number {
  const lines = wanted.split('\n')
  const index = found.split('\n').findIndex((line, at) => line !== lines[at])
  return index < 0 ? lines.length : index + 1
}

/** Finds migrations with the same number, as two branches may add, which a start would reject. */
function migrationMistakes(root: string): readonly Mistake[] {
  const directory = join(root, 'db/migrations')
  try {
    if (existsSync(directory)) checkMigrations(directory)
    return []
  } catch (error) {
    return [inFile('db/migrations', 'MIGRATION_NAME', error instanceof Error ? error.message : String(error))]
  }
}

if (import.meta.main) {
  const root = process.argv[2] ?? join(import.meta.dirname, '..')
  const drifted = await drift(root)
  const noticed = await noticedChanges(root)
  const breaking = [...noticed.mistakes, ...(await brokenRoutes(root))]
  const against = [...(await listingMistakes(root)), ...(await broken(root)), ...migrationMistakes(root)]
  const { mistakes: old, unreleased, skipped } = await releaseAge(root)
  for (const mistake of [...drifted, ...breaking, ...old, ...against]) console.error(printMistake(mistake))
  if (noticed.sentence !== null) console.log(`check: ${noticed.sentence}`)
  if (breaking.some(({ code }) => code === 'BREAKING_CHANGE')) {
    console.error('Keep what clients use and deprecate it; when no client uses it any more, npm run schema:accept accepts the change.')
  }
  if (skipped !== null) console.log(`check: skipped the age of unreleased fields and routes: ${skipped}`)
  else if (unreleased > 0 && old.length === 0) console.log(`check: ${unreleased} fields and routes are not released yet; npm run schema:release adds them`)
  const count = drifted.length + breaking.length + old.length + against.length
  if (count > 0) {
    console.error(`check: ${count} to mend`)
    process.exitCode = 1
  } else console.log('check: generated files are fresh, nothing breaks clients, the laws of the house hold')
}
