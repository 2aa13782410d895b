import { useCallback, useEffect, useState } from 'react'
import { useSession } from '../context.ts'
import type { Problem } from '../data/problems.ts'
import { authPath } from '../place.ts'
import type { RegionState } from '../read.ts'
import { say } from '../words.ts'

/** An app that the person may open. */
export interface OpenableApp {
  readonly slug: string
  readonly title: string
  readonly contexts: readonly string[]
}

/** What the person may open in the active context, as the registry says; asked once somebody wants to see it. */
export function useApps({ isOpen }: { readonly isOpen: boolean }): {
  readonly apps: readonly OpenableApp[]
  readonly state: RegionState
  readonly problem: Problem | null
  retry(): void
} {
  const session = useSession()
  const [found, setFound] = useState<readonly OpenableApp[] | 'failed' | null>(null)
  const load = useCallback(async () => {
    const token = await session.token()
    const answer = await fetch(authPath('apps'), { headers: token === null ? {} : { authorization: `Bearer ${token}` } }).catch(() => null)
    setFound(answer?.ok ? ((await answer.json()) as { readonly apps: readonly OpenableApp[] }).apps : 'failed')
  }, [session])
  useEffect(() => {
    if (isOpen) void load()
  }, [isOpen, load])
  const isFailed = found === 'failed'
  return {
    apps: Array.isArray(found) ? (found as readonly OpenableApp[]) : [],
    state: found === null ? 'loading' : isFailed ? 'error' : 'ready',
    problem: isFailed ? { sentence: say('problem.network'), code: null, reason: null, field: null, requestId: null } : null,
    retry: () => void load(),
  }
}
