import { Gauge, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { LimitPanel } from './detail.tsx'
import { type LimitRowFragment, LimitsDocument, type SpendScopeType } from './limits.generated.ts'
import { CreateLimit } from './new.tsx'
import { limitName, Spent } from './spent.tsx'

const scopeTypes: readonly SpendScopeType[] = ['ORGANIZATION', 'APP', 'USER', 'PROVIDER_FAMILY', 'MODEL', 'PLATFORM', 'PLATFORM_CREDENTIALS']

/** What may be spent, and what of it is; the limit that the path names is open beside them, and changes as money is spent. */
export default function Limits() {
  const { may, isPlatformAdmin } = useRights()
  const [asks, setAsks] = useState(false)
  const add = () => setAsks(true)
  return (
    <Page
      title={say('limits.title')}
      actions={
        may('providers:limits.manage') && (
          <Button kind="primary" icon={Plus} onPress={add}>
            {say('limits.add')}
          </Button>
        )
      }
    >
      <Guard need="providers:limits.manage">
        <List isPlatformAdmin={isPlatformAdmin} add={add} />
      </Guard>
      {asks && <CreateLimit onClose={() => setAsks(false)} />}
    </Page>
  )
}

const pills = (isPlatformAdmin: boolean): readonly (Pill & { readonly name: 'scope' | 'level' })[] => [
  { name: 'scope', heading: say('limits.scope'), values: scopeTypes, title: value => say(`scope.${value}`) },
  ...(isPlatformAdmin
    ? [{ name: 'level', heading: say('level.heading'), values: ['ORGANIZATION', 'PLATFORM'], title: (value: string) => say(`level.${value}`) } as const]
    : []),
]

function List({ isPlatformAdmin, add }: { readonly isPlatformAdmin: boolean; add(): void }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/limits\/([^/]+)$/.exec(path)?.[1]
  const offered = pills(isPlatformAdmin)
  const { scope, level } = chosenOf(search, offered)
  const variables = {
    ...pageOf(search),
    ...(scope && { scopeType: scope as SpendScopeType }),
    ...(level && { level: level as 'ORGANIZATION' | 'PLATFORM' }),
  }
  const { data, state, problem, retry } = useRead(LimitsDocument, variables, { isEmpty: ({ spendLimits }) => spendLimits?.nodes?.length === 0 })
  const rows = (data?.spendLimits?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/limits" search={search} pills={offered} />
        <Listing
          label={say('limits.title')}
          path="/limits"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.spendLimits?.pageInfo}
          total={data?.spendLimits?.totalCount}
          attributes={each => ({ 'data-limit': each.id })}
          empty={{
            icon: Gauge,
            sentence: say(scope ? 'list.nothing' : 'limits.empty'),
            action: <Button onPress={add}>{say('limits.add')}</Button>,
          }}
        />
      </div>
      {id && <LimitPanel key={id} id={id} back={withSearch('/limits', search, {})} reload={retry} />}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<LimitRowFragment>[] => [
  {
    id: 'name',
    heading: say('limits.limit'),
    isMain: true,
    cell: limit => <Link to={withSearch(`/limits/${limit.id}`, search, {})}>{limitName(limit)}</Link>,
  },
  { id: 'spent', heading: say('limits.spent'), cell: limit => <Spent limit={limit} /> },
  { id: 'soft', heading: say('limits.soft'), isFigure: true, cell: ({ softLimitMicros }) => dollars(softLimitMicros) },
  { id: 'hard', heading: say('limits.hard'), isFigure: true, cell: ({ hardLimit }) => dollars(hardLimit?.limitMicros) },
]
