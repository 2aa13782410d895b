import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { Region } from '../region.tsx'
import { say } from '../words.ts'
import { useRights } from './rights.ts'

/** Shows its content to who may see it; to others it says which role may. @param need a scope, or `platform` for admins of the platform */
export function Guard({ need, children }: { readonly need: string; readonly children: ReactNode }) {
  const { may, isPlatformAdmin, isKnown } = useRights()
  if (!isKnown) return <Region state="loading" isFlush lines={8} />
  if (need === 'platform' ? isPlatformAdmin : may(need)) return children
  return <Region state="empty" empty={{ icon: Lock, sentence: say('problem.right', { role: say(need === 'platform' ? 'role.platform' : 'role.admins') }) }} />
}
