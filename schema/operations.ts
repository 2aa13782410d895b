import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GraphQLError, type GraphQLSchema, Kind, parse, Source, validate } from 'graphql'
import { at, type Mistake, ofSource } from './source/mistake.ts'

/** Returns the operation files of subgraphs and web pages. */
export async function operationFiles(root: string): Promise<readonly string[]> {
  const found = await Array.fromAsync(glob(['subgraphs/*/**/ask.graphql', 'web/**/*.graphql'], { cwd: root }))
  return found.map(path => path.replaceAll('\\', '/')).sort()
}

/**
 * Reads every operation file and validates it separately against the client schema; each operation must have a name.
 */
export async function operationMistakes(root: string, files: readonly string[], api: GraphQLSchema): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  for (const file of files) {
    try {
      const document = parse(new Source(await readFile(join(root, file), 'utf8'), file))
      for (const node of document.definitions) {
        if (node.kind === Kind.OPERATION_DEFINITION && !node.name && node.loc)
          mistakes.push(at(node.loc, 'OPERATION_WITHOUT_NAME', 'name the operation: its document is exported under that name'))
      }
      mistakes.push(...validate(api, document).map(error => ofSource(error, 'OPERATION_INVALID')))
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      mistakes.push(ofSource(error, 'SYNTAX_ERROR'))
    }
  }
  return mistakes
}
