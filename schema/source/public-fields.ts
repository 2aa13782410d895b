import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { inFile, type Mistake } from './mistake.ts'

/**
 * The root fields that anyone may call, each with its reason. The file is written by hand, so that each entry is a
 * decision.
 */
export const publicFieldsFile = 'schema/public-fields.yaml'

/** An entry of the list of public fields. */
export interface PublicField {
  /** Coordinate of the field: `Query.viewer`. */
  readonly coordinate: string
  readonly because: string
  /** Line of the entry in the file, from 1. */
  readonly line: number
}

/** Reads the list of a project; a project without the file has no public fields. Adds mistakes to the given list. */
export async function readPublicFields(root: string, mistakes: Mistake[]): Promise<readonly PublicField[]> {
  const text = await readFile(join(root, publicFieldsFile), 'utf8').catch(() => '')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  for (const error of document.errors) mistakes.push(inFile(publicFieldsFile, 'YAML_SYNTAX', error.message.split('\n')[0]!))
  if (document.contents === null || document.errors.length > 0) return []
  if (!isMap(document.contents)) {
    mistakes.push(inFile(publicFieldsFile, 'YAML_SHAPE', 'must map each root field to the reason why anyone may call it'))
    return []
  }
  return document.contents.items.map(({ key, value }) => ({
    coordinate: String(isScalar(key) ? key.value : key),
    because: isScalar(value) && typeof value.value === 'string' ? value.value : '',
    line: lines.linePos(isScalar(key) ? (key.range?.[0] ?? 0) : 0).line,
  }))
}
