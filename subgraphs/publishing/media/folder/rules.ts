import { DomainError } from '../../../../platform/errors.ts'
import { requireName } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import type { Context } from '../../context.ts'

/** Limits of folders: number per brand, and nesting depth. */
export const mostFolders = 200
const mostLevels = 8

export const readFolderName = (given: string | null | undefined): string => requireName(given ?? '', 'name', 80)

/** A folder with its parent. */
export interface Leaf {
  readonly id: string
  readonly parentId: string | null
}

/**
 * Checks that a folder may be placed in a parent.
 * @param id id of the folder; null for a new one
 * @throws NOT_FOUND for a missing parent; CONFLICT when the folder would contain itself, or be nested too deep
 */
export function requirePlace(tree: readonly Leaf[], id: string | null, parentId: string | null): void {
  const byId = new Map(tree.map(leaf => [leaf.id, leaf]))
  if (parentId !== null && !byId.has(parentId)) throw notFound('media folder', parentId)
  let above = 0
  for (let at = parentId; at !== null && above <= mostFolders; at = byId.get(at)?.parentId ?? null) {
    if (at === id) throw new DomainError('CONFLICT', 'A folder cannot lie in itself, or in one that lies in it.', { field: 'parentId' })
    above += 1
  }
  const below = (of: string, seen: number): number =>
    Math.max(0, ...tree.filter(leaf => leaf.parentId === of && seen < mostFolders).map(leaf => 1 + below(leaf.id, seen + 1)))
  if (above + 1 + (id === null ? 0 : below(id, 0)) > mostLevels)
    throw new DomainError('CONFLICT', `Folders lie ${mostLevels} deep in each other at most: choose one further up.`, { field: 'parentId', reason: 'QUOTA' })
}

/** Checks that a folder belongs to the brand, and locks it until the transaction ends. @throws NOT_FOUND */
export async function requireFolder(
  { mediaFolders }: Pick<Context, 'mediaFolders'>,
  brandId: string,
  id: string | null,
  { transaction }: Pick<WriteTransaction, 'transaction'>,
): Promise<void> {
  if (id === null) return
  const folder = await mediaFolders.lock(id, transaction)
  if (folder?.brandId !== brandId) throw notFound(mediaFolders.what, id)
}
