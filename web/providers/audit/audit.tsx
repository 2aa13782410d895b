import { ScrollText } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { useSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ProviderAuditDocument, type ProviderAuditQuery } from './audit.generated.ts'

type Entry = NonNullable<NonNullable<NonNullable<ProviderAuditQuery['providerAuditLog']>['nodes']>[number]>

/** Who changed what at the gateway. */
export default function Audit() {
  return (
    <Page title={say('audit.title')}>
      <Guard need="providers:provider_credentials.manage">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const search = useSearch()
  const { data, state, problem, retry } = useRead(ProviderAuditDocument, pageOf(search), {
    isEmpty: ({ providerAuditLog }) => providerAuditLog?.nodes?.length === 0,
  })
  const rows = (data?.providerAuditLog?.nodes ?? []).filter(each => each !== null)
  return (
    <Listing
      label={say('audit.title')}
      path="/audit"
      columns={columns()}
      rows={rows}
      state={state}
      problem={problem}
      retry={retry}
      page={data?.providerAuditLog?.pageInfo}
      total={data?.providerAuditLog?.totalCount}
      empty={{ icon: ScrollText, sentence: say('audit.empty') }}
    />
  )
}

const columns = (): readonly Column<Entry>[] => [
  { id: 'action', heading: say('audit.action'), isMain: true, cell: ({ action }) => <code>{action}</code> },
  { id: 'target', heading: say('audit.target'), cell: ({ target }) => <span className="clip">{target}</span> },
  { id: 'actor', heading: say('audit.actor'), cell: ({ actor }) => <span className="clip">{actor}</span> },
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
