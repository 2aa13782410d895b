import { useEffect, useState } from 'react'
import { useQuery } from 'urql'
import { ComposeChecksDocument, type ComposeChecksQuery } from './compose.generated.ts'
import { composeInput, type Draft, hasContent } from './draft.ts'

export type Check = NonNullable<NonNullable<ComposeChecksQuery['postChecks']>[number]>

/** Nobody types for so long before it is checked, in ms. */
const pauseMs = 200

/** What each chosen network says of what is typed, as the graph counts it; until it answers, what it said before. */
export function useChecks(brandId: string, draft: Draft): readonly Check[] {
  const [typed, setTyped] = useState(draft)
  useEffect(() => {
    const timer = setTimeout(() => setTyped(draft), pauseMs)
    return () => clearTimeout(timer)
  }, [draft])
  const [{ data }] = useQuery({
    query: ComposeChecksDocument,
    variables: { input: composeInput(typed, brandId) },
    pause: typed.platforms.length === 0 || !hasContent(typed),
  })
  if (!hasContent(draft)) return []
  // Errors stand before warnings.
  return (data?.postChecks ?? []).flatMap(each =>
    each ? [{ ...each, problems: [...each.problems].sort((a, b) => Number(a.severity !== 'ERROR') - Number(b.severity !== 'ERROR')) }] : [],
  )
}
