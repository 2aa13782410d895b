import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatedLine } from '../codegen.ts'
import { inFile, type Mistake, Mistakes } from './source/mistake.ts'
import { type ListedSubgraph, type ListedVariant, readSupergraphYaml } from './source/yaml.ts'

/** Generated file by which the program finds the subgraphs and variants of `supergraph.yaml`, so that nothing else lists them. */
export const listedFile = 'router/start/listed.generated.ts'

/** Returns the text of that file: each import is literal, so that types and import rules can follow it. */
export function listedModule(subgraphs: readonly ListedSubgraph[], variants: readonly ListedVariant[] = []): string {
  const rows = subgraphs.map(
    ({ slug, routingUrl }) => `  ${slug}: {
    routingUrl: ${JSON.stringify(routingUrl)},
    registration: () => import('../../subgraphs/${slug}/registration.ts'),
    definition: () => import('../../subgraphs/${slug}/definition.ts'),
  },`,
  )
  const rules = variants.map(({ name, rule }) => `  ${JSON.stringify(name)}: ${JSON.stringify(rule)},`)
  return `${generatedLine} from supergraph.yaml\n/** The subgraphs in the order of supergraph.yaml; no code of any is loaded before it is asked for. */\nexport const listed = {\n${rows.join('\n')}\n}\n\n/** The rules of the graph's variants, by name. */\nexport const variants = {${rules.length > 0 ? `\n${rules.join('\n')}\n` : ''}}\n`
}

/** Files of each listed subgraph's folder, and their exports. */
const files = {
  'registration.ts': { exports: 'registration', pattern: /^export const registration\b/m },
  'definition.ts': { exports: 'define(foundation, settings?)', pattern: /^export (?:async )?(?:function|const) define\b/m },
  'context.ts': { exports: 'the type Context', pattern: /^export (?:interface|type) Context\b/m },
}

/** Folders of no single subgraph: store, HTTP, wiring, derivation of REST routes, and the routers' record of use. */
const sharedFolders: readonly string[] = ['subgraphs/store', 'subgraphs/http', 'subgraphs/wiring', 'router/rest/derive', 'db/migrations/usage']

/**
 * Compares the folders of a project with `supergraph.yaml`.
 * @returns one mistake for each file or row that a listed subgraph lacks, each unlisted folder, and each unserved file
 * of REST routes;
 *   none when supergraph.yaml itself cannot be read, which generation reports
 */
export async function listingMistakes(root: string): Promise<readonly Mistake[]> {
  const slugs = await slugsOf(root)
  if (slugs === null) return []
  const text = (file: string): Promise<string> => readFile(join(root, file), 'utf8').catch(() => '')
  const mistakes: Mistake[] = []
  const catalogue = await text('subgraphs/scopes.ts')
  for (const slug of slugs) {
    for (const [name, { exports, pattern }] of Object.entries(files)) {
      const file = `subgraphs/${slug}/${name}`
      if (!pattern.test(await text(file)))
        mistakes.push(inFile(file, 'SUBGRAPH_INCOMPLETE', `must export ${exports}, for supergraph.yaml lists ${slug}: subgraphs/launcher/${name} is the model`))
    }
    if (!new RegExp(`^  ${slug}: \\{`, 'm').test(catalogue))
      mistakes.push(
        inFile('subgraphs/scopes.ts', 'SCOPES_MISSING', `has no row for ${slug}: add its scopes to the catalogue, or "${slug}: {}," when it has none`),
      )
  }
  for (const folder of ['subgraphs', 'db/migrations', 'router/rest'])
    for (const name of await foldersIn(root, folder))
      if (!slugs.includes(name) && !sharedFolders.includes(`${folder}/${name}`)) {
        const sentence = `does not list ${name}, which has the folder ${folder}/${name}: add it, or rename or remove the folder`
        mistakes.push(inFile('supergraph.yaml', 'SUBGRAPH_NOT_LISTED', sentence))
      }
  const tables = await text('router/rest/tables.ts')
  for (const slug of slugs)
    for (const name of await readdir(join(root, 'router/rest', slug)).catch(() => [])) {
      const rows = name.endsWith('.generated.ts') ? undefined : /^export const (\w+Rows)\b/m.exec(await text(`router/rest/${slug}/${name}`))?.[1]
      if (rows && !tables.includes(`from './${slug}/${name}'`))
        mistakes.push(
          inFile('router/rest/tables.ts', 'ROUTES_NOT_SERVED', `does not serve ${rows} of router/rest/${slug}/${name}: add them to the rows of ${slug}`),
        )
    }
  return mistakes
}

async function slugsOf(root: string): Promise<readonly string[] | null> {
  try {
    return (await readSupergraphYaml(root)).subgraphs.map(({ slug }) => slug)
  } catch (error) {
    if (error instanceof Mistakes) return null
    throw error
  }
}

async function foldersIn(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
  return entries
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}
