import { CheckCheck, ListChecks, Plus, UserRound } from 'lucide-react'
import type { Client } from 'urql'
import { Icon } from '../../design/parts/icon.tsx'
import { Link } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { Figures } from '../../shell/parts/widget.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { Risk } from '../approvals/state.tsx'
import { ProfileState } from '../profiles/state.tsx'
import { AgentsOverviewDocument, type AgentsOverviewQuery } from './overview.generated.ts'
import { StopButton } from './stop.tsx'

/** What the first look at the page reads. */
export const warm = (client: Client): void => void client.query(AgentsOverviewDocument, {}).toPromise()

/** How agents' work stands: what waits for people, and the latest profiles. All work is stopped here. */
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
    <Page
      title={say('overview.title')}
      actions={
        <>
          <StopButton />
          {create}
        </>
      }
    >
      {data ? (
        <Waiting approvals={data.approvals} tasks={data.tasks} />
      ) : (
        <Region title={say('overview.waiting')} state={state} problem={problem} retry={retry} lines={1} />
      )}
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

/** Approvals and open tasks, the newest first. */
function Waiting({ approvals, tasks }: Pick<AgentsOverviewQuery, 'approvals' | 'tasks'>) {
  const asked = (approvals?.nodes ?? []).filter(each => each !== null)
  const open = (tasks?.nodes ?? []).filter(each => each !== null)
  const isEmpty = asked.length + open.length === 0
  return (
    <Region title={say('overview.waiting')} isFlush={!isEmpty} state="ready">
      {isEmpty && <p className="quiet">{say('overview.nothing-waits')}</p>}
      {!isEmpty && (
        <ul className="list">
          {asked.map(({ id, title, risk }) => (
            <li key={id} data-approval={id}>
              <Icon of={CheckCheck} />
              <Link className="grow clip" to={`/approvals/${id}`}>
                {title}
              </Link>
              <Risk risk={risk} />
            </li>
          ))}
          {open.map(({ id, title, dueAt }) => (
            <li key={id} data-task={id}>
              <Icon of={ListChecks} />
              <Link className="grow clip" to={`/tasks/${id}`}>
                {title}
              </Link>
              {dueAt && <span className="quiet small">{say('overview.due', { when: lately(dueAt) })}</span>}
            </li>
          ))}
        </ul>
      )}
    </Region>
  )
}
