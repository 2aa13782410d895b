import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { exportHandlers } from './person-profile/export.ts'
import { personProfileResolvers } from './person-profile/resolvers.ts'
import { profileAuthorizationResolvers } from './profile-authorization/resolvers.ts'
import { profileSource } from './profile-source/noun.ts'
import { profileUseResolvers } from './profile-use/resolvers.ts'
import { styleSnapshotResolvers } from './style-snapshot/resolvers.ts'

/** Person profiles, what they are learned from, and what is written with them. */
export const profileNouns: Readonly<Record<string, Noun<At>>> = {
  'person-profile': { resolvers: personProfileResolvers, handlers: ({ contexts: { forRequest } }) => exportHandlers(forRequest) },
  'profile-authorization': { resolvers: profileAuthorizationResolvers },
  'profile-source': profileSource,
  'profile-use': { resolvers: profileUseResolvers },
  'style-snapshot': { resolvers: styleSnapshotResolvers },
}
