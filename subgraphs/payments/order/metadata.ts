import { DomainError } from '../../../platform/errors.ts'
import { checkText } from '../../../platform/ids.ts'
import type { MetadataRow } from '../stores/order.ts'

/** How many entries a record has, and how many characters a key and a value have, at most. */
export const maxMetadata = { entries: 20, key: 40, value: 500 } as const

const keyForm = /^[A-Za-z0-9_.-]{1,40}$/

const refuse = (field: string, sentence: string): never => {
  throw new DomainError('BAD_USER_INPUT', sentence, { field })
}

/**
 * Reads the metadata of an input, in the order given; undefined when it was left out.
 * @throws BAD_USER_INPUT with the field that is wrong: `metadata[2].key`
 */
export function readMetadata(metadata: readonly MetadataRow[] | null | undefined): readonly MetadataRow[] | undefined {
  if (metadata === undefined || metadata === null) return undefined
  if (metadata.length > maxMetadata.entries) refuse('metadata', `metadata has ${metadata.length} entries: the maximum is ${maxMetadata.entries}.`)
  const keys = new Set<string>()
  return metadata.map(({ key, value }, index) => {
    const at = `metadata[${index}]`
    if (!keyForm.test(key)) refuse(`${at}.key`, 'A key takes 1 to 40 of the characters A–Z a–z 0–9 _ . -')
    if (keys.has(key)) refuse(`${at}.key`, `The key ${key} stands twice: each stands once.`)
    keys.add(key)
    const { length } = [...checkText(value, `${at}.value`)]
    if (length < 1 || length > maxMetadata.value) refuse(`${at}.value`, `The value has ${length} characters: it takes 1 to ${maxMetadata.value}.`)
    return { key, value }
  })
}

/** Reads the entry by which a list is narrowed; null for none. @throws BAD_USER_INPUT when only one of key and value is given */
export function readMetadataFilter(key: string | null | undefined, value: string | null | undefined): MetadataRow | null {
  const [hasKey, hasValue] = [typeof key === 'string', typeof value === 'string']
  if (!hasKey && !hasValue) return null
  if (!hasKey || !hasValue)
    refuse(hasKey ? 'metadataValue' : 'metadataKey', 'metadataKey and metadataValue are given together: a list is narrowed by an exact entry.')
  return { key: checkText(key!, 'metadataKey'), value: checkText(value!, 'metadataValue') }
}
