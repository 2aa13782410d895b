import { createHash } from 'node:crypto'
import { DomainError } from '../../platform/errors.ts'
import { withStatus } from '../door/errors.ts'

/** An entity tag (RFC 9110 §8.8.3): the text within its quotes, and whether it is weak. */
interface Tag {
  readonly opaque: string
  readonly weak: boolean
}

const aTag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`
const listOfTags = new RegExp(`^\\s*${aTag}(?:\\s*,\\s*${aTag})*\\s*$`)

/**
 * The records that a precondition header names: any record, or those with one of the tags; undefined without the
 * header.
 */
type Named = '*' | readonly Tag[] | undefined

function readTags(header: string | undefined, name: string): Named {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  if (!listOfTags.test(header))
    throw new DomainError('BAD_USER_INPUT', `${name} is no entity tag: send the ETag that came with the answer, in its quotes, such as "3".`, { field: name })
  return tagsIn(header)
}

/** Reads the entity tags in a header. */
const tagsIn = (header: string): readonly Tag[] =>
  [...header.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, opaque]) => ({ opaque: opaque!, weak: weak !== undefined }))

/**
 * Returns the entity tag of a record, which is its version.
 * @param passing parts of the record that change without the version; such a record has another tag, and `If-Match`
 * still reads the version
 */
export const tagOfVersion = (version: number, passing = ''): string => `"${version}${passing && `-${passing}`}"`

/** The entity tag of an answer that has no version: equal for equal bodies, and no ground to change anything on. */
export const tagOfBody = (body: string): string => `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** A version that no record has: a change that expects it is rejected like one that expects an outdated version. */
const noVersion = 0

/**
 * Returns the version that a change expects, by `If-Match`. Weak tags and foreign tags name no version of any record,
 * so they never match (RFC 9110 §13.1.1). The graph compares the version under its lock, after checking the caller's
 * rights to the record.
 * @returns undefined when any version will do
 * @throws BAD_USER_INPUT for several versions, of which a change could expect only one
 */
export function versionExpected(header: string | undefined): number | undefined {
  const tags = readTags(header, 'If-Match')
  if (tags === undefined || tags === '*') return undefined
  const versions = new Set(tags.flatMap(({ opaque, weak }) => (weak ? [] : (/^(\d{1,9})(?:-|$)/.exec(opaque)?.slice(1, 2).map(Number) ?? []))))
  if (versions.size > 1) throw new DomainError('BAD_USER_INPUT', 'If-Match names several versions: send the one that you read.', { field: 'If-Match' })
  return [...versions][0] ?? noVersion
}

/**
 * The error of a read that is not what `If-Match` names, and of a precondition header where it cannot hold (RFC 9110
 * §15.5.13). A change at an outdated version is `STALE_VERSION` (409), whichever way the version came.
 */
export const preconditionFailed = (sentence: string, details: Record<string, unknown> = {}): DomainError =>
  withStatus(412, new DomainError('CONFLICT', sentence, details))

/**
 * Evaluates the preconditions of an answer to a read.
 * @param etag of the answer
 * @returns whether the client has this answer already (304)
 * @throws CONFLICT (412) when `If-Match` names another
 */
export function isKnown(etag: string, headers: { readonly 'if-match'?: string | undefined; readonly 'if-none-match'?: string | undefined }): boolean {
  const own = tagsIn(etag)[0]!
  const wanted = readTags(headers['if-match'], 'If-Match')
  if (wanted !== undefined && wanted !== '*' && (own.weak || !wanted.some(tag => !tag.weak && tag.opaque === own.opaque)))
    throw preconditionFailed('The resource does not match If-Match: omit the header to read it as it is.', { etag })
  const had = readTags(headers['if-none-match'], 'If-None-Match')
  return had === '*' || (had?.some(({ opaque }) => opaque === own.opaque) ?? false)
}
