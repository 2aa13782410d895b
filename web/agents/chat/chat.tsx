import { MessageCircle } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type ChatSessionRowFragment, ChatSessionsDocument, ChatSiteDocument } from './chat.generated.ts'
import { SessionPanel } from './session.tsx'
import { Site } from './site.tsx'

/** The chat on the organization's own pages: who answers there, what is not answered, how it is put on a page; and what visitors asked. */
export default function Chat() {
  const { may, roles } = useRights()
  const mayReadSessions = may('agents:reports.read') && roles.some(role => role === 'OWNER' || role === 'ADMIN')
  return (
    <Page title={say('chat.title')}>
      <Guard need="agents:agents.read">
        <Settings />
        {mayReadSessions && <Sessions />}
      </Guard>
    </Page>
  )
}

function Settings() {
  const { data, state, problem, retry } = useRead(ChatSiteDocument, {})
  const site = data?.chatSite
  if (site) return <Site site={site} />
  return <Region title={say('chat.who')} state={data ? 'error' : state} problem={problem} retry={retry} />
}

/** What visitors asked, for owners and admins; the session that the path names is open beside the list. */
function Sessions() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/chat-site\/([^/]+)$/.exec(path)?.[1]
  const { data, state, problem, retry } = useRead(ChatSessionsDocument, pageOf(search), { isEmpty: ({ chatSessions }) => chatSessions?.nodes?.length === 0 })
  const rows = (data?.chatSessions?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Listing
          title={say('chat.sessions')}
          label={say('chat.sessions')}
          path="/chat-site"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.chatSessions?.pageInfo}
          total={data?.chatSessions?.totalCount}
          attributes={each => ({ 'data-session': each.id })}
          empty={{ icon: MessageCircle, sentence: say('chat.no-session') }}
        />
      </div>
      {id && <SessionPanel key={id} id={id} back={withSearch('/chat-site', search, {})} />}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<ChatSessionRowFragment>[] => [
  {
    id: 'begun',
    heading: say('chat.session'),
    isMain: true,
    cell: ({ id, startedAt }) => (
      <Link to={withSearch(`/chat-site/${id}`, search, {})}>
        <time dateTime={startedAt}>{lately(startedAt)}</time>
      </Link>
    ),
  },
  { id: 'persona', heading: say('chat.persona'), cell: ({ persona }) => persona },
  {
    id: 'last',
    heading: say('chat.last'),
    cell: ({ lastTurnAt }) => (
      <time className="quiet" dateTime={lastTurnAt}>
        {lately(lastTurnAt)}
      </time>
    ),
  },
]
