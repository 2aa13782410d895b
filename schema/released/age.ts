import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DefinitionNode, type InputValueDefinitionNode, parse } from 'graphql'
import { routesFile } from '../openapi.ts'
import { inFile, type Mistake } from '../source/mistake.ts'
import { contractsOf } from './api.ts'
import { routesReleasedFile } from './routes.ts'

/** How long a field or route may stay out of the released contract, in days. */
export const maxUnreleasedDays = 7

/** The unreleased part of the contract. */
export interface ReleaseAge {
  /** One mistake for each schema (of the API and of variants) and one for the REST routes, each with the parts older than `maxUnreleasedDays`. */
  readonly mistakes: readonly Mistake[]
  /** Number of unreleased fields and routes, of any age. */
  readonly unreleased: number
  /** Reason why ages could not be determined; null when they were. */
  readonly skipped: string | null
}

/**
 * Finds unreleased fields and routes that the generated contract contained seven days before the checked-out commit.
 * Age is the difference of commit dates, so a commit that passed once always passes.
 * @returns no mistakes, and the reason, where the history is shorter than seven days or missing
 */
export async function releaseAge(root: string): Promise<ReleaseAge> {
  const read = (file: string) => readFile(join(root, file), 'utf8').catch(() => '')
  const [routes, routesReleased] = await Promise.all([routesFile, routesReleasedFile].map(read))
  const schemas = await Promise.all(
    (await contractsOf(root)).map(async ({ current, released }) => {
      const fields = fieldsOf(await read(current)).difference(fieldsOf(await read(released)))
      return { current, released, fields }
    }),
  )
  const operations = routesOf(routes!).difference(routesOf(routesReleased!))
  const unreleased = schemas.reduce((sum, { fields }) => sum + fields.size, operations.size)
  const { commit, skipped } = unreleased > 0 ? await commitBefore(root, maxUnreleasedDays) : { commit: null, skipped: null }
  if (commit === null) return { mistakes: [], unreleased, skipped }
  const then = (file: string) => git(root, 'show', `${commit}:./${file}`).catch(() => '')
  const mistakes: Mistake[] = []
  for (const { current, released, fields } of schemas)
    if (fields.size > 0) mistakes.push(...mistake(released, 'fields', fields.intersection(fieldsOf(await then(current)))))
  mistakes.push(...mistake(routesReleasedFile, 'routes', operations.intersection(routesOf(await then(routesFile)))))
  return { mistakes, unreleased, skipped: null }
}

function* mistake(file: string, what: string, names: ReadonlySet<string>): Generator<Mistake> {
  if (names.size === 0) return
  const [first, ...others] = names
  const text = `${names.size} ${what} are older than ${maxUnreleasedDays} days and not released: ${first}${others.length > 0 ? ` and ${others.length} more` : ''}`
  yield inFile(file, 'NOT_RELEASED', `${text}. Clients use them by now; npm run schema:release adds them to the released contract`)
}

const git = async (root: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })).stdout.trim()

/** Returns the newest commit of the main line that is a number of days older than HEAD; null when there is none. */
async function commitBefore(root: string, days: number): Promise<{ readonly commit: string | null; readonly skipped: string | null }> {
  try {
    const head = Number(await git(root, 'log', '-1', '--format=%ct'))
    const commit = await git(root, 'log', '-1', '--first-parent', '--format=%H', `--before=${head - days * 86_400}`)
    if (commit) return { commit, skipped: null }
    const isShallow = (await git(root, 'rev-parse', '--is-shallow-repository')) === 'true'
    return { commit: null, skipped: isShallow ? `a shallow clone: its history does not reach back ${days} days` : null }
  } catch {
    return { commit: null, skipped: 'no git history here' }
  }
}

/**
 * Returns the coordinates of everything that a client can name: `Type`, `Type.field`, `Type.field(argument:)`,
 * `Enum.VALUE`.
 */
function fieldsOf(sdl: string): Set<string> {
  return new Set(sdl ? parse(sdl, { noLocation: true }).definitions.flatMap(coordinates) : [])
}

function coordinates(node: DefinitionNode): readonly string[] {
  if (!('name' in node) || !node.name) return []
  const type = node.name.value
  const named = (name: string, args: readonly InputValueDefinitionNode[] = []) => [name, ...args.map(argument => `${name}(${argument.name.value}:)`)]
  if ('fields' in node)
    return [type, ...(node.fields ?? []).flatMap(field => named(`${type}.${field.name.value}`, 'arguments' in field ? field.arguments : []))]
  if ('values' in node) return [type, ...(node.values ?? []).map(({ name }) => `${type}.${name.value}`)]
  return [type]
}

/** Returns `METHOD /path` of each route. */
function routesOf(text: string): Set<string> {
  const { paths } = text ? (JSON.parse(text) as { readonly paths: Readonly<Record<string, object>> }) : { paths: {} }
  return new Set(Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`)))
}
