import { CheckCheck } from 'lucide-react'
import { useEffect } from 'react'
import { useSubscription } from 'urql'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ApprovalChangesDocument, type ApprovalRowFragment, ApprovalsDocument } from './approvals.generated.ts'
import { ApprovalPanel } from './detail.tsx'
import { ApprovalState, Risk } from './state.tsx'

/** Where runs wait for a person: first those that wait, all of them by a link. The one that the path names is open beside the list. */
export default function Approvals() {
  return (
    <Page title={say('approvals.title')} actions={<Views />}>
      <Guard need="agents:workflows.read">
        <List />
      </Guard>
    </Page>
  )
}

function Views() {
  const search = useSearch()
  const isAll = search.get('view') === 'all'
  const link = (view: string | null, key: string) => (
    <Link to={withSearch('/approvals', search, { view, after: null })} aria-current={isAll === (view === 'all') ? 'page' : undefined}>
      {say(key)}
    </Link>
  )
  return (
    <nav className="tabs" aria-label={say('approvals.views')}>
      {link(null, 'approvals.waiting')}
      {link('all', 'approvals.all')}
    </nav>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/approvals\/([^/]+)$/.exec(path)?.[1]
  const isAll = search.get('view') === 'all'
  const variables = { ...pageOf(search), ...(!isAll && { status: 'PENDING' as const }) }
  const { data, state, problem, retry } = useRead(ApprovalsDocument, variables, { isEmpty: ({ approvals }) => approvals?.nodes?.length === 0 })
  const rows = (data?.approvals?.nodes ?? []).filter(each => each !== null)
  const [{ data: changed }] = useSubscription({ query: ApprovalChangesDocument })
  const news = changed?.approvalUpdated
  const isNew = news?.status === 'PENDING' && data !== undefined && !rows.some(each => each.id === news.id)
  useEffect(() => {
    if (isNew) retry()
  }, [isNew, news?.id])
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Listing
          label={say('approvals.title')}
          path="/approvals"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.approvals?.pageInfo}
          total={data?.approvals?.totalCount}
          attributes={each => ({ 'data-approval': each.id })}
          empty={{ icon: CheckCheck, sentence: say(isAll ? 'approvals.empty' : 'approvals.nothing-waits') }}
        />
      </div>
      {id && <ApprovalPanel key={id} id={id} back={withSearch('/approvals', search, {})} reload={retry} />}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<ApprovalRowFragment>[] => [
  {
    id: 'title',
    heading: say('approvals.one'),
    isMain: true,
    cell: ({ id, title }) => <Link to={withSearch(`/approvals/${id}`, search, {})}>{title}</Link>,
  },
  { id: 'risk', heading: say('approvals.risk'), cell: ({ risk }) => <Risk risk={risk} /> },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <ApprovalState status={status} /> },
  {
    id: 'expires',
    heading: say('approvals.expires'),
    cell: ({ expiresAt, status }) =>
      status === 'PENDING' ? (
        <time className="quiet" dateTime={expiresAt}>
          {moment(expiresAt)}
        </time>
      ) : (
        '–'
      ),
  },
]
