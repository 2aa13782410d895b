import { AppWindow } from 'lucide-react'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ProviderAppsDocument, type ProviderAppsQuery } from './apps.generated.ts'

const number = new Intl.NumberFormat(locale)

type App = NonNullable<ProviderAppsQuery['providerApps']>[number] & { readonly id: string }

/** Which apps call providers for the organization. */
export default function Apps() {
  const { data, state, problem, retry } = useRead(ProviderAppsDocument, {}, { isEmpty: ({ providerApps }) => providerApps?.length === 0 })
  const rows = (data?.providerApps ?? []).map(each => ({ ...each, id: each.appId }))
  return (
    <Page title={say('provider-apps.title')}>
      <Region isFlush state={state} problem={problem} retry={retry} empty={{ icon: AppWindow, sentence: say('provider-apps.empty') }}>
        <Table label={say('provider-apps.title')} columns={columns()} rows={rows} />
      </Region>
    </Page>
  )
}

const columns = (): readonly Column<App>[] => [
  { id: 'title', heading: say('provider-apps.app'), isMain: true, cell: ({ title, appId }) => <Link to={`/usage?by=model&app=${appId}`}>{title}</Link> },
  { id: 'id', heading: say('provider-apps.id'), cell: ({ appId }) => <code>{appId}</code> },
  { id: 'calls', heading: say('usage.calls'), isFigure: true, cell: ({ calls }) => number.format(calls) },
  { id: 'cost', heading: say('usage.cost'), isFigure: true, cell: ({ costMicros }) => dollars(costMicros) },
  {
    id: 'used',
    heading: say('provider-apps.used'),
    cell: ({ lastUsedAt }) => (
      <time className="quiet" dateTime={lastUsedAt}>
        {lately(lastUsedAt)}
      </time>
    ),
  },
]
