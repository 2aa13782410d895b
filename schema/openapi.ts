import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inFile, type Mistake } from './source/mistake.ts'

/** The whole document as a local file, which is not in git. */
export const openapiFile = 'schema/openapi.json'

/** The released part, one line for each route and schema, for reviews and comparison. */
export const routesFile = 'schema/routes.json'

const program = 'schema/openapi.ts'

/** Documents generated from a project's REST routes and graph. */
interface Openapi {
  /** Text by path from the root; none for a project without REST routes. */
  readonly files: ReadonlyMap<string, string>
  /** Text of files that are not in git, by path from the root. */
  readonly local: ReadonlyMap<string, string>
  readonly mistakes: readonly Mistake[]
}

/**
 * Describes the REST routes of a project from its present files, generated ones included. Runs in a separate process,
 * because routes are code and this process may have loaded older files.
 */
export async function openapiOf(root: string): Promise<Openapi> {
  if (!existsSync(join(root, program))) return { files: new Map(), local: new Map(), mistakes: [] }
  const { status, output, said } = await run(root)
  if (status !== 0) return { files: new Map(), local: new Map(), mistakes: [inFile('router/rest/tables.ts', 'OPENAPI_FAILED', lastWords(said))] }
  const { whole, routes, mistakes } = JSON.parse(output) as Described
  if (mistakes.length > 0) return { files: new Map(), local: new Map(), mistakes }
  return { files: new Map([[routesFile, routes]]), local: new Map([[openapiFile, whole]]), mistakes }
}

const lastWords = (said: string): string => said.split('\n').find(line => /Error/.test(line)) ?? said.trim().slice(0, 400)

function run(root: string): Promise<{ readonly status: number | null; readonly output: string; readonly said: string }> {
  const child = spawn(process.execPath, [program], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', chunk => (output += chunk))
  child.stderr.setEncoding('utf8').on('data', chunk => (said += chunk))
  return new Promise((done, fail) => child.once('error', fail).once('close', status => done({ status, output, said })))
}

/** Texts of both files, or the reason why there are none. */
interface Described {
  readonly whole: string
  readonly routes: string
  readonly mistakes: readonly Mistake[]
}

/** Describes the routes of the project that contains this file. */
async function describe(): Promise<Described> {
  const [{ describePlatform }, { contractText }] = await Promise.all([import('../router/openapi/platform.ts'), import('../router/openapi/contract.ts')])
  const { document, mistakes } = describePlatform()
  return {
    whole: `${JSON.stringify(document, null, 2)}\n`,
    routes: contractText(document),
    mistakes: mistakes.map(({ at, sentence }) => inFile('router/rest/tables.ts', 'ROUTE_UNDESCRIBED', `${at}: ${sentence}`)),
  }
}

if (import.meta.main) process.stdout.write(JSON.stringify(await describe()))
