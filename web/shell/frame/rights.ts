import { useRead } from '../read.ts'
import { FrameDocument } from './frame.generated.ts'

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
