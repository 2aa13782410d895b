import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { mediaAssetResolvers } from './asset/resolvers.ts'
import { mediaFolderResolvers } from './folder/resolvers.ts'
import { imageResolvers } from './image/resolvers.ts'
import { mediaSweeps, prepareQueue } from './prepare.ts'
import { trendResolvers } from './trend/resolvers.ts'

/** Resolvers, queues and sweeps for pictures, films and generated content. */
export const mediaNouns: Readonly<Record<string, Noun<Base<Job, unknown>>>> = {
  mediaAsset: {
    resolvers: mediaAssetResolvers,
    queues: ({ job }) => [prepareQueue(() => job('delivery'))],
    sweeps: ({ job }) => mediaSweeps(() => job('delivery')),
  },
  mediaFolder: { resolvers: mediaFolderResolvers },
  image: { resolvers: imageResolvers },
  trend: { resolvers: trendResolvers },
}
