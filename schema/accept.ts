import { access, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { apiFile, releasedFile } from './compose.ts'
import { routesFile } from './openapi.ts'
import { brokenRoutes, routesReleasedFile } from './openapi-released.ts'
import { breakingChanges } from './released.ts'

/** Makes the present API schema, and the present REST routes, those that breaking changes are measured against. @returns what clients lose by it */
export async function accept(root: string): Promise<readonly string[]> {
  await access(join(root, apiFile)).catch(() => {
    throw new Error(`${apiFile} is not there: npm run generate makes it`)
  })
  const broken = [...(await breakingChanges(root)), ...(await brokenRoutes(root))]
  await copyFile(join(root, apiFile), join(root, releasedFile))
  // A project without REST rows has no such file.
  await copyFile(join(root, routesFile), join(root, routesReleasedFile)).catch(() => {})
  return broken.filter(({ code }) => code === 'BREAKING_CHANGE').map(({ text }) => text)
}

if (import.meta.main) {
  try {
    const broken = await accept(process.argv[2] ?? join(import.meta.dirname, '..'))
    for (const text of broken) console.log(`accepted: ${text}`)
    console.log(`schema:accept: ${releasedFile} is now ${apiFile}, ${routesReleasedFile} is ${routesFile}, with ${broken.length} breaking changes`)
  } catch (error) {
    console.error(`schema:accept: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
