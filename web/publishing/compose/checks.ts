import { useEffect, useState } from 'react'
import { useQuery } from 'urql'
import { ComposeChecksDocument, type ComposeChecksQuery } from './compose.generated.ts'
import type { Draft } from './draft.ts'

export type Check = NonNullable<NonNullable<ComposeChecksQuery['postChecks']>[number]>

/** Nobody types for so long before it is checked, in ms. */
const pauseMs = 200

/** What each chosen network says of what is typed, as the graph counts it; until it answers, what it said before. */
export function useChecks(brandId: string, { copy, platforms }: Draft): readonly Check[] {
  const [typed, setTyped] = useState({ copy, platforms })
  useEffect(() => {
    const timer = setTimeout(() => setTyped({ copy, platforms }), pauseMs)
    return () => clearTimeout(timer)
  }, [copy, platforms])
  const [{ data }] = useQuery({
    query: ComposeChecksDocument,
    variables: { input: { brandId, copy: typed.copy, platforms: typed.platforms } },
    pause: typed.platforms.length === 0 || typed.copy === '',
  })
  return (data?.postChecks ?? []).filter(each => each !== null)
}
