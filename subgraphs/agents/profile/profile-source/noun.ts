import type { Noun } from '../../../wiring/define.ts'
import type { At } from '../../context.ts'
import { profileSourceResolvers } from './resolvers.ts'

/** Sources of profiles, whose addresses are fetched beside the requests that add them. */
export const profileSource: Noun<At> = {
  resolvers: profileSourceResolvers,
  sweeps: ({ services: { fetching } }) => [fetching.sweep],
  stop: ({ services: { fetching } }) => fetching.stop(),
}
