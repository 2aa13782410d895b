import { Plus, UserRound } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ProfilePanel } from './detail.tsx'
import { CreateProfile } from './new.tsx'
import { type PersonProfileStatus, type ProfileRowFragment, ProfilesDocument } from './profiles.generated.ts'
import { ProfileState } from './state.tsx'

/** Profiles of persons that this one may see; the one that the path names is open beside them. */
export default function Profiles() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/profiles\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as PersonProfileStatus }) }
  const { data, state, problem, retry } = useRead(ProfilesDocument, variables, { isEmpty: ({ personProfiles }) => personProfiles?.nodes?.length === 0 })
  const rows = (data?.personProfiles?.nodes ?? []).filter(each => each !== null)
  const ask = (isOpen: boolean) => goTo(withSearch('/profiles', search, { new: isOpen ? 'profile' : null }))
  return (
    <Page
      title={say('profiles.title')}
      actions={
        <Button kind="primary" icon={Plus} onPress={() => ask(true)}>
          {say('profiles.create')}
        </Button>
      }
    >
      <div className={id ? 'beside open' : 'beside'}>
        <div className="stack">
          <Filters path="/profiles" search={search} pills={offered} />
          <Listing
            label={say('profiles.title')}
            path="/profiles"
            columns={columns(search)}
            rows={rows}
            current={id}
            state={state}
            problem={problem}
            retry={retry}
            page={data?.personProfiles?.pageInfo}
            total={data?.personProfiles?.totalCount}
            attributes={each => ({ 'data-profile': each.id })}
            empty={{
              icon: UserRound,
              sentence: say(status ? 'profiles.nothing' : 'profiles.empty'),
              action: !status && <Button onPress={() => ask(true)}>{say('profiles.create')}</Button>,
            }}
          />
        </div>
        {id && <ProfilePanel key={id} id={id} back={withSearch('/profiles', search, {})} reload={retry} />}
      </div>
      {search.get('new') === 'profile' && <CreateProfile onClose={() => ask(false)} reload={retry} />}
    </Page>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('profiles.status'), values: ['DRAFT', 'ACTIVE', 'ARCHIVED'], title: value => say(`profile.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<ProfileRowFragment>[] => [
  {
    id: 'name',
    heading: say('profiles.person'),
    isMain: true,
    cell: ({ id, displayName }) => <Link to={withSearch(`/profiles/${id}`, search, { new: null })}>{displayName}</Link>,
  },
  { id: 'status', isKept: true, heading: say('profiles.status'), cell: ({ status }) => <ProfileState status={status} /> },
  {
    id: 'at',
    heading: say('profiles.updated'),
    cell: ({ updatedAt }) => (
      <time className="quiet" dateTime={updatedAt}>
        {lately(updatedAt)}
      </time>
    ),
  },
]
