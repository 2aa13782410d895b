import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CriticalityLevel, diff } from '@graphql-inspector/core'
import { buildSchema, type DocumentNode, parse, Source } from 'graphql'
import { apiFile, releasedFile } from '../compose.ts'
import { at, inFile, type Mistake } from '../source/mistake.ts'

/**
 * Lists what a client of the released API schema would lose or have to change: each breaking change with its place in
 * the released schema. Additions and merely dangerous changes (a new enum value) pass.
 */
export async function breakingChanges(root: string): Promise<readonly Mistake[]> {
  const [released, current] = await Promise.all([releasedFile, apiFile].map(file => readFile(join(root, file), 'utf8').catch(() => null)))
  if (!released)
    return [inFile(releasedFile, 'NOTHING_RELEASED', 'there is no released API schema to compare with: npm run schema:accept makes the present one the first')]
  if (!current) return [inFile(apiFile, 'FILE_MISSING', 'there is no API schema: npm run generate makes it')]
  const changes = await diff(buildSchema(released), buildSchema(current))
  const document = parse(new Source(released, releasedFile))
  return changes
    .filter(change => change.criticality.level === CriticalityLevel.Breaking)
    .map(change => atPath(document, change.path, `${change.message}. ${change.criticality.reason ?? ''}`.trim()))
}

function atPath(document: DocumentNode, path: string | undefined, text: string): Mistake {
  const [typeName, member] = path?.split('.') ?? []
  const type = document.definitions.find(node => 'name' in node && node.name?.value === typeName)
  const members = type && 'fields' in type ? type.fields : type && 'values' in type ? type.values : undefined
  const place = members?.find(({ name }) => name.value === member)?.loc ?? type?.loc
  return place ? at(place, 'BREAKING_CHANGE', text) : inFile(releasedFile, 'BREAKING_CHANGE', text)
}
