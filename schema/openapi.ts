import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSchema } from 'graphql'
import { readAccessTable } from '../router/access/rules.ts'
import { apiFile, supergraphFile } from './compose.ts'
import { inFile, type Mistake } from './source/mistake.ts'

export const openapiFile = 'schema/openapi.json'

/** What `test/rest/exchanges.test.ts` saw happen. */
const examplesFile = 'schema/rest-examples.json'
const program = 'schema/openapi.ts'

/** What a project's REST rows make of its graph. */
interface Openapi {
  /** Text by path from the root: none for a project without such rows. */
  readonly files: ReadonlyMap<string, string>
  readonly mistakes: readonly Mistake[]
}

/**
 * Describes the REST rows of a project as its files are now, those that are generated included. It happens in a process of its own: rows are
 * code, and what this one has loaded of them may be older.
 */
export async function openapiOf(root: string): Promise<Openapi> {
  if (!existsSync(join(root, program))) return { files: new Map(), mistakes: [] }
  const { status, output, said } = await run(root)
  if (status !== 0) return { files: new Map(), mistakes: [inFile('router/rest/tables.ts', 'OPENAPI_FAILED', lastWords(said))] }
  const { text, mistakes } = JSON.parse(output) as { readonly text: string; readonly mistakes: readonly Mistake[] }
  return { files: new Map(mistakes.length === 0 ? [[openapiFile, text]] : []), mistakes }
}

const lastWords = (said: string): string => said.split('\n').find(line => /Error/.test(line)) ?? said.trim().slice(0, 400)

function run(root: string): Promise<{ readonly status: number | null; readonly output: string; readonly said: string }> {
  const child = spawn(process.execPath, [program], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', chunk => (output += chunk))
  child.stderr.setEncoding('utf8').on('data', chunk => (said += chunk))
  return new Promise((done, fail) => child.once('error', fail).once('close', status => done({ status, output, said })))
}

/** The same, of the project that this file is in. */
async function describe(): Promise<{ readonly text: string; readonly mistakes: readonly Mistake[] }> {
  const root = join(import.meta.dirname, '..')
  const read = (file: string) => readFile(join(root, file), 'utf8')
  const [{ routeTables }, { openapiDocument }] = await Promise.all([import('../router/rest/tables.ts'), import('../router/openapi/document.ts')])
  const [api, supergraph, about, examples] = await Promise.all([apiFile, supergraphFile, 'package.json', examplesFile].map(read))
  const { document, mistakes } = openapiDocument({
    tables: routeTables,
    schema: buildSchema(api!),
    access: readAccessTable(supergraph!),
    examples: JSON.parse(examples!),
    version: (JSON.parse(about!) as { version: string }).version,
  })
  return {
    text: `${JSON.stringify(document, null, 2)}\n`,
    mistakes: mistakes.map(({ at, sentence }) => inFile('router/rest/tables.ts', 'ROUTE_UNDESCRIBED', `${at}: ${sentence}`)),
  }
}

if (import.meta.main) process.stdout.write(JSON.stringify(await describe()))
