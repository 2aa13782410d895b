import { readListed } from '../../../../subgraphs/launcher/engines/catalog/read.ts'
import type { Listed } from '../../../../subgraphs/launcher/stores/catalog-entry.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

type Graph = Pick<Supergraph, 'platform'>

/** Graphs whose launcher has read the registry: without a reason it reads it again only after minutes, and keeps the seeded apps. */
const refreshed = new WeakSet<object>()

/** An app as the developer platform would list it. */
export interface EntrySeed {
  readonly slug: string
  readonly title?: string
  readonly [more: string]: unknown
}

const listed = ({ slug, title = slug, ...more }: EntrySeed): Listed => {
  const read = readListed({ slug, title, kind: 'application', contexts: ['organization'], ...more })
  if (!read) throw new Error(`${slug} cannot be read as an app of the catalogue`)
  return read
}

/** Replaces the apps of the developer platform in the copy of the catalogue, beside those of the platform. */
export async function seedApps(graph: Graph, ...apps: readonly EntrySeed[]): Promise<void> {
  if (!refreshed.has(graph)) await seedPlatformApps(graph)
  const job = graph.platform.launcher.job('test')
  await inTransaction(job, ({ transaction, now }) => job.catalogEntries.replace(false, apps.map(listed), now, transaction))
}

/** Copies the registry's services into the catalogue. */
export async function seedPlatformApps(graph: Graph): Promise<void> {
  await graph.platform.launcher.at.services.catalog.refresh()
  refreshed.add(graph)
}

/** Leaves organizations without any app: a seeded one has those of the platform. */
export const removeInstallations = (graph: Pick<Supergraph, 'rows'>): Promise<unknown> => graph.rows('delete from launcher.installations')

/** Calls a control address of the sandbox: `faults`, `objects`, `emit`. */
export async function steer<Answer = unknown>({ x }: Pick<Supergraph, 'x'>, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${x.origin}/_control/${path}`, {
    signal: AbortSignal.timeout(10_000),
    ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}
