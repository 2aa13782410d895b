import { ScrollText } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { useSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { hasRange, rangeIn } from '../../shell/parts/dates.tsx'
import { Filters } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { PaymentAuditDocument, type PaymentAuditQuery } from './audit.generated.ts'

type Entry = NonNullable<NonNullable<NonNullable<PaymentAuditQuery['paymentAuditLog']>['nodes']>[number]>

/** Who changed what at payments, with what stood there before. */
export default function Audit() {
  return (
    <Page title={say('audit.title')}>
      <Guard need="payments:audit.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const search = useSearch()
  const action = search.get('action')?.trim()
  const variables = { ...pageOf(search), ...rangeIn(search), ...(action && { action }) }
  const { data, state, problem, retry } = useRead(PaymentAuditDocument, variables, { isEmpty: ({ paymentAuditLog }) => paymentAuditLog?.nodes?.length === 0 })
  const rows = (data?.paymentAuditLog?.nodes ?? []).filter(each => each !== null)
  return (
    <>
      <Filters path="/audit" search={search} pills={[]} text={{ name: 'action', heading: say('audit.action') }} hasDates />
      <Listing
        label={say('audit.title')}
        path="/audit"
        columns={columns()}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.paymentAuditLog?.pageInfo}
        total={data?.paymentAuditLog?.totalCount}
        empty={{ icon: ScrollText, sentence: say(action || hasRange(search) ? 'audit.nothing' : 'audit.empty') }}
      />
    </>
  )
}

const columns = (): readonly Column<Entry>[] => [
  { id: 'action', heading: say('audit.action'), cell: ({ action }) => <code>{action}</code> },
  { id: 'record', heading: say('audit.record'), cell: ({ entityType }) => entityType },
  {
    id: 'changes',
    heading: say('audit.changes'),
    isMain: true,
    cell: ({ changes }) =>
      changes.length === 0 ? (
        '–'
      ) : (
        <span className="clip">{changes.map(({ field, before, after }) => `${field}: ${before ?? '–'} → ${after ?? '–'}`).join(', ')}</span>
      ),
  },
  { id: 'actor', heading: say('audit.actor'), cell: ({ user, appId, apiKeyId }) => user?.name ?? appId ?? (apiKeyId ? say('audit.key') : '–') },
  {
    id: 'at',
    heading: say('audit.at'),
    cell: ({ at }) => (
      <time className="quiet" dateTime={at}>
        {moment(at)}
      </time>
    ),
  },
]
