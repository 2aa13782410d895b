import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { resyncPosts } from '../news/announce.ts'
import { approvalResolvers } from './approval/resolvers.ts'
import { bulkResolvers } from './bulk/resolvers.ts'
import { composeResolvers } from './compose/resolvers.ts'
import { importResolvers } from './import/resolvers.ts'
import { postResolvers } from './resolvers.ts'
import { threadResolvers } from './thread/resolvers.ts'
import { versionResolvers } from './version/resolvers.ts'

/** Posts, from draft to what is due. */
export const postNouns: Readonly<Record<string, Noun<Base<Job, unknown>>>> = {
  post: {
    resolvers: postResolvers,
    sweeps: ({ job }) => [{ name: 'parts of words', everyMs: 3_600_000, run: () => job('search').rareParts.learn() }],
    resync: ({ foundation: { events }, job }) => resyncPosts(events, (brandId, since) => job('delivery').posts.changedSince(brandId, since)),
  },
  approval: { resolvers: approvalResolvers },
  compose: { resolvers: composeResolvers },
  thread: { resolvers: threadResolvers },
  version: { resolvers: versionResolvers },
  bulk: { resolvers: bulkResolvers },
  import: { resolvers: importResolvers },
}
