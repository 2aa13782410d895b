import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import { type Read, useRead } from '../../shell/read.ts'
import { type CalendarCellFragment, CalendarDocument, type CalendarQuery } from './calendar.generated.ts'

/** More than anybody looks at in one month: what is beyond is counted, and not drawn. */
const maxEntries = 1000

export interface CalendarRange {
  readonly brandId: string
  readonly from: string
  readonly to: string
}

/** Everything that stands in a range: the first hundred entries at once, then the rest as it comes. */
export function useEntries(
  range: CalendarRange,
  pause: boolean,
): Read<CalendarQuery> & { readonly entries: readonly CalendarCellFragment[]; readonly count: number } {
  const client = useClient()
  const first = useRead(CalendarDocument, range, { pause })
  const page = first.data?.calendarEntries
  const [rest, setRest] = useState<{ readonly of: typeof page; readonly entries: readonly CalendarCellFragment[] } | null>(null)
  const { brandId, from, to } = range
  useEffect(() => {
    if (!page?.pageInfo.hasNextPage) return
    let isOver = false
    void (async () => {
      const entries: CalendarCellFragment[] = []
      let after = page.pageInfo.endCursor
      while (after && !isOver && entries.length < maxEntries) {
        const { data } = await client.query(CalendarDocument, { brandId, from, to, after }, { requestPolicy: 'network-only' }).toPromise()
        const next = data?.calendarEntries
        entries.push(...nodesOf(next))
        after = next?.pageInfo.hasNextPage ? next.pageInfo.endCursor : null
      }
      if (!isOver) setRest({ of: page, entries })
    })()
    return () => {
      isOver = true
    }
  }, [client, page, brandId, from, to])
  const known = nodesOf(page)
  const ids = new Set(known.map(({ id }) => id))
  // While the rest is read again, what it was stays: an entry that is in both is the newer one.
  const further = page?.pageInfo.hasNextPage ? (rest?.entries ?? []).filter(({ id }) => !ids.has(id)) : []
  return { ...first, entries: [...known, ...further], count: page?.totalCount ?? 0 }
}

const nodesOf = (page: CalendarQuery['calendarEntries'] | undefined): readonly CalendarCellFragment[] => (page?.nodes ?? []).filter(each => each !== null)
