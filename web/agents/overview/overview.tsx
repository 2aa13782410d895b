import { Plus, UserRound } from 'lucide-react'
import { Icon } from '../../design/parts/icon.tsx'
import { Link } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { Figures } from '../../shell/parts/widget.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ProfileState } from '../profiles/state.tsx'
import { AgentsOverviewDocument } from './overview.generated.ts'

/** How agents' work stands, and the latest profiles. */
export default function Overview() {
  const { data, state, problem, retry } = useRead(AgentsOverviewDocument, {})
  const profiles = (data?.personProfiles?.nodes ?? []).filter(each => each !== null)
  const create = (
    <Link className="button primary" to="/profiles?new=profile">
      <Icon of={Plus} />
      {say('profiles.create')}
    </Link>
  )
  return (
    <Page title={say('overview.title')} actions={create}>
      <Figures
        payload={data?.agentsWidget && { ...data.agentsWidget, items: [] }}
        state={data && !data.agentsWidget ? 'error' : state}
        problem={problem}
        retry={retry}
      />
      <Region
        title={say('overview.profiles')}
        isFlush
        state={state === 'ready' && profiles.length === 0 ? 'empty' : state}
        problem={problem}
        retry={retry}
        empty={{ icon: UserRound, sentence: say('profiles.empty'), action: create }}
      >
        <ul className="list">
          {profiles.map(({ id, displayName, status, updatedAt }) => (
            <li key={id} data-profile={id}>
              <Link className="grow clip" to={`/profiles/${id}`}>
                {displayName}
              </Link>
              <ProfileState status={status} />
              <time className="quiet figures" dateTime={updatedAt}>
                {lately(updatedAt)}
              </time>
            </li>
          ))}
        </ul>
      </Region>
    </Page>
  )
}
