import { useQuery } from 'urql'
import { useRead } from '../read.ts'
import { FrameDocument } from './frame.generated.ts'

/** Whether the person may do what a scope stands for; false until that is known, so that nothing is drawn that the graph would refuse. */
export function useMay(scope: string): boolean {
  return useScopes().includes(scope)
}

/** The scopes that the person has in the active context. */
export function useScopes(): readonly string[] {
  // The frame has asked already: this reads what it was told.
  const [{ data }] = useQuery({ query: FrameDocument, variables: {}, requestPolicy: 'cache-first' })
  return data?.viewer?.scopes ?? []
}

/** The person's id, and the roles that they have in the active organization. */
export function useSelf(): { readonly id: string | null; readonly roles: readonly string[] } {
  const [{ data }] = useQuery({ query: FrameDocument, variables: {}, requestPolicy: 'cache-first' })
  return { id: data?.viewer?.user?.id ?? null, roles: data?.viewer?.roles ?? [] }
}

/** What the person may do: a control for what they may not is not drawn. Until it is known they may nothing. */
export function useRights(): {
  may(scope: string): boolean
  readonly isPlatformAdmin: boolean
  readonly isPlatformSuperAdmin: boolean
  readonly isKnown: boolean
} {
  const { data } = useRead(FrameDocument, {})
  const scopes = new Set(data?.viewer?.scopes ?? [])
  const roles = new Set<string>((data?.viewer?.roles ?? []).map(role => role.toUpperCase()))
  const isPlatformSuperAdmin = roles.has('PLATFORM_SUPER_ADMIN')
  return {
    isKnown: data !== undefined,
    may: scope => scopes.has(scope),
    isPlatformAdmin: isPlatformSuperAdmin || roles.has('PLATFORM_ADMIN'),
    isPlatformSuperAdmin,
  }
}
