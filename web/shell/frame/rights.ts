import { useQuery } from 'urql'
import { FrameDocument } from './frame.generated.ts'

/** Who is signed in, and what they may do in the active context. Until that is known they may nothing, so that no control is drawn that the graph would refuse. */
export interface Rights {
  readonly id: string | null
  /** In the active organization, and on the platform. */
  readonly roles: readonly string[]
  readonly scopes: readonly string[]
  readonly isPlatformAdmin: boolean
  /** Whether they are in personal context, in no organization. */
  readonly isPersonal: boolean
  readonly isKnown: boolean
  may(scope: string): boolean
}

/** What the frame has read of the person; nothing is asked again. */
export function useRights(): Rights {
  const [{ data }] = useQuery({ query: FrameDocument, variables: {}, requestPolicy: 'cache-first' })
  const { roles = [], scopes = [], user } = data?.viewer ?? {}
  return {
    id: user?.id ?? null,
    roles,
    scopes,
    isPlatformAdmin: roles.some(role => role === 'PLATFORM_ADMIN' || role === 'PLATFORM_SUPER_ADMIN'),
    isPersonal: data?.viewer?.context === 'PERSONAL',
    isKnown: data !== undefined,
    may: scope => scopes.includes(scope),
  }
}
