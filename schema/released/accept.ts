import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DefinitionNode, parse, print, visit } from 'graphql'
import { apiFile, releasedFile } from '../compose.ts'
import { routesFile } from '../openapi.ts'
import { breakingChanges, contractsOf } from './api.ts'
import { brokenRoutes, routesReleasedFile } from './routes.ts'

/**
 * Makes the present API schema, those of variants and REST routes the released contract, with which later changes are compared.
 * @returns what clients lose by it
 * @throws Error when the API schema was not generated
 */
export async function accept(root: string): Promise<readonly string[]> {
  const api = await readFile(join(root, apiFile), 'utf8').catch(() => {
    throw new Error(`${apiFile} is not there: npm run generate makes it`)
  })
  const broken = await breaks(root)
  await writeFile(join(root, releasedFile), compact(api))
  for (const { released, current, variant } of await contractsOf(root)) {
    if (variant === null) continue
    const schema = await readFile(join(root, current), 'utf8').catch(() => null)
    // A variant that is served no more promises nothing.
    if (schema === null) await rm(join(root, released), { force: true })
    else await writeFile(join(root, released), compact(schema))
  }
  // A project without REST rows has no such file.
  await copyFile(join(root, routesFile), join(root, routesReleasedFile)).catch(() => {})
  return broken
}

/**
 * Adds new fields and routes to the released contract.
 * @throws Error, and changes nothing, when clients would lose something
 */
export async function release(root: string): Promise<void> {
  const broken = await breaks(root)
  if (broken.length > 0) throw new Error(`clients would lose something; npm run schema:accept accepts that:\n${broken.join('\n')}`)
  await accept(root)
}

const breaks = async (root: string): Promise<readonly string[]> =>
  [...(await breakingChanges(root)), ...(await brokenRoutes(root))].filter(({ code }) => code === 'BREAKING_CHANGE').map(({ text }) => text)

/** Returns a schema without descriptions: a line for each field of the root types and for each other type. */
function compact(sdl: string): string {
  const bare = visit(parse(sdl, { noLocation: true }), {
    enter: node => ('description' in node && node.description ? { ...node, description: undefined } : undefined),
  })
  const lines = bare.definitions.map(definition => (isRoot(definition) ? print(definition) : print(definition).replaceAll(/\s*\n\s*/g, ' ')))
  return `# written by npm run schema:release: what clients may rely on\n${lines.join('\n')}\n`
}

const isRoot = (node: DefinitionNode): boolean => 'name' in node && /^(?:Query|Mutation|Subscription)$/.test(node.name?.value ?? '')

if (import.meta.main) {
  const command = process.argv[2] === '--additions' ? 'schema:release' : 'schema:accept'
  const root = join(import.meta.dirname, '../..')
  try {
    const broken = command === 'schema:release' ? void (await release(root)) : await accept(root)
    for (const text of broken ?? []) console.log(`accepted: ${text}`)
    console.log(`${command}: ${releasedFile} and ${routesReleasedFile} hold what stands now${broken ? `, with ${broken.length} breaking changes` : ''}`)
  } catch (error) {
    console.error(`${command}: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
