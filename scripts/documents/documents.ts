import { glob, readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gqlPluckFromCodeString } from '@graphql-tools/graphql-tag-pluck'
import { buildSchema } from 'graphql'
import { readConfig } from '../../config.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { collect, type Source } from './collect.ts'

// `npm run documents -- GLOB…`: the operations of a client as a persisted query manifest, for TRUSTED_DOCUMENTS_FILE and for the client. They
// are read from .graphql files and from gql literals of TypeScript and JavaScript, and checked against the graph as the router does.
const usage = `npm run documents -- GLOB... [--out FILE] [--schema FILE] [--typename]
  GLOB        files of a client: 'src/**/*.{graphql,ts,tsx}' (in quotes, so that the shell leaves it alone)
  --out       where the manifest goes; persisted-queries.json unless told
  --schema    the graph, as clients see it; this platform's unless told
  --typename  asks each object for its __typename, as Apollo Client does`
try {
  const { values, positionals } = readArguments()
  if (values.help) console.log(usage)
  else {
    if (positionals.length === 0) throw new StartError(usage)
    const { calledFrom } = readConfig(undefined, { secrets: false })
    const schemaFile = values.schema === undefined ? new URL('../../schema/api.graphql', import.meta.url) : resolve(calledFrom, values.schema)
    const schema = buildSchema(await readFile(schemaFile, 'utf8'))
    const sources = await sourcesIn(positionals, calledFrom)
    if (sources.length === 0) throw new StartError(`no GraphQL stands in ${positionals.join(' ')}`)
    const collected = collect(sources, { documents: createDocuments(schema, { introspection: false }), typename: values.typename })
    if (!('operations' in collected)) throw new StartError(collected.join('\n'))
    const out = resolve(calledFrom, values.out)
    await writeFile(out, `${JSON.stringify(collected, null, 2)}\n`)
    console.log(`${collected.operations.length} operations of ${new Set(sources.map(({ file }) => file)).size} files are in ${out}`)
  }
} catch (error) {
  const known = error instanceof StartError || typeof (error as NodeJS.ErrnoException).code === 'string'
  if (!known) throw error
  console.error(error instanceof StartError ? error.message : lineOf(error))
  process.exitCode = 1
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        out: { type: 'string', default: 'persisted-queries.json' },
        schema: { type: 'string' },
        typename: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
  } catch (error) {
    throw new StartError(`${lineOf(error)}\n${usage}`, error)
  }
}

async function sourcesIn(patterns: readonly string[], cwd: string): Promise<readonly Source[]> {
  const files = new Set<string>()
  for await (const file of glob([...patterns], { cwd, exclude: ['**/node_modules/**'] })) files.add(file)
  const sources: Source[] = []
  for (const file of [...files].sort()) {
    const text = await readFile(resolve(cwd, file), 'utf8').catch(cause => {
      // A pattern may name folders, too.
      if ((cause as NodeJS.ErrnoException).code === 'EISDIR') return null
      throw cause
    })
    if (text === null) continue
    if (/\.(?:graphql|gql)$/.test(file)) sources.push({ file, text })
    else if (/\.[cm]?[jt]sx?$/.test(file))
      for (const { body } of await gqlPluckFromCodeString(file, text, { skipIndent: true })) sources.push({ file, text: body })
    else throw new StartError(`${file}: is neither .graphql nor TypeScript or JavaScript`)
  }
  return sources
}
