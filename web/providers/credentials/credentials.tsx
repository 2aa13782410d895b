import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { families } from '../names.ts'
import { type CredentialRowFragment, CredentialsDocument, type ProviderFamily } from './credentials.generated.ts'
import { CredentialPanel } from './detail.tsx'
import { CreateCredential } from './new.tsx'
import { CredentialState } from './state.tsx'

/** Credentials with which providers are called; the one that the path names is open beside them. */
export default function Credentials() {
  const { may, isPlatformAdmin } = useRights()
  const [asks, setAsks] = useState(false)
  return (
    <Page
      title={say('credentials.title')}
      actions={
        may('providers:provider_credentials.manage') && (
          <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
            {say('credentials.add')}
          </Button>
        )
      }
    >
      <Guard need="providers:provider_credentials.manage">
        <List isPlatformAdmin={isPlatformAdmin} add={() => setAsks(true)} />
      </Guard>
      {asks && <CreateCredential onClose={() => setAsks(false)} />}
    </Page>
  )
}

const pills = (isPlatformAdmin: boolean): readonly (Pill & { readonly name: 'family' | 'level' })[] => [
  { name: 'family', heading: say('family.heading'), values: families, title: value => say(`family.${value}`) },
  ...(isPlatformAdmin
    ? [{ name: 'level', heading: say('level.heading'), values: ['ORGANIZATION', 'PLATFORM'], title: (value: string) => say(`level.${value}`) } as const]
    : []),
]

function List({ isPlatformAdmin, add }: { readonly isPlatformAdmin: boolean; add(): void }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/credentials\/([^/]+)$/.exec(path)?.[1]
  const offered = pills(isPlatformAdmin)
  const { family, level } = chosenOf(search, offered)
  const variables = {
    ...pageOf(search),
    ...(family && { family: family as ProviderFamily }),
    ...(level && { level: level as 'ORGANIZATION' | 'PLATFORM' }),
  }
  const { data, state, problem, retry } = useRead(CredentialsDocument, variables, { isEmpty: ({ credentials }) => credentials?.nodes?.length === 0 })
  const rows = (data?.credentials?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/credentials" search={search} pills={offered} />
        <Listing
          label={say('credentials.title')}
          path="/credentials"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.credentials?.pageInfo}
          total={data?.credentials?.totalCount}
          attributes={each => ({ 'data-credential': each.id })}
          empty={{
            icon: KeyRound,
            sentence: say(family ? 'list.nothing' : 'credentials.empty'),
            action: <Button onPress={add}>{say('credentials.add')}</Button>,
          }}
        />
      </div>
      {id && <CredentialPanel key={id} id={id} back={withSearch('/credentials', search, {})} reload={retry} />}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<CredentialRowFragment>[] => [
  {
    id: 'name',
    heading: say('credentials.name'),
    isMain: true,
    cell: ({ id, name }) => <Link to={withSearch(`/credentials/${id}`, search, {})}>{name}</Link>,
  },
  { id: 'family', heading: say('family.heading'), cell: ({ family }) => say(`family.${family}`) },
  { id: 'status', isKept: true, heading: say('credentials.status'), cell: ({ status }) => <CredentialState status={status} /> },
  {
    id: 'used',
    heading: say('credentials.last-used'),
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? (
        <time className="quiet" dateTime={lastUsedAt}>
          {lately(lastUsedAt)}
        </time>
      ) : (
        <span className="quiet">{say('credentials.never')}</span>
      ),
  },
]
