import { newId } from '../../../../platform/ids.ts'
import type { Job } from '../../../../subgraphs/publishing/context.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

type AssetSeed = Parameters<Job['mediaAssets']['insert']>[0]
type FolderSeed = Parameters<Job['mediaFolders']['insert']>[0]

/** An asset, past every rule; its bytes are nowhere. */
export function seedAsset({ clock, job }: Pick<Supergraph, 'clock' | 'job'>, { brandId, ...more }: Partial<AssetSeed> & { brandId: string }) {
  const now = clock.now()
  const file = { filename: 'a.png', mimeType: 'image/png', bytes: 1, sha256: '0'.repeat(64), kind: 'IMAGE', source: 'UPLOAD', status: 'READY' } as const
  const asset = { ...file, ...more, brandId, id: newId(now), createdAt: now, updatedAt: now, createdBy: 'user:x' }
  return inTransaction(job, ({ transaction }) => job.mediaAssets.insert(asset, transaction))
}

/** A folder, past every rule. */
export function seedFolder({ clock, job }: Pick<Supergraph, 'clock' | 'job'>, { brandId, ...more }: Partial<FolderSeed> & { brandId: string }) {
  const now = clock.now()
  const folder = { name: 'A folder', ...more, brandId, id: newId(now), createdAt: now, updatedAt: now, createdBy: 'user:x' }
  return inTransaction(job, ({ transaction }) => job.mediaFolders.insert(folder, transaction))
}
